/** Maps fields of a resource to columns, for reading (knex aliases) and writing. */

export type Columns<T> = { readonly [K in keyof T]-?: string };

/** @returns the row to write, without undefined values */
export function toRow<T extends object>(columns: Columns<T>, value: Partial<T>): Record<string, unknown> {
  const entries = Object.entries(value).map(([field, content]) => [columns[field as keyof T], content]);
  return Object.fromEntries(entries.filter(([, content]) => content !== undefined));
}

/** Columns named like the fields, in snake case: `lastUsed` is `last_used`. */
export const columns = <K extends string>(...fields: readonly K[]) =>
  Object.fromEntries(fields.map((field) => [field, field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)])) as Readonly<
    Record<K, string>
  >;
