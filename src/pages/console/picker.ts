/**
 * Selects one object in a form that needs no script: from a list while it is short, otherwise by a name or a part of it. If several match, the form
 * is shown again with these.
 */

import { validation } from '../../platform/errors/errors.ts';
import { asPhrase, type Phrase, phrase, type Text, verbatim } from '../../platform/i18n/phrase.ts';
import { initialsOf } from './avatar.ts';
import type { ChoiceField, Field, Option, PickField } from './form.ts';
import type { Typed } from './page.ts';

// A field for several users, groups or applications: check boxes for those that are chosen, and a search that adds more. Without
// script, the search sends the form and shows it again with the results. With script, both kinds of fields are comboboxes (views/public/pick.js).

/** The button that searches instead of saving. */
export const LOOK_UP = 'look-up';
/** Maximum number of suggestions; search words narrow them. */
const MOST = 20;

interface PickManyField extends Omit<PickField, 'kind' | 'picked' | 'found' | 'q'> {
  readonly ids: readonly string[];
}

/** @param typed a submitted form with the selection and the search words */
export async function pickManyField(candidates: Candidates, { ids, ...field }: PickManyField, typed: Typed): Promise<Field> {
  const chosen = typed.values.size > 0 ? typed.values.getAll(field.name).filter((one) => one.trim() !== '') : ids;
  const optionOf = ({ id, label }: Pick<Candidate, 'id' | 'label'>) => ({
    value: id,
    label,
    ...(candidates.what === 'users' && { avatar: initialsOf(label.split(' – ')[0] ?? '') }),
  });
  const picked: Option[] = [];
  for (const id of new Set(chosen)) {
    const found = await candidates.byId(id);
    picked.push(optionOf(found ?? { id, label: id }));
  }
  const q = typed.values.get(LOOK_UP) === field.name ? (typed.values.get(`${field.name}-q`) ?? '').trim() : '';
  const found = q === '' ? [] : await candidates.find(q, MOST);
  return {
    ...field,
    kind: 'pick',
    picked,
    found: found.filter(({ id }) => !picked.some(({ value }) => value === id)).map(optionOf),
    q,
  };
}

/** Longer lists need a search. */
const SHORT = 200;
/** Maximum number of search results to choose from. */
const FOUND = 50;

export interface Candidate {
  readonly id: string;
  readonly label: string;
  /** Text shown instead of the name. */
  readonly shown?: Phrase;
}

export interface Candidates {
  /** Kind, as in console addresses, e.g. `users`; absent: not part of the global search. */
  readonly what?: string;
  /** Kind that suggests objects if they are too many for a list, and `what` is absent. */
  readonly suggested?: string;
  /** Objects that match the words, up to a maximum; without words: any. */
  find(words: string, most: number): Promise<readonly Candidate[]>;
  byId(id: string): Promise<Candidate | undefined>;
}

export interface PickerField extends Omit<ChoiceField, 'options' | 'kind' | 'required'> {
  /** Label of the empty choice; absent: a choice is required. */
  readonly none?: Text;
}

/** The rendered field: a list, or a text field for search words. */
export async function pickField(candidates: Candidates, { none, value = '', hint, ...field }: PickerField, typed: Typed): Promise<Field> {
  // A browser does not send a form whose hidden fields miss a value.
  const required = none === undefined && field.when === undefined;
  const chosen = value === '' ? undefined : await candidates.byId(value);
  /** The value stays among the options, even if it is out of reach or of another system. */
  const withValue = (found: readonly Candidate[]): readonly Candidate[] =>
    value === '' || found.some(({ id }) => id === value) ? found : [...found, { id: value, label: chosen?.label ?? value }];
  const listed = (found: readonly Candidate[]): Field => ({
    ...field,
    required,
    ...(hint !== undefined && { hint }),
    value,
    suggest: candidates.what ?? '',
    options: [
      { value: '', label: none ?? 'Choose one' },
      ...withValue(found).map(({ id, label, shown }) => ({ value: id, label: shown ?? verbatim(label) })),
    ],
  });
  const few = await candidates.find('', SHORT + 1);
  if (few.length <= SHORT) return listed(few);
  const words = (typed.values.get(field.name) ?? '').trim();
  if (words !== '' && idIn(words) === undefined) {
    const found = await candidates.find(words, FOUND + 1);
    if (found.length > 1 && found.length <= FOUND) return listed(found);
  }
  const suggest = candidates.what ?? candidates.suggested;
  const type = phrase('Type the beginning of its name. If several match, you choose one.');
  const how = none === undefined ? type : phrase('{how} Empty: {none}.', { how: type, none: asPhrase(none) });
  return {
    ...field,
    required,
    ...(suggest !== undefined && { suggest }),
    hint: hint === undefined ? how : phrase('{hint} {how}', { hint: asPhrase(hint), how }),
    value: chosen === undefined ? value : `${chosen.label.trim()} (${chosen.id})`,
  };
}

/** @returns ID of the selected or named object; undefined: none @throws {ApiError} validation of the field: no match, or several */
export async function pickedId(candidates: Candidates, name: string, typed: string): Promise<string | undefined> {
  const words = typed.trim();
  if (words === '') return undefined;
  const named = await candidates.byId(chosenId(words) ?? words);
  if (named !== undefined) return named.id;
  const found = await candidates.find(words, FOUND + 1);
  const whole = found.filter(({ label }) => label.toLowerCase() === words.toLowerCase());
  const [first, ...others] = whole.length === 1 ? whole : found;
  if (first === undefined) throw validation([{ field: name, message: 'does not exist here' }]);
  if (others.length === 0) return first.id;
  const problem = found.length > FOUND ? 'matches too many. Enter more of the name' : 'matches several. Select one';
  throw validation([{ field: name, message: problem }]);
}

/** The ID in `Sales (dep_…)`, the text of a selection, or a plain ID. */
const idIn = (words: string): string | undefined => /(?:^|\()([a-z]{3}_[0-9A-Za-z]+)\)?$/.exec(words)?.[1];

/** The ID that follows a name in parentheses, as the picker writes it. It can be a part of the name. */
export const chosenId = (words: string): string | undefined => / \(([^\s()]+)\)$/.exec(words)?.[1] ?? idIn(words);
