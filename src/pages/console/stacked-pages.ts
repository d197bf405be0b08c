/** A tab that shows several pages below each other. Each of these also has a path for its further pages and forms. */
import type { Text } from '../../platform/i18n/phrase.ts';
import { drawnActions } from './actions.ts';
import { choosesAll, type TablePart } from './detail-page.ts';
import type { Action, ConsolePage, ConsoleRequest, Drawn, Typed } from './page.ts';

export interface StackedPage {
  readonly label: Text;
  readonly page: ConsolePage;
}

/** The parts of a page under a heading, with the page's actions. The search of the list, and the selection of rows, are on the page itself. */
function partsUnder(title: Text, home: string, { locals, actions = [] }: Drawn): readonly unknown[] {
  const [{ search, choosing, choosesAll, ...first } = {}, ...rest] = (locals?.parts ?? []) as readonly Readonly<Record<string, unknown>>[];
  const shown = [...actions.map((action) => ({ ...action, main: false })), ...elsewhere(home, search, choosesAll === true)];
  return [{ ...first, title, actions: drawnActions(shown) }, ...rest];
}

/** The link to a list's own page, for a page of several lists: one search form would look as if it searched all of them. */
function elsewhere(home: string, search: unknown, choosesAll: boolean): readonly Action[] {
  if (search !== undefined) return [{ label: 'Search', href: home, icon: 'search' }];
  return choosesAll ? [{ label: 'Select rows', href: home, icon: 'bulk' }] : [];
}

/** Combined parts of all pages. Each list starts at its first page, regardless of the address. */
export async function stackedParts(visit: ConsoleRequest, shown: readonly StackedPage[], typed: Typed): Promise<readonly unknown[]> {
  const parts: unknown[] = [];
  for (const { label, page } of shown) {
    const home = `/admin${page.path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(visit.params[name] ?? ''))}`;
    parts.push(...partsUnder(label, home, await page.show({ ...visit, query: new URLSearchParams() }, typed)));
  }
  return parts;
}

/** A list on a page of several lists. @param home the list's own page */
export const searchedElsewhere = ({ search, choosing, actions = [], ...table }: TablePart, home: string): TablePart => ({
  ...table,
  actions: [...actions, ...elsewhere(home, search, choosesAll({ ...table, choosing }))],
});
