/** Layout of a form: rarely used fields are collapsed, dependent fields are placed below the choice they depend on. */

import type { Phrase, Text } from '../../platform/i18n/phrase.ts';

/** A choice of `radios`, or a `check` with the value `true`. Without a value: any choice of a list but the empty one. */
export interface Dependence {
  readonly field: string;
  readonly value?: string;
}

interface Placed {
  readonly name: string;
  readonly group?: Text;
  readonly advanced?: boolean;
  readonly when?: Dependence;
  readonly problem?: Phrase | undefined;
}

interface Group<T> {
  readonly legend: Text | undefined;
  readonly fields: T[];
}

function grouped<T extends Placed>(fields: readonly T[]): readonly Group<T>[] {
  const groups: Group<T>[] = [];
  for (const field of fields) {
    const last = groups.at(-1);
    if (last !== undefined && last.legend === field.group) last.fields.push(field);
    else groups.push({ legend: field.group, fields: [field] });
  }
  return groups;
}

/** Is something filled in? */
const isFilled = (field: object): boolean =>
  ('value' in field && typeof field.value === 'string' && field.value !== '') ||
  ('values' in field && Array.isArray(field.values) && field.values.length > 0) ||
  ('picked' in field && Array.isArray(field.picked) && field.picked.length > 0);

/**
 * @param drawn fields with values and problems
 * @returns visible and collapsed groups, the number of collapsed fields with a value, and dependent fields
 */
export function layOut<T extends Placed>(drawn: readonly T[]) {
  const upper = drawn.filter(({ when }) => when === undefined);
  const hidden = upper.filter(({ advanced = false }) => advanced);
  const below = (name: string, value?: string): readonly T[] =>
    drawn.filter(({ when }) => when !== undefined && when.field === name && when.value === value);
  return {
    groups: grouped(upper.filter(({ advanced = false }) => !advanced)),
    advanced: grouped(hidden),
    filled: hidden.filter(isFilled).length,
    isUnfolded: hidden.some(({ problem }) => problem !== undefined),
    below,
  };
}
