/** `/account/permissions`: what each application may do in the user's name and learns of him, by his consent or by trust; and the end of it. */

import type { AccountHouse } from '../../pages/account/account-house.ts';
import { doneWith, draw, ownPage, times } from '../../pages/account/page.ts';
import { logoOf } from '../../pages/hosted/links.ts';
import { visitor } from '../../pages/hosted/visitor.ts';
import { pageLanguage } from '../../platform/i18n/page-language.ts';
import { factsOf } from '../applications/applications.account.ts';
import { inLanguage } from '../scopes/scope-text.hosted.ts';
import { ownChange } from '../sign-in/fresh-sign-in.hosted.ts';
import { endOwnPermission, listOwnPermissions } from './own-permissions.service.ts';

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
