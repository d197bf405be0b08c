/** Permissions of applications as shown to and revoked by users themselves. Administrators use consents.service.ts. */
import { present } from '../../platform/clock/clock.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { isPrintable } from '../../platform/validation/text.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import type { DetailType } from '../authorization-details/detail-types.resource.ts';
import { listDetailTypes } from '../authorization-details/detail-types.store.ts';
import type { AuthorizationDetail } from '../authorization-details/details.policy.ts';
import { USERINFO_SCOPES } from '../claims/claims.policy.ts';
import { endTokensOfConsent } from '../users/account-state.store.ts';
import { asUser, userTarget } from '../users/user-reach.service.ts';
import { lockUser } from '../users/users.store.ts';
import { forgetScopes, listPermittedScopes, type PermittedScope, rememberedScopes } from './consents.store.ts';

/** An application at one authorization server. */
export interface OwnPermission extends Pick<PermittedScope, 'applicationId' | 'label' | 'settings' | 'serverId' | 'serverName'> {
  readonly scopes: readonly Pick<PermittedScope, 'scope' | 'displayName' | 'description' | 'translations'>[];
  /** Authorization details, each with its type (RFC 9396); without one, its type was deleted. */
  readonly details: readonly { readonly detail: AuthorizationDetail; readonly type: DetailType | undefined }[];
  /** First consent; null: trusted application, no consent. */
  readonly since: Date | null;
  /** Do these scopes give the application all claims of the user at userinfo, not just those that the scopes name? */
  readonly wholeProfile: boolean;
}

/** Ordered by the applications' names. */
export async function listOwnPermissions({ database }: Services, userId: string): Promise<OwnPermission[]> {
  const rows = await listPermittedScopes(database.knex, userId, present());
  const groups = new Map<string, PermittedScope[]>();
  for (const row of rows) {
    const key = JSON.stringify([row.applicationId, row.serverId]);
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  const types = new Map<string, DetailType[]>();
  for (const serverId of new Set(rows.flatMap((row) => (row.detail === null ? [] : [row.serverId]))))
    types.set(serverId, await listDetailTypes(database.knex, serverId));
  return [...groups.values()].flatMap((held) => held.slice(0, 1).map((first) => permission(first, held, types.get(first.serverId) ?? [])));
}

function permission(
  { applicationId, label, settings, serverId, serverName }: PermittedScope,
  held: readonly PermittedScope[],
  types: readonly DetailType[],
): OwnPermission {
  const scopes = held.filter(({ detail }) => detail === null);
  const details = held.flatMap(({ detail }) => (detail === null ? [] : [{ detail, type: types.find(({ name }) => name === detail.type) }]));
  const times = held.flatMap(({ consented }) => (consented === null ? [] : [consented.getTime()]));
  return {
    ...{ applicationId, label, settings, serverId, serverName, scopes, details },
    since: times.length === 0 ? null : new Date(Math.min(...times)),
    wholeProfile: scopes.some(({ scope }) => USERINFO_SCOPES.some((name) => name === scope)),
  };
}

/**
 * Removes an application's permissions at a server: the user's consents, and its codes and tokens.
 * @returns false if it had none
 */
export async function endOwnPermission(
  { database }: Services,
  userId: string,
  { applicationId, serverId }: { readonly applicationId: string; readonly serverId: string },
  request: RequestContext,
): Promise<boolean> {
  if (!isPrintable(applicationId) || !isPrintable(serverId)) return false;
  const key = { userId, applicationId, serverId };
  const ended = await database.transaction(async (trx) => {
    const user = await lockUser(trx, userId);
    const held = (await listPermittedScopes(trx, userId, present())).filter(
      (permitted) => permitted.applicationId === applicationId && permitted.serverId === serverId,
    );
    const [first] = held;
    if (user === undefined || first === undefined) return false;
    const consented = await rememberedScopes(trx, key);
    await forgetScopes(trx, key, consented);
    await endTokensOfConsent(trx, key);
    await recordEvent(trx, {
      eventType: 'app.oauth2.as.consent.revoke',
      displayMessage: 'User revoked the access of an application',
      request: asUser(request, user),
      targets: [
        userTarget(user),
        { id: applicationId, type: 'AppInstance', displayName: first.label },
        { id: serverId, type: 'AuthorizationServer', displayName: first.serverName },
      ],
      before: {
        consented: consented.filter((scope) => held.some((one) => one.scope === scope && one.detail === null)),
        scopes: held.flatMap(({ scope, detail }) => (detail === null ? [scope] : [])),
        authorizationDetails: held.flatMap(({ detail }) => detail ?? []),
      },
    });
    return true;
  });
  // Also end tokens issued during the transaction.
  if (ended) await endTokensOfConsent(database.knex, key);
  return ended;
}
