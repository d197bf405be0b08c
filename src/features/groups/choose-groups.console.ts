/** Selection of groups by words of their names. */
import { type ChoosePage, choosePage } from '../../pages/console/choose-page.ts';
import type { ConsoleRequest, Drawn, Typed } from '../../pages/console/page.ts';
import { isPrintable } from '../../platform/validation/text.ts';
import type { GroupOrder } from './groups.resource.ts';
import { searchGroups } from './groups.service.ts';

export interface GroupChoice extends Pick<ChoosePage<GroupOrder>, 'title' | 'crumbs' | 'path' | 'submit'> {
  /** The groups among these that cannot be selected because they are already included. */
  taken(groupIds: readonly string[]): Promise<ReadonlySet<string>>;
}

export const chooseGroups = (visit: ConsoleRequest, { taken, ...page }: GroupChoice, typed: Typed): Promise<Drawn> =>
  choosePage(
    visit,
    {
      ...page,
      noun: 'group',
      columns: [{ label: 'Name', by: 'name' }, 'Description', { label: 'Members', by: 'members', descending: true }],
      sortedBy: 'name',
      hint: 'Words of the name',
      async find(words, window) {
        if (words !== undefined && !isPrintable(words)) return { items: [], total: 0 };
        const { items, total } = await searchGroups(visit.services, words, window);
        const there = await taken(items.map(({ id }) => id));
        return {
          total,
          items: items.map(({ id, name, description, members }) => ({
            id,
            cells: [name, description, members],
            isTaken: there.has(id),
          })),
        };
      },
    },
    typed,
  );
