/**
 * Links by which people choose a password, and what stands in for one while an expired password is replaced (OWASP Forgot Password Cheat Sheet, "URL Tokens"): unguessable, stored as a digest, used once, of
 * limited life, one a user at a time. How a link reaches its user is not decided here.
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
  expired: LIFETIMES.expiredPassword,
};

/** What is sent to people; the other one stays with who typed the password. */
const SENT: readonly LinkPurpose[] = ['activation', 'reset'];

/**
 * Makes a link in place of those the user had.
 * @param trx the transaction of the change that the link belongs to
 * @returns its address, which is told this once
 */
export async function createPasswordLink(
  trx: Executor,
  { config }: Pick<Services, 'config'>,
  userId: string,
  purpose: Exclude<LinkPurpose, 'expired'>,
): Promise<string> {
  // Of two links made at once, one replaces the other.
  await lockUser(trx, userId);
  await deleteLinksOf(trx, userId);
  return `${config.baseUrl}/choose-password/${(await makeLink(trx, userId, purpose)).token}`;
}

/**
 * Makes what lets a user choose another password who has typed the expired one; a link that he was sent stays.
 * @param user as he was when his password was compared
 * @returns undefined when he has another one by now
 */
export async function createExpiredPasswordToken(
  { database }: Pick<Services, 'database'>,
  user: Pick<User, 'id' | 'status' | 'passwordChanged'>,
): Promise<{ readonly token: string; readonly expiresAt: Date } | undefined> {
  return database.transaction(async (trx) => {
    const now = await lockUser(trx, user.id);
    if (now?.status !== user.status || now.passwordChanged?.getTime() !== user.passwordChanged?.getTime()) return undefined;
    await deleteLinksOf(trx, user.id, 'expired');
    return makeLink(trx, user.id, 'expired');
  });
}

async function makeLink(trx: Executor, userId: string, purpose: LinkPurpose): Promise<{ token: string; expiresAt: Date }> {
  const token = randomToken();
  const created = present();
  const expiresAt = new Date(created.getTime() + SECONDS[purpose] * 1000);
  await insertLink(trx, { id: digest(token), purpose, userId, created, expiresAt });
  return { token, expiresAt };
}

/**
 * @param purposes that the link may have
 * @returns whose password the link lets choose; undefined when it is of no use, for whatever reason
 */
export async function readPasswordLink({ database }: Services, token: string, purposes = SENT): Promise<User | undefined> {
  const link = await findLink(database.knex, digest(token), present());
  const user = link && purposes.includes(link.purpose) ? await findUserById(database.knex, link.userId) : undefined;
  return user && link && statusAfterChoosing(user.status, link.purpose) && user;
}

export interface Choice {
  readonly token: string;
  readonly password: string;
  readonly purposes?: readonly LinkPurpose[];
  /** What else is done in the same transaction, with the user as he is now. */
  also?(trx: Executor, user: User): Promise<void>;
}

/**
 * Uses the link up and sets the password; the user's sessions and tokens end, for another one may hold them.
 * @param request who asks; the user himself counts as the actor
 * @returns undefined when the link is of no use, as in `readPasswordLink`
 */
export async function usePasswordLink(
  services: Services,
  { token, password, purposes = SENT, also }: Choice,
  request: Omit<RequestContext, 'actor'>,
): Promise<User | undefined> {
  const { database } = services;
  if ((await readPasswordLink(services, token, purposes)) === undefined) return undefined;
  // Before the transaction: a hash takes its time, and connections are few.
  const passwordHash = await hashPassword(password);
  const user = await database.transaction(async (trx) => {
    const chosen = await choose(trx, { token, passwordHash, purposes }, request);
    if (chosen !== undefined) await also?.(trx, chosen);
    return chosen;
  });
  if (user === undefined) return undefined;
  // What was being written meanwhile.
  await endHoldings(database.knex, user.id);
  return user;
}

async function choose(
  trx: Executor,
  { token, passwordHash, purposes }: { readonly token: string; readonly passwordHash: string; readonly purposes: readonly LinkPurpose[] },
  request: Omit<RequestContext, 'actor'>,
): Promise<User | undefined> {
  const now = present();
  const id = digest(token);
  const link = await findLink(trx, id, now);
  // The user before the link, in the order in which `createPasswordLink` locks them.
  const before = link && (await lockUser(trx, link.userId));
  if (link === undefined || before === undefined || !purposes.includes(link.purpose)) return undefined;
  const status = statusAfterChoosing(before.status, link.purpose);
  if (status === undefined || !(await consumeLink(trx, id, now))) return undefined;

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
    displayMessage:
      link.purpose === 'expired' ? 'User chose a password in place of an expired one' : `User chose a password by ${link.purpose} link`,
    request: { ...request, actor: { id: before.id, type: 'User', displayName: before.login } },
    targets: [userTarget(before)],
    before: { status: before.status, passwordChanged: before.passwordChanged },
    after: { status, passwordChanged: now },
  });
  return { ...before, ...changes };
}

async function endHoldings(executor: Executor, userId: string): Promise<void> {
  await endBrowserSessions(executor, userId);
  await endOAuthTokens(executor, userId);
}
