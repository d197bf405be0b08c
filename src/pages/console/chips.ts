/** Filters of a list, shown as chips; each links to the list without it. */
import { type Text, verbatim } from '../../platform/i18n/phrase.ts';
import type { Field } from './form.ts';

interface Chip {
  readonly label: Text;
  readonly value: Text;
  /** Query of the address without the filter. */
  readonly query: string;
}

/** @param kept parameters of the URL that are not filters */
export function chipsOf(fields: readonly Field[], kept: URLSearchParams): readonly Chip[] {
  const filled = fields.flatMap((field) =>
    'value' in field && typeof field.value === 'string' && field.value !== '' ? [{ field, value: field.value }] : [],
  );
  return filled.map(({ field, value }) => {
    const others = filled.filter((other) => other.field !== field).map((other) => [other.field.name, other.value]);
    return {
      label: field.label,
      value: field.options?.find((option) => option.value === value)?.label ?? verbatim(value),
      query: String(new URLSearchParams([...kept, ...others] as [string, string][])),
    };
  });
}
