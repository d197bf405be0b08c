/** What a file has beside what an import takes: counted by kind and reported, so that nobody finds it out afterwards. docs/reference/import.md lists the kinds. */
import type { ImportItem } from '../import-record.service.ts';

/** A kind of thing that is not imported. */
export interface LeftBehind {
  /** Where a document has them; `*` stands for each element. */
  readonly at: readonly string[];
  readonly what: string;
  /** What to do in its place. */
  readonly instead: string;
  /** Absent: all of them. */
  isCounted?(value: Readonly<Record<string, unknown>>): boolean;
}

/** @returns each kind of which the document has some, with their number */
export function* leftBehind(document: unknown, kinds: readonly LeftBehind[]): Generator<ImportItem> {
  for (const { at, what, instead, isCounted = () => true } of kinds) {
    const found = valuesAt(document, at).filter((value) => !isEmpty(value) && isCounted(value as Readonly<Record<string, unknown>>));
    if (found.length > 0) yield { kind: 'left', what, instead, count: found.length };
  }
}

function valuesAt(value: unknown, [step, ...rest]: readonly string[]): unknown[] {
  if (step === undefined) return [value];
  if (step === '*') return Array.isArray(value) ? value.flatMap((one) => valuesAt(one, rest)) : [];
  return typeof value === 'object' && value !== null ? valuesAt((value as Readonly<Record<string, unknown>>)[step], rest) : [];
}

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  value === false ||
  (typeof value === 'object' && Object.keys(value).length === 0);
