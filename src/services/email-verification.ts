/**
 * Is an e-mail address its user's? He shows it by a link that was mailed there: unguessable, stored as a digest, used once, ended by the next one (OWASP Input
 * Validation Cheat Sheet, "Email Address Validation"). An address that a user gives himself is his only from then on; one that an administrator gives is
 * at once, unverified. The claim `email_verified` says no more than this (OpenID Connect Core section 5.1).
 */
import { LIFETIMES } from '../../config/defaults.ts';
import { present } from '../clock.ts';
import { isMailable } from '../policy/mail.ts';
import { digest, randomToken } from '../secrets.ts';
import type { Executor } from '../store/database.ts';
import { consumeVerification, type EmailVerification, findVerification, replaceVerification } from '../store/email-verifications.ts';
import { deleteLinksOf } from '../store/one-time-links.ts';
import { findTakenNames, findUserById, lockUser, type User, updateUser } from '../store/users.ts';
import { type RequestContext, recordEvent } from './audit.ts';
import type { Services } from './dependencies.ts';
import { mayMailAgain } from './failure-limits.ts';
import { isMailPossible, queueMail, queueNotice } from './mail.ts';
import { userTarget } from './user-reach.ts';

/**
 * Makes a link in place of the one the user had, and notes the mail that carries it.
 * @param user locked in the transaction
 * @param email where it goes
 */
export async function mailVerification(
  trx: Executor,
  { config, keyring }: Pick<Services, 'config' | 'keyring'>,
  user: User,
  email: string,
  request: Pick<RequestContext, 'language'>,
): Promise<void> {
  const token = randomToken();
  const created = present();
  const expiresAt = new Date(created.getTime() + LIFETIMES.verificationLink * 1000);
  await replaceVerification(trx, { id: digest(token), userId: user.id, email, replaces: user.email, created, expiresAt });
  const link = `${config.baseUrl}/verify-email/${token}`;
  const content = { to: email, link, expiresAt: expiresAt.toISOString(), values: { address: email } };
  await queueMail(trx, keyring, user, 'email-verification', content, request);
}

/** `sent`: whatever becomes of the address, for whether it is another user's is told to nobody. */
export type VerificationRequest = 'sent' | 'not-possible' | 'not-an-address' | 'too-many';

/**
 * A user wants an address verified: his own, or another one in its place. That he signed in just now was found out before.
 * @param email as it was typed
 */
export async function requestVerification(
  services: Services,
  userId: string,
  email: string,
  request: RequestContext,
): Promise<VerificationRequest> {
  if (!isMailPossible(services.config, request)) return 'not-possible';
  if (!isMailable(email)) return 'not-an-address';
  if (!(await mayMailAgain(services, userId))) return 'too-many';
  await services.database.transaction(async (trx) => {
    const user = await lockUser(trx, userId);
    if (user?.status !== 'ACTIVE') return;
    await mailVerification(trx, services, user, email, request);
  });
  return 'sent';
}

/** Whose address a link verifies. */
export interface Verification {
  readonly user: User;
  readonly email: string;
}

/** @returns undefined when the link is of no use, for whatever reason. Looking changes nothing. */
export async function readVerification({ database: { knex } }: Services, token: string): Promise<Verification | undefined> {
  const found = await findVerification(knex, digest(token), present());
  const user = found && (await findUserById(knex, found.userId));
  return found && user && isOfUse(found, user) ? { user, email: found.email } : undefined;
}

/** The address changed since in another way, or the user has left. */
const isOfUse = ({ email, replaces }: EmailVerification, user: User): boolean =>
  (user.status === 'ACTIVE' || user.status === 'PASSWORD_EXPIRED') && (user.email === email || user.email === replaces);

/**
 * Uses the link up: the address is the user's, and verified. The one before is told, and links that went there end.
 * @returns undefined when the link is of no use, as in `readVerification`, or the address is another user's by now
 */
export async function confirmEmail(services: Services, token: string, request: RequestContext): Promise<Verification | undefined> {
  return services.database.transaction(async (trx) => {
    const now = present();
    const id = digest(token);
    const found = await findVerification(trx, id, now);
    const before = found && (await lockUser(trx, found.userId));
    if (found === undefined || before === undefined || !isOfUse(found, before) || !(await consumeVerification(trx, id, now)))
      return undefined;
    const { email } = found;
    const isNew = email !== before.email;
    if (isNew && (await findTakenNames(trx, { ...before, email })).size > 0) return undefined;
    await updateUser(trx, before.id, { email, emailVerified: true, lastUpdated: now });
    const himself: RequestContext = { ...request, actor: { id: before.id, type: 'User', displayName: before.login } };
    await recordEvent(trx, {
      eventType: 'user.account.update_profile',
      displayMessage: 'User verified e-mail address',
      request: himself,
      targets: [userTarget(before)],
      before: { profile: { email: before.email }, emailVerified: before.emailVerified },
      after: { profile: { email }, emailVerified: true },
    });
    if (isNew) {
      await deleteLinksOf(trx, before.id);
      if (before.email !== null)
        await queueNotice(trx, before.id, 'email-changed', { to: before.email, values: { address: email } }, himself);
    }
    return { user: { ...before, email, emailVerified: true }, email };
  });
}
