/** Counts data that an import omits, by kind, for its report. docs/reference/import.md lists the kinds. */
import type { ImportItem } from '../import-record.service.ts';

/** A kind of object that is not imported. */
export interface LeftBehind {
  /** Path in the document; `*` stands for each element. */
  readonly at: readonly string[];
  readonly what: string;
  /** Alternative for the operator. */
  readonly instead: string;
  /** Absent: all elements are counted. */
  isCounted?(value: Readonly<Record<string, unknown>>): boolean;
}

/** @returns the kinds found in the document, with counts */
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
