/**
 * One-time links to choose a password (OWASP Forgot Password Cheat Sheet, "URL Tokens"): random, stored as a digest, with limited lifetime, one per
 * user. Delivered by e-mail, or through an administrator.
 */
import { LIFETIMES } from '../../../config/defaults.ts';
import { present } from '../../platform/clock/clock.ts';
import { digest, randomToken } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { queueMail } from '../mail/mail.service.ts';
import { type LinkPurpose, statusAfterChoosing } from '../passwords/password-link.policy.ts';
import { rememberReplaced } from '../passwords/password-policy.service.ts';
import { hashPassword } from '../passwords/passwords.service.ts';
import { endBrowserSessions, endOAuthTokens } from '../users/account-state.store.ts';
import { userTarget } from '../users/user-reach.service.ts';
import type { User } from '../users/users.resource.ts';
import { findUserById, lockUser, updateUser } from '../users/users.store.ts';
import { forgetFailedAttempts } from './failed-sign-ins.store.ts';
import { consumeLink, deleteLinksOf, findOneTimeLink, insertOneTimeLink } from './one-time-links.store.ts';

const SECONDS: Readonly<Record<LinkPurpose, number>> = {
  activation: LIFETIMES.activationLink,
  reset: LIFETIMES.resetLink,
};

/**
 * Creates a link that replaces the user's other links.
 * @param trx the transaction of the change that the link belongs to
 * @param mailedTo address of the e-mail: using the link verifies it
 * @returns its URL, which is returned only once
 */
export async function createPasswordLink(
  trx: Executor,
  { config }: Pick<Services, 'config'>,
  userId: string,
  purpose: LinkPurpose,
  mailedTo: string | null = null,
): Promise<string> {
  // If two links are created at the same time, one replaces the other.
  await lockUser(trx, userId);
  await deleteLinksOf(trx, userId);
  const token = randomToken();
  const created = present();
  const expiresAt = new Date(created.getTime() + SECONDS[purpose] * 1000);
  await insertOneTimeLink(trx, { id: digest(token), purpose, userId, mailedTo, created, expiresAt });
  return `${config.baseUrl}/choose-password/${token}`;
}

/**
 * Creates a link and queues its e-mail.
 * @param user with an address that can receive e-mail
 */
export async function mailPasswordLink(
  trx: Executor,
  { config, keyring }: Pick<Services, 'config' | 'keyring'>,
  user: Pick<User, 'id' | 'login' | 'profile'> & { readonly email: string },
  kind: 'invitation' | 'activation' | 'password-reset',
  request: Pick<RequestContext, 'language'>,
): Promise<void> {
  const purpose = kind === 'password-reset' ? 'reset' : 'activation';
  const link = await createPasswordLink(trx, { config }, user.id, purpose, user.email);
  const expiresAt = new Date(present().getTime() + SECONDS[purpose] * 1000).toISOString();
  await queueMail(trx, keyring, user, kind, { to: user.email, link, expiresAt }, request);
}

/** @returns the user of the link; undefined if it cannot be used, whatever the reason */
export async function readPasswordLink({ database }: Services, token: string): Promise<User | undefined> {
  const link = await findOneTimeLink(database.knex, digest(token), present());
  const user = link && (await findUserById(database.knex, link.userId));
  return user && link && statusAfterChoosing(user.status, link.purpose) && user;
}

export interface Choice {
  readonly token: string;
  readonly password: string;
}

/**
 * Uses the link and sets the password. The user's sessions and tokens end, because they may belong to someone else.
 * @param request the sender; the user counts as the actor
 * @returns undefined if the link cannot be used, as in `readPasswordLink`
 */
export async function usePasswordLink(
  services: Services,
  { token, password }: Choice,
  request: Omit<RequestContext, 'actor'>,
): Promise<User | undefined> {
  const { database } = services;
  if ((await readPasswordLink(services, token)) === undefined) return undefined;
  // Before the transaction: hashing is slow, and connections are few.
  const passwordHash = await hashPassword(password);
  const user = await database.transaction((trx) => choose(trx, { token, passwordHash }, request));
  if (user === undefined) return undefined;
  // Also end sessions and tokens created during the transaction.
  await endSessionsAndTokens(database.knex, user.id);
  return user;
}

async function choose(
  trx: Executor,
  { token, passwordHash }: { readonly token: string; readonly passwordHash: string },
  request: Omit<RequestContext, 'actor'>,
): Promise<User | undefined> {
  const now = present();
  const id = digest(token);
  const link = await findOneTimeLink(trx, id, now);
  // First the user, then the link: the same order of locks as in `createPasswordLink`.
  const before = link && (await lockUser(trx, link.userId));
  if (link === undefined || before === undefined) return undefined;
  const status = statusAfterChoosing(before.status, link.purpose);
  if (status === undefined || !(await consumeLink(trx, id, now))) return undefined;
  const displayMessage = `User chose a password by ${link.purpose} link`;
  const isProved = link.mailedTo !== null && link.mailedTo === before.email;
  return storeChosen(trx, before, { status, passwordHash, displayMessage, emailVerified: before.emailVerified || isProved }, request);
}

/** A password that its user has chosen. */
export interface ChosenPassword {
  /** The user's new status. */
  readonly status: User['status'];
  readonly passwordHash: string;
  /** For the audit log. */
  readonly displayMessage: string;
  /** Absent: unchanged. */
  readonly emailVerified?: boolean;
}

/**
 * Sets a password that its user has chosen, and ends everything obtained with the previous one.
 * @param before the user, locked in the transaction; after its commit `endSessionsAndTokens` ends what was written concurrently
 */
export async function storeChosen(
  trx: Executor,
  before: User,
  { status, passwordHash, displayMessage, emailVerified = before.emailVerified }: ChosenPassword,
  request: Omit<RequestContext, 'actor'>,
): Promise<User> {
  const now = present();
  const fresh = status !== before.status;
  const changes = {
    status,
    emailVerified,
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
  await endSessionsAndTokens(trx, before.id);
  await forgetFailedAttempts(trx, before.id);
  await recordEvent(trx, {
    eventType: 'user.account.update_password',
    displayMessage,
    request: { ...request, actor: { id: before.id, type: 'User', displayName: before.login } },
    targets: [userTarget(before)],
    before: { status: before.status, passwordChanged: before.passwordChanged, emailVerified: before.emailVerified },
    after: { status, passwordChanged: now, emailVerified },
  });
  return { ...before, ...changes };
}

/** Ends the user's sessions, tokens and pending sign-ins. */
export async function endSessionsAndTokens(executor: Executor, userId: string): Promise<void> {
  await endBrowserSessions(executor, userId);
  await endOAuthTokens(executor, userId);
}
