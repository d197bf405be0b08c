/** Difference of two JSON values, field by field and recursively for objects; lists are compared as one value. */

export interface ChangedField {
  /** Path of the field, e.g. `profile.email`; empty for a value without fields. */
  readonly field: string;
  /** undefined: it was, or is, not there. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

/** A value for people: text as it is, the rest as JSON. */
const written = (value: unknown): string | undefined =>
  value === undefined ? undefined : typeof value === 'string' ? value : JSON.stringify(value);

/** The fields that differ, in the order of the names in `before`, then those that came. Without one of the two, all fields of the other. */
export function changedFields(before: unknown, after: unknown, path = ''): ChangedField[] {
  if (isObject(before) || isObject(after)) {
    if ((before === undefined || isObject(before)) && (after === undefined || isObject(after))) {
      const [was, is]: readonly [Fields, Fields] = [before ?? {}, after ?? {}];
      const names = [...new Set([...Object.keys(was), ...Object.keys(is)])];
      return names.flatMap((name) => changedFields(was[name], is[name], path === '' ? name : `${path}.${name}`));
    }
  }
  const [was, is] = [written(before), written(after)];
  return was === is ? [] : [{ field: path, before: was, after: is }];
}
