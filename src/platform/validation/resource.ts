/**
 * The settings of a resource, declared once: `<noun>.resource.ts` has each value's schema, column, and name in the API and the console. The
 * column map, the API's body and response, and the console's form are derived from it.
 */
import { z } from 'zod';
import type { Columns } from '../database/columns.ts';

interface Choice {
  readonly value: string;
  readonly label: string;
  readonly hint?: string;
}

export interface Setting<T extends z.ZodType = z.ZodType> {
  readonly schema: T;
  readonly column: string;
  /** The name in the API, if it differs. */
  readonly apiName?: string;
  /** The value if a body omits the setting. A setting without one is required. */
  readonly initial?: z.output<T>;
  /** In the console. */
  readonly label: string;
  readonly hint?: string;
  /** `own`: its page renders the fields. */
  readonly input: 'line' | 'description' | 'check' | 'radios' | 'own';
  readonly options?: readonly Choice[];
  /** A choice of two values that the console shows as a check box: the checked value first. */
  readonly checkedAs?: readonly [string, string];
}

export type SettingList = Readonly<Record<string, Setting>>;
export type ValuesOf<S extends SettingList> = { readonly [Name in keyof S]: z.output<S[Name]['schema']> };

const entriesOf = (settings: SettingList) =>
  Object.entries(settings).map(([name, setting]) => ({ ...setting, name, apiName: setting.apiName ?? name }));

/** @returns the columns, for `toRow` and for reading */
export const columnsOf = <S extends SettingList>(settings: S): Columns<ValuesOf<S>> =>
  Object.fromEntries(entriesOf(settings).map(({ name, column }) => [name, column])) as Columns<ValuesOf<S>>;

/** @returns the fields of an API body; null means an empty text */
export const bodyShape = (settings: SettingList): z.ZodRawShape =>
  Object.fromEntries(
    entriesOf(settings).map(({ apiName, schema, initial }) => [
      apiName,
      initial === undefined ? schema : initial === '' ? schema.nullish() : schema.exactOptional(),
    ]),
  );

/** @returns the settings in a validated body */
export const valuesIn = <S extends SettingList>(settings: S, body: Readonly<Record<string, unknown>>): ValuesOf<S> =>
  Object.fromEntries(entriesOf(settings).map(({ name, apiName, initial }) => [name, body[apiName] ?? initial])) as ValuesOf<S>;

/** @returns the fields of an API response; an empty description is omitted, because Okta's SDKs refuse it */
export const responseShape = (settings: SettingList): z.ZodRawShape =>
  Object.fromEntries(
    entriesOf(settings).map(({ apiName, input, schema }) => {
      const shown = schema instanceof z.ZodString ? z.string() : schema;
      return [apiName, input === 'description' ? shown.optional() : shown];
    }),
  );

/** @returns the settings in the API's form */
export const presentValues = (settings: SettingList, values: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    entriesOf(settings).map(({ name, apiName, input }) => [
      apiName,
      input === 'description' && values[name] === '' ? undefined : values[name],
    ]),
  );
