/** A tab that shows several pages one below the other. Each of these has an address of its own as well, for its further pages and forms. */
import type { Text } from '../../platform/i18n/phrase.ts';
import { drawnActions } from './actions.ts';
import type { ConsolePage, ConsoleRequest, Drawn, Typed } from './page.ts';

export interface StackedPage {
  readonly label: Text;
  readonly page: ConsolePage;
}

/** The parts of a drawn page under a heading of their own, with the page's actions. */
function partsUnder(title: Text, { locals, actions = [] }: Drawn): readonly unknown[] {
  const [first, ...rest] = (locals?.parts ?? []) as readonly Readonly<Record<string, unknown>>[];
  return [{ ...first, title, actions: drawnActions(actions.map((action) => ({ ...action, main: false }))) }, ...rest];
}

/** Combined parts of all pages. Each list starts at its first page, regardless of the address. */
export async function stackedParts(visit: ConsoleRequest, shown: readonly StackedPage[], typed: Typed): Promise<readonly unknown[]> {
  const parts: unknown[] = [];
  for (const { label, page } of shown) parts.push(...partsUnder(label, await page.show({ ...visit, query: new URLSearchParams() }, typed)));
  return parts;
}
