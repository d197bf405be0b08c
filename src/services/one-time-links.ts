/**
 * Links by which people choose a password (OWASP Forgot Password Cheat Sheet, "URL Tokens"): unguessable, stored as a digest, used once, of limited life,
 * one a user at a time. How a link reaches its user is not decided here.
 */
import { LIFETIMES } from '../../config/defaults.ts';
import { present } from '../clock.ts';
import { type LinkPurpose, statusAfterChoosing } from '../policy/password-link.ts';
import { digest, randomToken } from '../secrets.ts';
import { endBrowserSessions, endOAuthTokens } from '../store/account-state.ts';
import type { Executor } from '../store/database.ts';
import { forgetFailedAttempts } from '../store/failed-sign-ins.ts';
import { consumeLink, deleteLinksOf, findLink, insertLink } from '../store/one-time-links.ts';
import { findUserById, lockUser, type User, updateUser } from '../store/users.ts';
import { type RequestContext, recordEvent } from './audit.ts';
import type { Services } from './dependencies.ts';
import { rememberReplaced } from './password-policy.ts';
import { hashPassword } from './passwords.ts';
import { userTarget } from './user-reach.ts';

const SECONDS: Readonly<Record<LinkPurpose, number>> = {
  activation: LIFETIMES.activationLink,
  reset: LIFETIMES.resetLink,
};

/**
 * Makes a link in place of those the user had.
 * @param trx the transaction of the change that the link belongs to
 * @returns its address, which is told this once
 */
export async function createPasswordLink(
  trx: Executor,
  { config }: Pick<Services, 'config'>,
  userId: string,
  purpose: LinkPurpose,
): Promise<string> {
  // Of two links made at once, one replaces the other.
  await lockUser(trx, userId);
  await deleteLinksOf(trx, userId);
  const token = randomToken();
  const created = present();
  await insertLink(trx, { id: digest(token), purpose, userId, created, expiresAt: new Date(created.getTime() + SECONDS[purpose] * 1000) });
  return `${config.baseUrl}/choose-password/${token}`;
}

/** @returns whose password the link lets choose; undefined when it is of no use, for whatever reason */
export async function readPasswordLink({ database }: Services, token: string): Promise<User | undefined> {
  const link = await findLink(database.knex, digest(token), present());
  const user = link && (await findUserById(database.knex, link.userId));
  return user && link && statusAfterChoosing(user.status, link.purpose) && user;
}

export interface Choice {
  readonly token: string;
  readonly password: string;
}

/**
 * Uses the link up and sets the password; the user's sessions and tokens end, for another one may hold them.
 * @param request who asks; the user himself counts as the actor
 * @returns undefined when the link is of no use, as in `readPasswordLink`
 */
export async function usePasswordLink(
  services: Services,
  { token, password }: Choice,
  request: Omit<RequestContext, 'actor'>,
): Promise<User | undefined> {
  const { database } = services;
  if ((await readPasswordLink(services, token)) === undefined) return undefined;
  // Before the transaction: a hash takes its time, and connections are few.
  const passwordHash = await hashPassword(password);
  const user = await database.transaction((trx) => choose(trx, { token, passwordHash }, request));
  if (user === undefined) return undefined;
  // What was being written meanwhile.
  await endHoldings(database.knex, user.id);
  return user;
}

async function choose(
  trx: Executor,
  { token, passwordHash }: { readonly token: string; readonly passwordHash: string },
  request: Omit<RequestContext, 'actor'>,
): Promise<User | undefined> {
  const now = present();
  const id = digest(token);
  const link = await findLink(trx, id, now);
  // The user before the link, in the order in which `createPasswordLink` locks them.
  const before = link && (await lockUser(trx, link.userId));
  if (link === undefined || before === undefined) return undefined;
  const status = statusAfterChoosing(before.status, link.purpose);
  if (status === undefined || !(await consumeLink(trx, id, now))) return undefined;
  return storeChosen(trx, before, { status, passwordHash, displayMessage: `User chose a password by ${link.purpose} link` }, request);
}

/** A password that its user has chosen himself. */
export interface ChosenPassword {
  /** That he has from now on. */
  readonly status: User['status'];
  readonly passwordHash: string;
  /** For the audit log. */
  readonly displayMessage: string;
}

/**
 * Sets a password that its user has chosen, and ends what was reached by the one before.
 * @param before the user, locked in the transaction; after its commit `endHoldings` ends what was being written meanwhile
 */
export async function storeChosen(
  trx: Executor,
  before: User,
  { status, passwordHash, displayMessage }: ChosenPassword,
  request: Omit<RequestContext, 'actor'>,
): Promise<User> {
  const now = present();
  const fresh = status !== before.status;
  const changes = {
    status,
    statusChanged: fresh ? now : before.statusChanged,
    activated: before.activated ?? now,
    passwordHash,
    passwordChanged: now,
    lockedUntil: null,
    lastUpdated: now,
  };
  await updateUser(trx, before.id, changes);
  await rememberReplaced(trx, before);
  await deleteLinksOf(trx, before.id);
  await endHoldings(trx, before.id);
  await forgetFailedAttempts(trx, before.id);
  await recordEvent(trx, {
    eventType: 'user.account.update_password',
    displayMessage,
    request: { ...request, actor: { id: before.id, type: 'User', displayName: before.login } },
    targets: [userTarget(before)],
    before: { status: before.status, passwordChanged: before.passwordChanged },
    after: { status, passwordChanged: now },
  });
  return { ...before, ...changes };
}

/** Ends the user's sessions and tokens, and his sign-ins under way. */
export async function endHoldings(executor: Executor, userId: string): Promise<void> {
  await endBrowserSessions(executor, userId);
  await endOAuthTokens(executor, userId);
}
