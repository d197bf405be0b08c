/**
 * Trusted browsers: they need no second factor for `settings/sign-in.rememberBrowserDays`. Trust ends with the period, by the user or an
 * administrator, and with whatever ends the user's sessions or changes their password, factors or roles.
 */
import { present } from '../../platform/clock/clock.ts';
import { digest, newId, randomToken } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { notFound } from '../../platform/errors/errors.ts';
import { findRights } from '../administrators/roles.store.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import type { RequirementReason } from '../second-factors/second-factor.policy.ts';
import { currentSettings } from '../settings/settings-cache.service.ts';
import { asUser, findCloselyVisibleUser, lockChangeableUser, userTarget } from '../users/user-reach.service.ts';
import type { User } from '../users/users.resource.ts';
import { lockUser } from '../users/users.store.ts';
import { MOST_TRUSTED_BROWSERS, mayTrust, type TrustFacts, trustedSince, trustedUntil, trustSuffices } from './trusted-browsers.policy.ts';
import type { TrustedBrowser } from './trusted-browsers.resource.ts';
import {
  deleteTrustedBrowser,
  deleteTrustedBrowsersOf,
  insertTrustedBrowser,
  isTrustedToken,
  listTrustedBrowsers,
  touchTrustedBrowser,
} from './trusted-browsers.store.ts';

type Parts = Pick<Services, 'database' | 'notifications'>;

async function factsOf(services: Parts, executor: Executor, userId: string): Promise<TrustFacts> {
  const { rememberBrowserDays: days } = await currentSettings(services, 'sign-in');
  return { days, administrator: days > 0 && (await findRights(executor, userId)).length > 0 };
}

/** @returns days for which the user can trust a browser; undefined: not allowed */
export async function daysOfTrust(
  services: Parts,
  userId: string,
  executor: Executor = services.database.knex,
): Promise<number | undefined> {
  const facts = await factsOf(services, executor, userId);
  return mayTrust(facts) ? facts.days : undefined;
}

/** The token for the browser, returned only once, and its days. */
export interface GivenTrust {
  readonly token: string;
  readonly days: number;
}

/**
 * Trusts the request's browser for a user who has just used a second factor.
 * @param user locked in the transaction
 * @returns undefined if that is not allowed
 */
export async function trustBrowser(
  trx: Executor,
  services: Parts,
  user: Pick<User, 'id' | 'login'>,
  request: RequestContext,
): Promise<GivenTrust | undefined> {
  const days = await daysOfTrust(services, user.id, trx);
  if (days === undefined) return undefined;
  const token = randomToken();
  const now = present();
  const browser: TrustedBrowser = {
    id: newId('trb'),
    userId: user.id,
    userAgent: (request.userAgent ?? '').slice(0, 500),
    ipAddress: request.ipAddress ?? null,
    created: now,
    lastUsed: null,
    expiresAt: trustedUntil(days, now),
  };
  await insertTrustedBrowser(trx, browser, digest(token), MOST_TRUSTED_BROWSERS);
  await recordEvent(trx, {
    eventType: 'user.mfa.trusted_browser.add',
    displayMessage: 'User trusts a browser',
    request: asUser(request, user),
    targets: [userTarget(user)],
    after: described(browser),
  });
  return { token, days };
}

/**
 * Uses the trust of the request's browser for a sign-in without a second factor. Ending the trust locks the same row: if both happen at once, the
 * sign-in either completes first or is refused.
 * @param demandedBy what demands a second factor; undefined: the user has one
 */
export async function useTrust(
  trx: Executor,
  services: Parts,
  userId: string,
  demandedBy: RequirementReason | undefined,
  { trustTokens = [] }: Pick<RequestContext, 'trustTokens'>,
): Promise<boolean> {
  if (trustTokens.length === 0) return false;
  const facts = await factsOf(services, trx, userId);
  const now = present();
  return trustSuffices(facts, demandedBy) && touchTrustedBrowser(trx, userId, trustTokens.map(digest), trustedSince(facts.days, now), now);
}

/** Is a session that began without a second factor sufficient in a browser with these tokens? Only reads. */
export async function isTrustedBrowser(
  services: Parts,
  userId: string,
  demandedBy: RequirementReason,
  tokens: readonly string[],
): Promise<boolean> {
  if (tokens.length === 0) return false;
  const { knex } = services.database;
  const facts = await factsOf(services, knex, userId);
  const now = present();
  return trustSuffices(facts, demandedBy) && isTrustedToken(knex, userId, tokens.map(digest), trustedSince(facts.days, now), now);
}

/** The user's own browsers, newest first. */
export async function listOwnTrustedBrowsers(services: Parts, userId: string): Promise<readonly TrustedBrowser[]> {
  const { rememberBrowserDays } = await currentSettings(services, 'sign-in');
  const now = present();
  return listTrustedBrowsers(services.database.knex, userId, trustedSince(rememberBrowserDays, now), now);
}

/** @throws {ApiError} not found, forbidden */
export async function listUserTrustedBrowsers(
  services: Parts,
  idOrLogin: string,
  request: RequestContext,
): Promise<{ readonly user: User; readonly browsers: readonly TrustedBrowser[] }> {
  const user = await findCloselyVisibleUser(services.database.knex, idOrLogin, request);
  return { user, browsers: await listOwnTrustedBrowsers(services, user.id) };
}

/** @returns false when the user has no such browser */
export async function endOwnTrust({ database }: Parts, userId: string, id: string, request: RequestContext): Promise<boolean> {
  return database.transaction(async (trx) => {
    const user = await lockUser(trx, userId);
    return user !== undefined && endOne(trx, user, id, asUser(request, user));
  });
}

/** @throws {ApiError} not found, forbidden */
export async function endUserTrust({ database }: Parts, idOrLogin: string, id: string, request: RequestContext): Promise<void> {
  await database.transaction(async (trx) => {
    if (!(await endOne(trx, await lockChangeableUser(trx, idOrLogin, request), id, request))) throw notFound(id, 'TrustedBrowser');
  });
}

/** Ends the trust in all browsers of the user. @throws {ApiError} not found, forbidden */
export async function endAllTrust({ database }: Parts, idOrLogin: string, request: RequestContext): Promise<void> {
  await database.transaction(async (trx) => {
    const user = await lockChangeableUser(trx, idOrLogin, request);
    const browsers = await allOf(trx, user.id);
    await deleteTrustedBrowsersOf(trx, user.id);
    await recordEvent(trx, { ...REMOVED, request, targets: [userTarget(user)], before: { trustedBrowsers: browsers.map(described) } });
  });
}

const REMOVED = { eventType: 'user.mfa.trusted_browser.remove', displayMessage: 'End the trust in a browser of user' } as const;

const allOf = (trx: Executor, userId: string) => listTrustedBrowsers(trx, userId, new Date(0), present());

/** @param user locked in the transaction */
async function endOne(trx: Executor, user: User, id: string, request: RequestContext): Promise<boolean> {
  const browser = (await allOf(trx, user.id)).find((one) => one.id === id);
  if (browser === undefined || !(await deleteTrustedBrowser(trx, user.id, id))) return false;
  await recordEvent(trx, { ...REMOVED, request, targets: [userTarget(user)], before: described(browser) });
  return true;
}

const described = ({ id, created, lastUsed, expiresAt }: TrustedBrowser) => ({ id, created, lastUsed, expiresAt });
