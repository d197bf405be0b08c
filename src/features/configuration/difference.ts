/**
 * Compares and merges configuration documents; pure functions. Fields that the file omits are unchanged, `null` clears a field, and a list is one
 * value; the order of names in a list is ignored.
 */
import { isDeepStrictEqual } from 'node:util';

export type Document = Readonly<Record<string, unknown>>;

export interface Difference {
  /** Path of the field, e.g. `settings.oauthClient.redirect_uris`. */
  readonly field: string;
  /** Current value; undefined: none. */
  readonly is: unknown;
  readonly wanted: unknown;
}

export const isDocument = (value: unknown): value is Document => typeof value === 'object' && value !== null && !Array.isArray(value);

const isNames = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every((one) => typeof one === 'string');

/** Are the two values of a field equivalent? An empty string counts as none. */
export function areSame(is: unknown, wanted: unknown): boolean {
  if (isNames(is) && isNames(wanted)) return isDeepStrictEqual(new Set(is), new Set(wanted));
  return isDeepStrictEqual(is === '' ? undefined : is, wanted === '' ? undefined : wanted);
}

/**
 * @param whole paths of fields that are compared as one value, and may contain null
 * @returns each field whose current value differs from the wanted one
 */
export function differences(is: unknown, wanted: Document, whole: readonly string[] = [], path: readonly string[] = []): Difference[] {
  const current: Document = isDocument(is) ? is : {};
  return Object.entries(wanted).flatMap(([name, value]) => {
    const here = [...path, name];
    if (isDocument(value) && !whole.includes(here.join('.'))) return differences(current[name], value, whole, here);
    const [before, after] = [current[name] ?? undefined, value ?? undefined];
    return areSame(before, after) ? [] : [{ field: here.join('.'), is: before, wanted: after }];
  });
}

/** @param whole as in `differences` @returns the current document with the wanted values; fields that are null in `wanted` are removed */
export function combined(is: unknown, wanted: Document, whole: readonly string[] = [], path: readonly string[] = []): Document {
  const result: Record<string, unknown> = isDocument(is) ? { ...is } : {};
  for (const [name, value] of Object.entries(wanted)) {
    if (value === null) delete result[name];
    else {
      const here = [...path, name];
      result[name] = isDocument(value) && !whole.includes(here.join('.')) ? combined(result[name], value, whole, here) : value;
    }
  }
  return result;
}
