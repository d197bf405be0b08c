/** The console's form for the settings of a resource (platform/validation/resource.ts). */
import { z } from 'zod';
import { parse } from '../../platform/validation/parsing.ts';
import type { Setting, SettingList, ValuesOf } from '../../platform/validation/resource.ts';
import { type Field, typedValues } from './form.ts';

function fieldOf(name: string, { apiName, initial, label, hint, input, options = [], checkedAs }: Setting, now: unknown): Field {
  const common = { name, label, ...(hint !== undefined && { hint }), ...(apiName !== undefined && { alias: apiName }) };
  const value = (now ?? initial) as string | undefined;
  switch (input) {
    case 'check':
      return { ...common, kind: 'check', checked: checkedAs === undefined ? value === (true as unknown) : value === checkedAs[0] };
    case 'radios':
      return { ...common, kind: 'radios', value, options };
    case 'description':
      return { ...common, kind: 'description', value };
    default:
      return { ...common, ...(initial === undefined && { required: true }), value };
  }
}

/**
 * @param names of the form's settings, in this order
 * @param now current values; undefined: a new resource
 */
export const settingFields = <S extends SettingList>(
  settings: S,
  names: readonly (keyof S & string)[],
  now: Partial<ValuesOf<S>> | undefined,
): Field[] =>
  names.flatMap((name) => {
    const setting = settings[name];
    return setting === undefined ? [] : fieldOf(name, setting, now?.[name]);
  });

/**
 * Reads the form. Settings that are not in the form keep their values.
 * @throws {ApiError} validation
 */
export function formValues<S extends SettingList>(
  settings: S,
  names: readonly (keyof S & string)[],
  form: URLSearchParams,
  now: Partial<ValuesOf<S>> | undefined,
): ValuesOf<S> {
  const typed = typedValues(settingFields(settings, names, now), form);
  const given = Object.fromEntries(
    names.map((name) => {
      const [checked, unchecked] = settings[name]?.checkedAs ?? [];
      const value = typed[name];
      return [name, checked === undefined ? (typeof value === 'string' ? value.trim() : value) : value === true ? checked : unchecked];
    }),
  );
  const initial = Object.fromEntries(Object.entries(settings).map(([name, setting]) => [name, setting.initial]));
  const schema = z.object(Object.fromEntries(Object.entries(settings).map(([name, setting]) => [name, setting.schema])));
  return parse(schema, { ...initial, ...now, ...given }) as ValuesOf<S>;
}
