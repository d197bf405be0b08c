/**
 * The consents that a user gave, as administrators see and revoke them; giving one is in consents.ts. With a consent ends what the application
 * holds for the user at that authorization server.
 */

import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import type { Page, Window } from '../../platform/database/paging.ts';
import { notFound, requireFound } from '../../platform/errors/errors.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { endTokensOfConsent } from '../users/account-state.store.ts';
import { findCloselyVisibleUser, lockChangeableUser, userTarget } from '../users/user-reach.service.ts';
import type { Consent } from './consents.resource.ts';
import { consentTargets } from './consents.service.ts';
import { deleteConsents, findConsent, listConsents } from './consents.store.ts';

/** @throws {ApiError} not found, forbidden */
export async function listGrants(services: Services, idOrLogin: string, window: Window, request: RequestContext): Promise<Page<Consent>> {
  const { knex } = services.database;
  return listConsents(knex, (await findCloselyVisibleUser(knex, idOrLogin, request)).id, window);
}

/** @throws {ApiError} not found, forbidden */
export async function getGrant(services: Services, idOrLogin: string, grantId: string, request: RequestContext): Promise<Consent> {
  const { knex } = services.database;
  return requireFound(await findConsent(knex, (await findCloselyVisibleUser(knex, idOrLogin, request)).id, grantId), grantId, 'Grant');
}

/** @throws {ApiError} not found, forbidden */
export async function revokeGrant(services: Services, idOrLogin: string, grantId: string, request: RequestContext): Promise<void> {
  const revoked = await revoke(services, idOrLogin, grantId, request);
  if (revoked.length === 0) throw notFound(grantId, 'Grant');
}

/** Revokes all consents. @throws {ApiError} not found, forbidden */
export async function revokeGrants(services: Services, idOrLogin: string, request: RequestContext): Promise<void> {
  await revoke(services, idOrLogin, undefined, request);
}

/** @param grantId undefined: all of them */
async function revoke(
  services: Services,
  idOrLogin: string,
  grantId: string | undefined,
  request: RequestContext,
): Promise<readonly Consent[]> {
  const endTokens = async (executor: Executor, consents: readonly Consent[]): Promise<void> => {
    for (const consent of consents) await endTokensOfConsent(executor, consent);
  };
  const revoked = await services.database.transaction(async (trx) => {
    const user = await lockChangeableUser(trx, idOrLogin, request);
    const consents = await deleteConsents(trx, user.id, grantId);
    await endTokens(trx, consents);
    for (const { id, applicationId, serverId, scope, detail } of consents) {
      await recordEvent(trx, {
        eventType: 'app.oauth2.as.consent.revoke',
        displayMessage: 'Revoke consent of user',
        request,
        targets: [userTarget(user), ...(await consentTargets(trx, { applicationId, serverId }))],
        before: { id, ...(detail === null ? { scope } : { authorizationDetail: detail }) },
      });
    }
    return consents;
  });
  // Also end tokens issued during the transaction.
  await endTokens(services.database.knex, revoked);
  return revoked;
}
