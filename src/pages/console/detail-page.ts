/** The pages of the console that show objects: lists, facts and texts to copy, below each other. One view renders all of them. */
import type { IconName } from '../../platform/http/icons.ts';
import { Phrase, type Text } from '../../platform/i18n/phrase.ts';
import type { Moment } from '../../platform/i18n/times.ts';
import { drawnActions } from './actions.ts';
import { initialsOf } from './avatar.ts';
import { chipsOf } from './chips.ts';
import { type Choosing, drawnChoosing } from './choosing.ts';
import { drawnFields, type Field, pickScripts } from './form.ts';
import { type Action, type Drawn, type FieldMessage, NOTHING_TYPED, type Status, type Typed } from './page.ts';

/** Colour of a status. */
export type Tone = Status['tone'];

/** A part of a cell or fact. Strings are data, except in badges and secondary text, where they are page texts. */
export interface Piece {
  readonly text?: Text | number;
  readonly moment?: Moment | null;
  readonly href?: string | undefined;
  /** Shown as a badge. */
  readonly tone?: Tone;
  /** Machine-readable text. */
  readonly code?: boolean;
  /** In a soft colour: a missing value, or a secondary one. */
  readonly soft?: boolean;
  /** A link with this icon. Its text is for screen readers, and appears on hover. */
  readonly icon?: IconName;
}

/** A string is data and a phrase is a text. An empty string is shown as “–”. */
export type Content = string | number | Phrase | Piece | readonly Piece[];

export interface Fact {
  readonly label: Text;
  readonly value: Content;
  /** A button that copies the value, if the browser supports it; the value must be a text. */
  readonly copy?: boolean;
}

export interface TableRow {
  /** One cell per column; the first names the row. */
  readonly cells: readonly Content[];
  /** Value of the row's check box; absent: the row cannot be selected. */
  readonly value?: string;
  readonly chosen?: boolean;
  /** Name for the initials before it. */
  readonly avatar?: string;
  /** Actions of the row. Screen readers get `label` followed by the row's name. */
  readonly actions?: readonly Action[];
  /** Actions that run immediately, without a confirmation page, because they can be undone. */
  readonly buttons?: readonly Button[];
}

/** A form of one button. */
export interface Button {
  readonly label: Text;
  readonly icon: IconName;
  /** Address that receives the form. */
  readonly action: string;
  readonly name: string;
  readonly value: string;
}

/** Filter form of a list; sent by GET to the page itself. */
export interface Search {
  /** Label of the field `q`; absent: no text search. */
  readonly label?: Text;
  readonly q?: string;
  readonly hint?: Text;
  /** Searches that one click carries out. */
  readonly presets?: readonly Action[];
  /** Further fields: a selection or a text field each. */
  readonly fields?: readonly Field[];
  /** Rarely needed fields: collapsed until one has a value. */
  readonly advanced?: readonly Field[];
  /** Is it narrowed now? Then a link shows all again. */
  readonly isNarrowed: boolean;
  /** Parameters of the URL that are kept. */
  readonly kept?: URLSearchParams;
  /** Why the search failed; `q` is a field, too. */
  readonly problems?: readonly FieldMessage[];
}

export interface Pager {
  readonly first?: string | undefined;
  readonly previous?: string | undefined;
  readonly next?: string | undefined;
  readonly words?: Text | undefined;
  /** Choices for the number of rows per page. */
  readonly sizes?: readonly { readonly label: string; readonly href: string; readonly current: boolean }[];
}

/** The header of a column; with a link if the list can be sorted by it. */
export type Column = Text | { readonly label: Text; readonly href: string; readonly sorted?: 'ascending' | 'descending' | undefined };

interface PartHead {
  readonly title?: Text;
  readonly lead?: Text;
  readonly actions?: readonly Action[];
  /** Actions that run immediately. */
  readonly buttons?: readonly Button[];
}

export interface FactsPart extends PartHead {
  readonly kind: 'facts';
  readonly facts: readonly Fact[];
}

