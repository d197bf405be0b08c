/** `/account/permissions`: the permissions and data of each application, by consent or trust, and their removal. */

import type { AccountDeps } from '../../pages/account/account-deps.ts';
import { draw, ownPage, redirectAfterChange } from '../../pages/account/page.ts';
import { visitor } from '../../pages/hosted/deps.ts';
import { logoOf } from '../../pages/hosted/page-models.ts';
import { pageLanguage } from '../../platform/i18n/page-language.ts';
import { dayOf } from '../../platform/i18n/times.ts';
import { applicationFacts } from '../applications/applications.account.ts';
import { detailInLanguage } from '../authorization-details/shown-details.hosted.ts';
import { inLanguage } from '../scopes/scope-text.hosted.ts';
import { ownChange } from '../sign-in/fresh-sign-in.hosted.ts';
import { endOwnPermission, listOwnPermissions } from './own-permissions.service.ts';

/** GET /account/permissions */
export const permissionsPage = ownPage('permissions', async (deps, ctx, visit) => {
  const language = pageLanguage(ctx);
  const found = await listOwnPermissions(deps.services, visit.user.id);
  const permissions = found.map((permission) => ({
    ...permission,
    ...logoOf(applicationFacts({ id: permission.applicationId, label: permission.label, settings: permission.settings })),
    since: permission.since && dayOf(permission.since),
    details: permission.details.map(({ detail, type }) => detailInLanguage(language, detail, type)),
    scopes: permission.scopes.map(({ scope, ...words }) => inLanguage(language, { name: scope, ...words })),
  }));
  const images = [...new Set(permissions.flatMap((permission) => permission.images))];
  await draw(deps, ctx, visit, 'account/permissions', { page: 'permissions', images }, { permissions });
});

/** POST /account/permissions/end */
export const endPermission = ownChange<AccountDeps>(async (deps, ctx, { accountId }, form) => {
  const which = { applicationId: form.get('application') ?? '', serverId: form.get('server') ?? '' };
  const ended = await endOwnPermission(deps.services, accountId, which, visitor(ctx, deps.config));
  redirectAfterChange(ctx, 'permissions', ended ? 'permission-ended' : 'permission-gone');
}, 'permissions');
