/** The forms of the console: all of them are drawn by one view, from what is said here about their fields. */
import type { z } from 'zod';
import { parse } from '../services/parsing.ts';
import type { Drawn, Problem, Typed } from './page.ts';

export interface Option {
  readonly value: string;
  readonly label: string;
}

export interface Field {
  readonly name: string;
  readonly label: string;
  /** What it holds at first; empty unless given. */
  readonly value?: string;
  readonly hint?: string;
  readonly required?: boolean;
  /** One of these is chosen; absent: a line of text. */
  readonly options?: readonly Option[];
  /** The field's name in the answers of the services, where it has another. */
  readonly alias?: string;
}

export interface Form extends Omit<Drawn, 'view' | 'locals'> {
  /** What is to be known before one decides. */
  readonly facts?: readonly string[];
  readonly fields?: readonly Field[];
  readonly hidden?: Readonly<Record<string, string>>;
  readonly submit: string;
  /** Takes something away that does not come back. */
  readonly danger?: boolean;
  /** Where one goes without sending it. */
  readonly cancel: string;
}

/** Draws a form, with what was typed before and what is wrong with it. */
export function formPage({ facts = [], fields = [], hidden = {}, submit, danger = false, cancel, ...page }: Form, typed: Typed): Drawn {
  const problems = typed.problems.map((problem) => ofField(problem, fields));
  const locals = {
    facts,
    fields: fields.map((field) => ({
      ...field,
      value: typed.values.get(field.name) ?? field.value ?? '',
      problem: sentence(problems.find(({ field: name }) => name === field.name)?.message ?? ''),
    })),
    hidden: Object.entries(hidden),
    submit,
    danger,
    cancel,
    problems: problems.map(({ field, message }) => ({
      field,
      message: field === undefined ? message : `${labelOf(field, fields)}: ${message}`,
    })),
  };
  return { ...page, view: 'form', locals };
}

/** What is wrong with a field that the form has not is told of the form. */
function ofField({ field, message }: Problem, fields: readonly Field[]): Problem {
  const found = fields.find(({ name, alias }) => field !== undefined && (name === field || alias === field));
  return found === undefined
    ? { message: sentence(field === undefined ? message : `${field} ${message}`) }
    : { field: found.name, message };
}

const labelOf = (name: string, fields: readonly Field[]): string => fields.find((field) => field.name === name)?.label ?? name;
const sentence = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);

/** Reads a posted form; a field that is not there counts as empty. @throws {ApiError} validation, one problem a field */
export const readFields = <S extends z.ZodRawShape>(schema: z.ZodObject<S>, form: URLSearchParams): z.output<z.ZodObject<S>> =>
  parse(schema, Object.fromEntries(Object.keys(schema.shape).map((name) => [name, form.get(name) ?? ''])));