export interface TablePart extends PartHead {
  readonly kind: 'table';
  /** Name of the list for screen readers. */
  readonly name: Text;
  /** In small type, with each row on one line if possible. */
  readonly isDense?: boolean;
  readonly columns: readonly Column[];
  readonly rows: readonly TableRow[];
  /** Total number of rows, as text. */
  readonly count?: Text | undefined;
  readonly choosing?: Choosing | undefined;
  /** Shown without rows: what that means, and what to do next. */
  readonly empty: Text;
  readonly emptyAction?: Action | undefined;
  readonly search?: Search | undefined;
  readonly pager?: Pager;
  /** Links to the list as files, in the menu of the page. */
  readonly files?: readonly Action[];
}

/** A text to copy as a whole, e.g. a snippet or a JSON object. */
export interface TextPart extends PartHead {
  readonly kind: 'text';
  /** Unique on the page; valid as an HTML id. */
  readonly id: string;
  /** Name for screen readers and the button. */
  readonly name: Text;
  readonly text: string;
}

export interface WordsPart extends PartHead {
  readonly kind: 'words';
  readonly paragraphs: readonly Text[];
  readonly tone?: Tone;
}

/** A form whose result is shown below on the same page: sent by GET, so that its address can be shared. */
export interface QueryPart extends PartHead {
  readonly kind: 'query';
  /** Lines, and choices out of a list. */
  readonly fields: readonly Field[];
  readonly typed: Typed;
  readonly submit: Text;
}

/** A short form. The page that receives it also shows its errors. */
interface FormPart extends PartHead {
  readonly kind: 'form';
  readonly action: string;
  /** Lines, and choices out of a list. */
  readonly fields: readonly Field[];
  readonly submit: Text;
}

/** Progress of a background job; the page reloads while it runs. */
interface ProgressPart extends PartHead {
  readonly kind: 'progress';
  readonly label: Text;
  readonly done: number;
  readonly total: number;
  readonly words: Text;
  readonly isRunning: boolean;
}

/** A picture from elsewhere; the page's `images` must name its origin. */
interface PicturePart extends PartHead {
  readonly kind: 'picture';
  readonly src: string;
  readonly alt: Text;
}

export type Part = QueryPart | FormPart | FactsPart | TablePart | TextPart | WordsPart | ProgressPart | PicturePart;

export interface DetailPage extends Omit<Drawn, 'view' | 'locals'> {
  readonly parts: readonly Part[];
}

const NONE: Piece = { text: '–', soft: true };

function piecesOf(content: Content): readonly Piece[] {
  const isText = typeof content !== 'object' || content instanceof Phrase;
  const pieces = isText ? [{ text: content }] : 'length' in content ? content : [content];
  const isEmpty = (text: Piece['text']): boolean => text === undefined || text === '' || (text instanceof Phrase && text.template === '');
  const shown = pieces.filter(({ text, moment }) => !isEmpty(text) || (moment !== undefined && moment !== null));
  return shown.length === 0 ? [NONE] : shown;
}

const drawnPart = (part: Part) => ({ ...drawnBody(part), ...(part.actions !== undefined && { actions: drawnActions(part.actions) }) });

