/** Forms of the console: one view renders all of them, and they are parsed, from these field definitions. */

import type { z } from 'zod';
import { asPhrase, type Phrase, phrase, refusalText, type Text, verbatim } from '../../platform/i18n/phrase.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { durationIn, shownDuration, UNIT_NAMES, type Unit, unitField } from './durations.ts';
import { type Dependence, layOut } from './form-layout.ts';
import type { Drawn, FieldMessage, Typed } from './page.ts';

export interface Option {
  /** Initials before the label of a user. */
  readonly avatar?: string;
  readonly value: string;
  readonly label: Text;
  readonly hint?: Text;
}

interface Common {
  readonly name: string;
  readonly label: Text;
  readonly hint?: Text;
  readonly required?: boolean;
  /** Names of the field in service errors, if different. */
  readonly alias?: string | readonly string[];
  /** Consecutive fields of the same group appear under its name. */
  readonly group?: Text;
  /** Rarely needed: collapsed under “Advanced”. */
  readonly advanced?: boolean;
  /** Applies only to this choice: shown below it if it is selected. */
  readonly when?: Dependence;
}

/**
 * A line of text; `secret`: never shown again, `number`: an integer, `date-time`: in UTC, `colour`: `#rrggbb`, typed or picked, `file`: the file's
 * text, `tel`: a phone number.
 */
export interface LineField extends Common {
  readonly kind?: 'line' | 'file' | 'secret' | 'number' | 'date-time' | 'colour' | 'email' | 'tel' | 'url';
  /** Initial value; default: empty. */
  readonly value?: string | undefined;
  /** Kinds of objects that the field names, as in console addresses, with spaces between, e.g. `users` (views/public/pick.js). */
  readonly suggest?: string;
  /** WHATWG HTML section 4.10.18.7; `off` unless given. */
  readonly autocomplete?: string;
  readonly options?: never;
}

/** `long`: a text with several lines. `description`: a long text in one line, shown wrapped. `lines`: a list with one entry per line. */
interface LongField extends Common {
  readonly kind: 'long' | 'description' | 'lines';
  readonly value?: string | undefined;
  readonly rows?: number;
  readonly options?: never;
}

/** One of several options: a selection list, or (`radios`) all options visible with their hints. */
export interface ChoiceField extends Common {
  readonly kind?: 'radios';
  readonly value?: string | undefined;
  /** A list of objects that can be searched with script: like the one of a line; empty: only among the options. */
  readonly suggest?: string;
  readonly options: readonly Option[];
}

/** Any of these, or none. */
interface ChecksField extends Common {
  readonly kind: 'checks';
  readonly values?: readonly string[] | undefined;
  readonly options: readonly Option[];
  /** All but the first option are collapsed until one of them is selected. */
  readonly isFolded?: boolean;
}

/** One box, yes or no. */
export interface CheckField extends Common {
  readonly kind: 'check';
  readonly checked?: boolean | undefined;
  readonly options?: never;
}

/** A whole number of `unit`s, shown and entered in this or a larger unit. */
export interface DurationField extends Common {
  readonly kind: 'duration';
  readonly unit: Unit;
  readonly value?: string | undefined;
  readonly options?: never;
}

/** Objects chosen from very many, by their IDs (picker.ts). */
export interface PickField extends Common {
  readonly kind: 'pick';
  /** Kind of the objects, as in console addresses, e.g. `users`. */
  readonly what: string;
  /** The objects are chosen by their names instead of their IDs. */
  readonly byName?: boolean;
  /** ID of the object that they are part of. */
  readonly within?: string;
  readonly picked: readonly Option[];
  /** Search results that are not selected yet. */
  readonly found: readonly Option[];
  readonly q: string;
  readonly options?: never;
}

export type Field = LineField | LongField | ChoiceField | ChecksField | CheckField | DurationField | PickField;

export interface Form extends Omit<Drawn, 'view' | 'locals'> {
  /** Facts that help the user to decide. */
  readonly facts?: readonly Text[];
  readonly fields?: readonly Field[];
  readonly hidden?: Readonly<Record<string, string>>;
  /** Values to enter elsewhere, each with a copy button. */
  readonly copies?: readonly { readonly label: Text; readonly text: string }[];
  readonly submit: Text;
  /** A second button, which submits the form with this `step`; nothing is changed yet. */
  readonly also?: { readonly label: Text; readonly step: string };
  /** Does it delete something irrecoverably? */
  readonly danger?: boolean;
  /** Target of the cancel link. */
  readonly cancel: string;
}

/** Renders a form with its submitted values and errors. */
export function formPage(
  { facts = [], fields = [], hidden = {}, copies = [], also, submit, danger = false, cancel, ...page }: Form,
  typed: Typed,
): Drawn {
  const { drawn, problems } = drawnFields(fields, typed);
  const locals = {
    facts,
    ...layOut(drawn),
    hidden: Object.entries(hidden),
    copies,
    also,
    submit,
    danger,
    cancel,
    problems,
    hasPick: fields.some(({ kind }) => kind === 'pick'),
    hasFile: fields.some(({ kind }) => kind === 'file'),
    hasEmail: fields.some(({ kind }) => kind === 'email'),
  };
  const scripts = [...(copies.length > 0 ? ['copy.js'] : []), ...pickScripts(fields)];
  return { ...page, view: 'form', scripts, locals };
}

/** The script of the picker, if a field uses it. */
export const pickScripts = (fields: readonly Field[]): readonly string[] =>
  fields.some((field) => field.kind === 'pick' || 'suggest' in field) ? ['pick.js'] : [];

/** A problem ready for display. */
interface Problem {
  readonly field?: string;
  readonly message: Phrase;
}

