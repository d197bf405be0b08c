/**
 * Verification of e-mail addresses by a mailed link: unguessable, stored as a digest, used once, replaced by the next one (OWASP Input
 * Validation Cheat Sheet, "Email Address Validation"). An address that a user enters becomes theirs only then; one that an administrator
 * enters is theirs immediately, but unverified. The claim `email_verified` has this meaning only (OpenID Connect Core section 5.1).
 */

import { LIFETIMES } from '../../../config/defaults.ts';
import { present } from '../../platform/clock/clock.ts';
import { digest, randomToken } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { composedName } from '../../platform/dns/address-spelling.ts';
import { forbidden, wrongState } from '../../platform/errors/errors.ts';
import { INVISIBLE } from '../../platform/validation/text.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { isMailable } from '../mail/mail.policy.ts';
import { hasMailAddress, notifyFormerAddress, queueMail } from '../mail/mail.service.ts';
import { isMailPossible } from '../mail/mail-route.service.ts';
import { findRequiredProvider } from '../organization-providers/home-realm.store.ts';
import { mayMailAgain } from '../sign-in/failure-limits.service.ts';
import { deleteLinksOf } from '../sign-in/one-time-links.store.ts';
import { consumeVerification, type EmailVerification, findVerification, replaceVerification } from './email-verifications.store.ts';
import { asUser, findVisibleUser, lockChangeableUser, mayChangeUser, userTarget } from './user-reach.service.ts';
import type { User } from './users.resource.ts';
import { findTakenNames, findUserById, lockUser, updateUser } from './users.store.ts';

/**
 * Creates a link that replaces the user's previous one, and queues its e-mail.
 * @param user locked in the transaction
 * @param email recipient
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

/** `sent`: whatever the result, so that it does not reveal other users' addresses. */
/** `provider-required`: the address would bypass the identity provider that the user must sign in with. */
export type VerificationRequest = 'sent' | 'not-possible' | 'not-an-address' | 'too-many' | 'provider-required';

/**
 * A user requests verification of their current address or of a new one. The caller has checked that the sign-in is recent.
 * @param typed the address
 */
export async function requestVerification(
  services: Services,
  userId: string,
  typed: string,
  request: RequestContext,
): Promise<VerificationRequest> {
  if (!(await isMailPossible(services, request))) return 'not-possible';
  const email = composedName(typed);
  if (!isMailable(email) || INVISIBLE.test(email)) return 'not-an-address';
  if (await bypassesProvider(services.database.knex, userId, email)) return 'provider-required';
  if (!(await mayMailAgain(services, userId))) return 'too-many';
  await services.database.transaction(async (trx) => {
    const user = await lockUser(trx, userId);
    if (user?.status !== 'ACTIVE') return;
    await mailVerification(trx, services, user, email, request);
    await recordRequest(trx, user, email, asUser(request, user));
  });
  return 'sent';
}

/** Would this address bypass the identity provider that is currently required of the user? */
async function bypassesProvider(executor: Executor, userId: string, email: string): Promise<boolean> {
  const required = await findRequiredProvider(executor, userId);
  return required !== undefined && (await findRequiredProvider(executor, userId, email))?.id !== required.id;
}

const recordRequest = (trx: Executor, user: User, email: string, request: RequestContext): Promise<string> =>
  recordEvent(trx, {
    eventType: 'user.account.send_verification',
    displayMessage: 'Send mail to verify e-mail address of user',
    request,
    targets: [userTarget(user)],
    after: { email },
  });

/** Does the user have an unverified address, and can they use the link? Does not check whether e-mail is possible. */
export const needsVerification = <U extends Pick<User, 'email' | 'emailVerified' | 'status'>>(
  user: U,
): user is U & { readonly email: string } =>
  hasMailAddress(user) && !user.emailVerified && (user.status === 'ACTIVE' || user.status === 'PASSWORD_EXPIRED');

/**
 * An administrator requests that a user verifies their address.
 * @throws {ApiError} not found, forbidden, wrong state with the reason
 */
export async function sendVerification(services: Services, idOrLogin: string, request: RequestContext): Promise<void> {
  const { database } = services;
  const { id } = await findVisibleUser(database.knex, idOrLogin, request);
  if (!(await mayChangeUser(database.knex, id, request))) throw forbidden();
  if (!(await isMailPossible(services, request))) throw wrongState('this service cannot send e-mail. Set up a mail server first');
  if (!(await mayMailAgain(services, id))) throw wrongState('too many e-mails were sent to this user recently. Try again in an hour');
  await database.transaction(async (trx) => {
    const user = await lockChangeableUser(trx, id, request);
    if (!needsVerification(user)) throw wrongState('the user cannot sign in, or has no e-mail address to verify');
    await mailVerification(trx, services, user, user.email, {});
    await recordRequest(trx, user, user.email, request);
  });
}

/** User and address that a link verifies. */
export interface PendingVerification {
  readonly user: User;
  readonly email: string;
}

/** @returns undefined if the link cannot be used, whatever the reason. Reading changes nothing. */
export async function readVerification({ database: { knex } }: Services, token: string): Promise<PendingVerification | undefined> {
  const found = await findVerification(knex, digest(token), present());
  const user = found && (await findUserById(knex, found.userId));
  return found && user && isOfUse(found, user) ? { user, email: found.email } : undefined;
}

/** The address was changed in another way, or the user is inactive. */
const isOfUse = ({ email, replaces }: EmailVerification, user: User): boolean =>
  (user.status === 'ACTIVE' || user.status === 'PASSWORD_EXPIRED') && (user.email === email || user.email === replaces);

/**
 * Uses the link: the address becomes the user's, verified. The previous one is notified, and links sent there end.
 * @returns undefined if the link cannot be used, as in `readVerification`, or the address belongs to another user now, or would bypass a required
 * provider
 */
export async function confirmEmail(services: Services, token: string, request: RequestContext): Promise<PendingVerification | undefined> {
  return services.database.transaction(async (trx) => {
    const now = present();
    const id = digest(token);
    const found = await findVerification(trx, id, now);
    const before = found && (await lockUser(trx, found.userId));
    if (found === undefined || before === undefined || !isOfUse(found, before) || !(await consumeVerification(trx, id, now)))
      return undefined;
    const { email } = found;
    const isNew = email !== before.email;
    if (isNew && ((await findTakenNames(trx, { ...before, email })).size > 0 || (await bypassesProvider(trx, before.id, email))))
      return undefined;
    await updateUser(trx, before.id, { email, emailVerified: true, lastUpdated: now });
    const byUser: RequestContext = { ...request, actor: { id: before.id, type: 'User', displayName: before.login } };
    await recordEvent(trx, {
      eventType: 'user.account.update_profile',
      displayMessage: 'User verified e-mail address',
      request: byUser,
      targets: [userTarget(before)],
      before: { profile: { email: before.email }, emailVerified: before.emailVerified },
      after: { profile: { email }, emailVerified: true },
    });
    if (isNew) {
      await deleteLinksOf(trx, before.id);
      await notifyFormerAddress(trx, before, email, byUser);
    }
    return { user: { ...before, email, emailVerified: true }, email };
  });
}