function drawnBody(part: Part) {
  if (part.kind === 'facts') {
    return {
      ...part,
      facts: part.facts.map(({ label, value, copy = false }, index) => ({
        label,
        pieces: piecesOf(value),
        copy,
        index,
      })),
    };
  }
  if (part.kind === 'query') {
    const { drawn, problems } = drawnFields(part.fields, part.typed);
    return { ...part, fields: drawn, problems };
  }
  if (part.kind === 'form') return { ...part, fields: drawnFields(part.fields, NOTHING_TYPED).drawn };
  if (part.kind !== 'table') return part;
  const columns = part.columns.map((column) => (typeof column === 'string' || column instanceof Phrase ? { label: column } : column));
  const selected = part.choosing?.typed.values.getAll(part.choosing.name) ?? [];
  const rows = part.rows.map(({ cells, value, chosen = false, avatar, actions = [], buttons = [] }) => ({
    cells: cells.map(piecesOf),
    value,
    chosen: chosen || selected.includes(value ?? ''),
    name: piecesOf(cells[0] ?? ''),
    avatar: avatar && initialsOf(avatar),
    actions: drawnActions(actions),
    buttons,
  }));
  const search = part.search && drawnSearch(part.search);
  const isBeyond = rows.length === 0 && part.pager?.previous !== undefined;
  const choosing = part.choosing && rows.some(({ value }) => value !== undefined) ? drawnChoosing(part.choosing) : undefined;
  return {
    ...part,
    columns,
    rows,
    search,
    choosing,
    choosesAll: choosesAll(part),
    ...(isBeyond
      ? { empty: 'There is nothing on this page.', emptyAction: undefined }
      : { emptyAction: part.emptyAction && drawnActions([part.emptyAction])[0] }),
    withActions: rows.some(({ actions, buttons }) => actions.length + buttons.length > 0),
  };
}

/** Are there several rows to select? */
export const choosesAll = (part: Part): boolean =>
  part.kind === 'table' && part.choosing !== undefined && part.rows.filter(({ value }) => value !== undefined).length > 1;

function drawnSearch({ label, q, hint, presets = [], fields = [], advanced = [], isNarrowed, kept, problems: wrong = [] }: Search) {
  const words: readonly Field[] = label === undefined ? [] : [{ name: 'q', label, value: q, ...(hint !== undefined && { hint }) }];
  const { drawn, problems } = drawnFields([...words, ...fields, ...advanced], { values: new URLSearchParams(), problems: wrong });
  const named = (those: readonly Field[]) => drawn.filter(({ name }) => those.some((field) => field.name === name));
  const isUnfolded = named(advanced).some((field) => ('value' in field && field.value !== '') || (field.problem ?? '') !== '');
  const [foundBy] = named(words);
  return {
    ...{ words: foundBy, presets, fields: named(fields), advanced: named(advanced), isUnfolded },
    ...{ isNarrowed, kept: kept ?? new URLSearchParams(), problems },
    chips: chipsOf([...words, ...fields, ...advanced], kept ?? new URLSearchParams()),
  };
}

/** Fields of the part, and of its search and its selected rows. */
function fieldsOf(part: Part): readonly Field[] {
  if (part.kind === 'query' || part.kind === 'form') return part.fields;
  if (part.kind !== 'table') return [];
  return [...(part.search?.fields ?? []), ...(part.search?.advanced ?? []), ...(part.choosing?.fields ?? [])];
}

/** Renders a page from its parts. */
export function detailPage({ parts, scripts = [], more = [], ...page }: DetailPage): Drawn {
  const files = parts.flatMap((part) => (part.kind === 'table' ? (part.files ?? []) : []));
  const copies = parts.some((part) => part.kind === 'text' || (part.kind === 'facts' && part.facts.some(({ copy }) => copy)));
  const runs = parts.some((part) => part.kind === 'progress' && part.isRunning);
  const several = parts.some(choosesAll);
  const picks = parts.flatMap((part) => pickScripts(fieldsOf(part)));
  const needed = [
    ...scripts,
    ...picks,
    ...(copies ? ['copy.js'] : []),
    ...(runs ? ['progress.js'] : []),
    ...(several ? ['choose-all.js'] : []),
  ];
  return {
    ...page,
    more: [...files, ...more],
    scripts: [...new Set(needed)],
    view: 'sheet',
    locals: { parts: parts.map(drawnPart) },
  };
}

/** A page with one list. */
export const listPage = ({ list, ...page }: Omit<DetailPage, 'parts'> & { readonly list: Omit<TablePart, 'kind'> }): Drawn =>
  detailPage({ ...page, parts: [{ ...list, kind: 'table' }] });
