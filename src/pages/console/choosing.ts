/** Check boxes beside the rows of a list, and the action for the selected ones. */
import type { Text } from '../../platform/i18n/phrase.ts';
import { drawnFields, type Field } from './form.ts';
import type { Typed } from './page.ts';

/** Rows are selected with check boxes and submitted with one button. */
export interface Choosing {
  /** Address that receives the selection. */
  readonly action: string;
  /** The field with the value of each selected row. */
  readonly name: string;
  readonly submit: Text;
  /** Fields beside the button, with their submitted values. */
  readonly fields: readonly Field[];
  readonly typed: Typed;
}

/** The check boxes of rows have no label, so their problem is shown without a field. */
export function drawnChoosing({ fields, typed, ...choosing }: Choosing) {
  const problems = typed.problems.map((problem) => (problem.field === choosing.name ? { message: problem.message } : problem));
  const drawn = drawnFields(fields, { values: typed.values, problems });
  return { ...choosing, fields: drawn.drawn, problems: drawn.problems };
}
