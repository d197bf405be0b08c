/** A user's consent to an application at one authorization server: stored with its audit event. */

import { present } from '../../platform/clock/clock.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import type { Page, Window } from '../../platform/database/paging.ts';
import { notFound, requireFound } from '../../platform/errors/errors.ts';
import { findApplicationById } from '../applications/applications.store.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import type { AuthorizationDetail } from '../authorization-details/details.policy.ts';
import { findServer } from '../authorization-servers/authorization-servers.store.ts';
import { keptScopes } from '../policies/decisions.policy.ts';
import { endTokensOfConsent } from '../users/account-state.store.ts';
import { findCloselyVisibleUser, lockChangeableUser, userTarget } from '../users/user-reach.service.ts';
import type { ScopeDecision } from './consent.policy.ts';
import type { Consent, ConsentKey } from './consents.resource.ts';
import { deleteConsents, findConsent, forgetScopes, listConsents, rememberDetails, rememberScopes } from './consents.store.ts';

/** Targets of a consent event: application and authorization server, with searchable names. */
async function consentTargets(executor: Executor, { applicationId, serverId }: Pick<ConsentKey, 'applicationId' | 'serverId'>) {
  const application = await findApplicationById(executor, applicationId);
  const server = await findServer(executor, serverId);
  return [
    { id: applicationId, type: 'AppInstance', displayName: application?.label ?? applicationId },
    { id: serverId, type: 'AuthorizationServer', displayName: server?.name ?? serverId },
  ];
}

/** The requested and the allowed items of the consent page. */
interface ConsentChoice {
  readonly requested: readonly string[];
  readonly allowed: readonly string[];
  /** Allowed authorization details; absent: none requested. */
  readonly details?: readonly AuthorizationDetail[];
  /** Reason for asking or not asking for each scope. */
  readonly decisions?: readonly ScopeDecision[] | undefined;
}

/** Stores the answer; for each scope it replaces an earlier one. */
export async function rememberConsent(
  services: Services,
  key: ConsentKey,
  { requested, allowed, details = [], decisions = [] }: ConsentChoice,
  request: RequestContext,
): Promise<void> {
  await services.database.transaction(async (trx) => {
    const refused = requested.filter((scope) => !allowed.includes(scope));
    await rememberScopes(trx, key, allowed, present());
    await rememberDetails(trx, key, details, present());
    await forgetScopes(trx, key, refused);
    await recordEvent(trx, {
      eventType: 'app.oauth2.as.consent.grant',
      displayMessage: 'User granted consent to an application',
      request,
      targets: await consentTargets(trx, key),
      after: { allowed, refused, ...(details.length > 0 && { authorizationDetails: details }) },
      decision: { kind: 'consent', scopes: keptScopes(decisions) },
    });
  });
}

/** The user allowed nothing; earlier consents stay. */
export async function recordDenial(
  { database }: Services,
  key: ConsentKey,
  decisions: readonly ScopeDecision[],
  request: RequestContext,
): Promise<void> {
  await recordEvent(database.knex, {
    eventType: 'app.oauth2.as.consent.grant',
    displayMessage: 'User denied consent to an application',
    request,
    targets: await consentTargets(database.knex, key),
    failure: 'DENIED_BY_USER',
    decision: { kind: 'consent', scopes: keptScopes(decisions) },
  });
}

// The consents of a user, as administrators list and revoke them. Revoking a consent also ends the application's tokens for the user at
// that authorization server.

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
