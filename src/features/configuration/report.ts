/** Prints a plan: a sign, a name and the fields of each step, one line each, and a summary. External values cannot contain control characters. */
import type { PlanStep } from './plan.ts';

const SIGNS = { create: '+', change: '~', delete: '-', leave: '?' } as const;

const printable = (text: string): string => text.replace(/\p{Cc}/gu, '\u{fffd}');
const inWords = (value: unknown): string => (value === undefined ? 'nothing' : printable(JSON.stringify(value)));

export function reportLines({ verb, noun, name, fields }: PlanStep): string[] {
  const head = `${SIGNS[verb]} ${noun} ${printable(name)}${verb === 'leave' ? ' (is not in the file, and is left)' : ''}`;
  const details = fields.map(({ field, is, wanted }) =>
    verb === 'create' ? `    ${printable(field)}: ${inWords(wanted)}` : `    ${printable(field)}: ${inWords(is)} -> ${inWords(wanted)}`,
  );
  return [head, ...details];
}

const count = (steps: readonly PlanStep[], verb: PlanStep['verb']): number => steps.filter((step) => step.verb === verb).length;

/** Does the plan change anything? */
export const changes = (steps: readonly PlanStep[]): readonly PlanStep[] => steps.filter(({ verb }) => verb !== 'leave');

export function summaryOf(steps: readonly PlanStep[]): string {
  const left = count(steps, 'leave');
  const rest = left === 0 ? '' : ` ${left} not in the file.`;
  if (changes(steps).length === 0) return `Nothing to change.${rest}`;
  return `${count(steps, 'create')} to create, ${count(steps, 'change')} to change, ${count(steps, 'delete')} to delete.${rest}`;
}
