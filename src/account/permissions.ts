/** `/account/permissions`: what each application may do in the user's name and learns of him, by his consent or by trust; and the end of it. */
import { ownChange } from '../hosted/fresh-sign-in.ts';
import { logoOf } from '../hosted/links.ts';
import { pageLanguage } from '../hosted/page-language.ts';
import { inLanguage } from '../hosted/scope-text.ts';
import { visitor } from '../hosted/visitor.ts';
import { endOwnPermission, listOwnPermissions } from '../services/own-permissions.ts';
import type { AccountHouse } from './account-house.ts';
import { factsOf } from './applications.ts';
import { doneWith, draw, ownPage, times } from './page.ts';

/** GET /account/permissions */
export const permissionsPage = ownPage('permissions', async (house, ctx, visit) => {
  const language = pageLanguage(ctx);
  const { day } = times(language, visit.user);
  const found = await listOwnPermissions(house.services, visit.user.id);
  const permissions = found.map((permission) => ({
    ...permission,
    ...logoOf(factsOf({ id: permission.applicationId, label: permission.label, settings: permission.settings })),
    since: permission.since && day(permission.since),
    scopes: permission.scopes.map(({ scope, displayName, description }) => inLanguage(language, { name: scope, displayName, description })),
  }));
  const images = [...new Set(permissions.flatMap((permission) => permission.images))];
  await draw(house, ctx, visit, 'account/permissions', { page: 'permissions', images }, { permissions });
});

/** POST /account/permissions/end */
export const endPermission = ownChange<AccountHouse>(async (house, ctx, { accountId }, form) => {
  const which = { applicationId: form.get('application') ?? '', serverId: form.get('server') ?? '' };
  const ended = await endOwnPermission(house.services, accountId, which, visitor(ctx, house.config));
  doneWith(ctx, 'permissions', ended ? 'permission-ended' : 'permission-gone');
}, 'permissions');
