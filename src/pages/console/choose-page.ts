/** Choosing several of many in a page that needs no script: search, check boxes, one button. */

import type { NumberedPage, NumberedWindow } from '../../platform/database/paging.ts';
import { validation } from '../../platform/errors/errors.ts';
import type { Text } from '../../platform/i18n/phrase.ts';
import type { Choosing } from './choosing.ts';
import { type Content, listPage } from './detail-page.ts';
import type { Field } from './form.ts';
import { countOf, listState, numberedPager, type SortedBy, sortableColumns } from './list-state.ts';
import type { Undo } from './notices.ts';
import type { ConsoleRequest, Crumb, Drawn, Typed } from './page.ts';

/** The field of the check boxes. */
export const CHOSEN = 'chosen';

/** Rows of a page: more than a list has, so that a search and one press of the button are often enough. */
const ROWS = 50;

/** Nouns, and texts for empty results. */
const NOUNS = {
  user: 'No users match. Try fewer or shorter words, or show all.',
  group: 'No groups match. Try fewer or shorter words, or show all.',
} as const;

interface Choice {
  readonly id: string;
  /** Name for the initials before it. */
  readonly avatar?: string;
  /** The first cell is the row's name. */
  readonly cells: readonly [name: string, ...Content[]];
  /** It cannot be selected, because it is already included. */
  readonly isTaken: boolean;
}

export interface ChoosePage<Order extends string> {
  readonly title: Text;
  readonly lead?: Text;
  readonly crumbs: readonly Crumb[];
  /** The page's own address. */
  readonly path: string;
  readonly noun: keyof typeof NOUNS;
  readonly columns: readonly (string | SortedBy<Order>)[];
  readonly sortedBy: Order;
  readonly submit: Text;
  readonly hint: Text;
  /** Fields beside the button that apply to all selected rows. */
  readonly fields?: readonly Field[];
  /** @param words undefined: all */
  find(words: string | undefined, window: NumberedWindow): Promise<NumberedPage<Choice>>;
}

/** Draws the page. The search stays in the address, so a refused form comes back with the same rows. */
export async function choosePage<Order extends string>(
  { query }: ConsoleRequest,
  { title, lead, crumbs, path, noun, columns, sortedBy, submit, hint, fields = [], find }: ChoosePage<Order>,
  typed: Typed,
): Promise<Drawn> {
  const q = (query.get('q') ?? '').trim();
  const state = listState(query, columns, { by: sortedBy, descending: false }, ROWS);
  const { items, total } = await find(q === '' ? undefined : q, state);
  const kept = new URLSearchParams([...query].filter(([name]) => !['q', 'page'].includes(name)));
  const unselected = typed.problems.filter(({ field }) => field === CHOSEN).map(({ message }) => ({ message }));
  const chosen = new Set(typed.values.getAll(CHOSEN));
  const choosing: Choosing = { action: query.size === 0 ? path : `${path}?${query}`, name: CHOSEN, submit, fields, typed };
  return listPage({
    title,
    ...(lead !== undefined && { lead }),
    crumbs,
    list: {
      name: title,
      columns: sortableColumns(path, query, columns, state),
      count: countOf(total, noun),
      rows: items.map(({ id, avatar, cells: [name = '', ...cells], isTaken }) => ({
        ...(avatar !== undefined && { avatar }),
        cells: [isTaken ? [{ text: name }, { text: 'Already added', tone: 'plain' as const }] : name, ...cells],
        ...(!isTaken && { value: id, chosen: chosen.has(id) }),
      })),
      choosing,
      empty: NOUNS[noun],
      search: { label: 'Search', q, hint, isNarrowed: q !== '', kept, problems: unselected },
      pager: numberedPager(path, query, state, total),
    },
  });
}

/** Undo for one added item; no page removes several at once. @param removal URL of the page that removes it */
export function undoOfAdding(added: readonly string[], removal: (id: string) => string): Undo | undefined {
  const [id] = added;
  return id === undefined || added.length > 1 ? undefined : { href: removal(encodeURIComponent(id)) };
}

/** @returns the IDs that were selected @throws {ApiError} validation: none was selected */
export function chosenIn(form: URLSearchParams): readonly string[] {
  const ids = [...new Set(form.getAll(CHOSEN))];
  if (ids.length === 0) throw validation([{ field: CHOSEN, message: 'Select at least one row.' }]);
  return ids;
}
