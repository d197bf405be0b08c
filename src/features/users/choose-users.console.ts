/** Selection of users by words of their names or e-mail addresses. */
import { type ChoosePage, choosePage } from '../../pages/console/choose-page.ts';
import type { ConsoleRequest, Drawn, Typed } from '../../pages/console/page.ts';
import { present } from '../../platform/clock/clock.ts';
import { isPrintable } from '../../platform/validation/text.ts';
import { fullName } from '../claims/claims.policy.ts';
import { statusAt } from './user-lifecycle.policy.ts';
import { searchUsers } from './user-lists.service.ts';
import { userStatusPiece } from './user-status.console.ts';
import type { UserOrder } from './users.resource.ts';

export interface UserChoice extends Pick<ChoosePage<UserOrder>, 'title' | 'lead' | 'crumbs' | 'path' | 'submit' | 'fields'> {
  /** The users among these who cannot be selected because they are already included. */
  taken(userIds: readonly string[]): Promise<ReadonlySet<string>>;
}

export const chooseUsers = (visit: ConsoleRequest, { taken, ...page }: UserChoice, typed: Typed): Promise<Drawn> =>
  choosePage(
    visit,
    {
      ...page,
      noun: 'user',
      columns: [
        { label: 'User name', by: 'login' },
        { label: 'Name', by: 'name' },
        { label: 'E-mail', by: 'email' },
        { label: 'Status', by: 'status' },
      ],
      sortedBy: 'name',
      hint: 'Words of the name, user name or e-mail address, such as anna mül or example.com',
      async find(words, window) {
        if (words !== undefined && !isPrintable(words)) return { items: [], total: 0 };
        const { items, total } = await searchUsers(visit.services, { q: words }, window, visit.request);
        const there = await taken(items.map(({ id }) => id));
        const now = present();
        return {
          total,
          items: items.map((user) => ({
            id: user.id,
            avatar: fullName(user.profile) ?? user.login,
            cells: [user.login, fullName(user.profile) ?? '', user.email ?? '', userStatusPiece(statusAt(user, now))],
            isTaken: there.has(user.id),
          })),
        };
      },
    },
    typed,
  );
