/** `/account/data`: a user downloads what the service stores about them (Regulation (EU) 2016/679, articles 15 and 20), as JSON, after a fresh sign-in. */

import type { AccountDeps } from '../../pages/account/account-deps.ts';
import { draw, ownPage } from '../../pages/account/page.ts';
import { visitor } from '../../pages/hosted/deps.ts';
import { present } from '../../platform/clock/clock.ts';
import { seeOther } from '../../platform/http/forms.ts';
import { listOwnPermissions, type OwnPermission } from '../consents/own-permissions.service.ts';
import type { Passkey } from '../passkeys/passkeys.resource.ts';
import { change } from '../sign-in/fresh-sign-in.hosted.ts';
import { currentUserSchema } from '../user-schema/user-schema.service.ts';
import { listOwnActivity } from './own-activity.service.ts';
import { type ExportedUser, exportOwnData } from './user-data.service.ts';
import { profileFields } from './users.service.ts';

/** An administrator can export older ones. */
const MOST_EVENTS = 1000;

/** GET /account/data */
export const dataPage = ownPage('data', (deps, ctx, visit) => draw(deps, ctx, visit, 'account/data', { page: 'data' }, {}));

/** POST /account/data: the file */
export const downloadData = change<AccountDeps>(async (deps, ctx, { accountId }) => {
  const { services } = deps;
  const exported = await exportOwnData(services, accountId, visitor(ctx, deps.config));
  if (exported === undefined) return seeOther(ctx, '/signin');
  const { events } = await listOwnActivity(services, accountId, { limit: MOST_EVENTS });
  ctx.set('Content-Disposition', `attachment; filename="account-${present().toISOString().slice(0, 10)}.json"`);
  ctx.set('Cache-Control', 'no-store');
  ctx.type = 'application/json; charset=utf-8';
  const { attributes } = await currentUserSchema(services);
  const hidden = new Set(attributes.filter(({ self }) => self === 'HIDE').map(({ name }) => name));
  const permissions = (await listOwnPermissions(services, accountId)).map(permitted);
  ctx.body = JSON.stringify({ ...portable(exported, hidden), permissions, activity: events }, undefined, 2);
}, 'data');

/** Permissions of an application, by consent or as a trusted application. */
const permitted = ({ applicationId, label, serverId, serverName, since, scopes }: OwnPermission) => ({
  ...{ applicationId, label, serverId, serverName, since },
  scopes: scopes.map(({ scope }) => scope),
});

const madeBy = ({ transports, multiDevice, backedUp, aaguid }: Passkey) => ({ transports, multiDevice, backedUp, aaguid });

/** Exported fields, listed one by one so that new ones are not exported by accident. */
const portable = (
  {
    user,
    roles,
    factors,
    trustedBrowsers,
    memberships,
    groups,
    applications,
    consents,
    identityProviders,
    apiTokens,
    sessions,
    countries,
  }: ExportedUser,
  hidden: ReadonlySet<string>,
) => ({
  user: {
    ...{
      id: user.id,
      status: user.status,
      profile: Object.fromEntries(Object.entries(profileFields(user)).filter(([name]) => !hidden.has(name))),
    },
    ...{ created: user.created, activated: user.activated, lastLogin: user.lastLogin, lastUpdated: user.lastUpdated },
    passwordChanged: user.passwordChanged,
  },
  ...{ memberships, groups, roles, applications, consents, identityProviders, apiTokens, sessions, countries },
  trustedBrowsers: trustedBrowsers.map(({ userId: _, ...browser }) => browser),
  factors: factors.map((factor) => ({
    ...{ id: factor.id, type: factor.type, name: factor.name, created: factor.created, lastUsed: factor.lastUsed },
    ...(factor.type === 'PASSKEY' && madeBy(factor)),
  })),
});