/** Fields for a view, each with its submitted value and error; and all errors, for the summary. */
export function drawnFields(fields: readonly Field[], typed: Typed) {
  const problems = typed.problems.map((problem) => ofField(problem, fields));
  const drawn = fields.map((field) => ({
    ...drawnField(field, typed.values),
    problem: joined(problems.filter(({ field: name }) => name === field.name).map(({ message }) => message)),
  }));
  return {
    drawn,
    problems: problems.map(({ field, message }) => ({
      field,
      message: field === undefined ? message : phrase('{field}: {problem}', { field: labelOf(field, fields), problem: message }),
    })),
  };
}

/** The kinds whose content a page never shows again. */
const isShown = ({ kind }: Field): boolean => kind !== 'secret' && kind !== 'file';

/** A field with the submitted value, or else its initial value; a submitted form can be empty. */
function drawnField(field: Field, values: URLSearchParams) {
  const cameBack = values.size > 0;
  const kind = field.kind ?? (field.options === undefined ? 'line' : 'choice');
  if (field.kind === 'checks') return { ...field, kind, values: cameBack ? values.getAll(field.name) : (field.values ?? []) };
  if (field.kind === 'check') return { ...field, kind, checked: cameBack ? values.has(field.name) : (field.checked ?? false) };
  if (field.kind === 'pick') return { ...field, kind };
  if (field.kind === 'duration') {
    const value = values.get(field.name) ?? field.value ?? '';
    return { ...field, kind, value, ...shownDuration(value, field.unit, values.get(unitField(field.name))) };
  }
  return { ...field, kind, value: isShown(field) ? (values.get(field.name) ?? field.value ?? '') : '' };
}

export const namesOfField = ({ name, alias = [] }: Pick<Field, 'name' | 'alias'>): readonly string[] => [
  name,
  ...(typeof alias === 'string' ? [alias] : alias),
];

/** Problems with unknown fields are shown for the whole form; `redirect_uris.1` and `redirect_uris[1]` belong to `redirect_uris`. */
function ofField({ field, message: given }: FieldMessage, fields: readonly Field[]): Problem {
  const message = typeof given === 'string' ? refusalText(given) : given;
  const found =
    field === undefined
      ? undefined
      : (fields.find((one) => namesOfField(one).includes(field)) ??
        fields.find((one) => namesOfField(one).some((name) => field.startsWith(`${name}.`) || field.startsWith(`${name}[`))));
  if (found === undefined) return { message: field === undefined ? message : phrase('{field} {problem}', { field, problem: message }) };
  // The schema uses the field's own unit, whatever unit was selected.
  if (found.kind === 'duration' && /\d$/.test(message.template))
    return { field: found.name, message: phrase('{problem} {unit}', { problem: message, unit: phrase(UNIT_NAMES[found.unit]) }) };
  const entry = found.kind === 'lines' ? /[.[](\d+)\]?$/.exec(field ?? '')?.[1] : undefined;
  return {
    field: found.name,
    message: entry === undefined ? message : phrase('{problem} (entry {entry})', { problem: message, entry: Number(entry) + 1 }),
  };
}

function labelOf(name: string, fields: readonly Field[]): Phrase {
  const label = fields.find((field) => field.name === name)?.label;
  return label === undefined ? verbatim(name) : asPhrase(label);
}

/** @returns undefined without problems */
const joined = ([first, ...others]: readonly Phrase[]): Phrase | undefined =>
  others.reduce<Phrase | undefined>((before, next) => before && phrase('{problem}; {next}', { problem: before, next }), first);

/** Reads a posted form; missing fields count as empty. @throws {ApiError} validation, one problem per field */
export const readFields = <S extends z.ZodRawShape>(schema: z.ZodObject<S>, form: URLSearchParams): z.output<z.ZodObject<S>> =>
  parse(schema, Object.fromEntries(Object.keys(schema.shape).map((name) => [name, form.get(name) ?? ''])));

/**
 * Submitted values by field name, for validation by a schema: strings; numbers (invalid ones as submitted); undefined for empty numbers and times;
 * lists of strings for lines and check boxes; a boolean for a single check box.
 */
export function typedValues(fields: readonly Field[], form: URLSearchParams): Readonly<Record<string, unknown>> {
  return Object.fromEntries(fields.map((field) => [field.name, typedValue(field, form)]));
}

/** @returns undefined: empty; the text: not an integer */
const numberIn = (text: string): number | string | undefined =>
  text.trim() === '' ? undefined : /^-?\d{1,15}$/.test(text.trim()) ? Number(text.trim()) : text;

function typedValue(field: Field, form: URLSearchParams): unknown {
  const { kind, name } = field;
  const text = form.get(name) ?? '';
  switch (kind) {
    case 'checks':
      return form.getAll(name);
    case 'check':
      return form.has(name);
    case 'lines':
      return text
        .split(/\r\n|\r|\n/)
        .map((line) => line.trim())
        .filter((line) => line !== '');
    case 'colour': {
      // A colour picker always has a value: it counts only if it differs from the rendered one.
      const picked = form.get(`${name}.picker`);
      return picked !== null && picked !== form.get(`${name}.given`) ? picked : text.trim();
    }
    case 'description':
      return text.replace(/\s+/g, ' ').trim();
    case 'pick':
      return form
        .getAll(name)
        .map((one) => one.trim())
        .filter((one) => one !== '');
    case 'number':
      return numberIn(text);
    case 'duration': {
      const amount = numberIn(text);
      return typeof amount === 'number' ? durationIn(amount, field.unit, form.get(unitField(name))) : amount;
    }
    case 'date-time':
      return text.trim() === '' ? undefined : /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/.test(text.trim()) ? new Date(`${text.trim()}Z`) : text;
    default:
      return text;
  }
}
