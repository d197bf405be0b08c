/** Sign-in by a code sent by e-mail, in place of the password. It verifies that the mailbox is the user's, and counts as one factor. */
import { present } from '../../platform/clock/clock.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { hasMailAddress, queueMail } from '../mail/mail.service.ts';
import { isMailPossible } from '../mail/mail-route.service.ts';
import { currentSettings } from '../settings/settings-cache.service.ts';
import { isKnownDevice } from '../sign-in/failed-sign-ins.store.ts';
import { countCodeRequest, mayMailCode } from '../sign-in/failure-limits.service.ts';
import type { FirstStep } from '../sign-in/sign-in.service.ts';
import { onlyProviderOf } from '../sign-in/ways-to-sign-in.service.ts';
import { acceptInvitation } from '../users/user-lifecycle.service.ts';
import { asUser, userTarget } from '../users/user-reach.service.ts';
import type { User } from '../users/users.resource.ts';
import { findUserByName, lockUser, updateUser } from '../users/users.store.ts';
import { beginCode, type CodePlace, mailCode, type OpenCode, redeemed } from './email-codes.service.ts';
import { deleteCode } from './email-codes.store.ts';

/** amr of a sign-in by e-mail code (RFC 8176 section 2). */
export const EMAIL_AMR: readonly string[] = ['otp'];

/** Can users sign in by e-mail? @param request absent: outside of a request */
export async function isEmailMethod(services: Services, request: Pick<RequestContext, 'isForwarded'>): Promise<boolean> {
  return (await currentSettings(services, 'sign-in')).methods.includes('email') && (await isMailPossible(services, request));
}

/**
 * Stores a request to sign in by e-mail.
 * @param name user name or e-mail address, as entered
 * @returns the browser's token
 * @throws {TooManyFailures} the network has sent too many requests
 */
export async function requestSignInCode(
  services: Services,
  place: CodePlace,
  name: string,
  request: RequestContext,
  replaces: string,
): Promise<string> {
  await countCodeRequest(services, request.ipAddress);
  return beginCode(services, { ...place, purpose: 'SIGN_IN', name }, request, replaces);
}

/** Looks up the user and queues the e-mail. @returns whether a code is sent */
export async function mailSignInCode(services: Services, code: OpenCode, request: RequestContext): Promise<boolean> {
  const { knex } = services.database;
  const named = await findUserByName(knex, code.content.name.trim());
  const { deviceHash } = code.row;
  const isKnown = named !== undefined && (await isKnownDevice(knex, named.id, deviceHash, present()));
  const isTooMany = named !== undefined && !(await mayMailCode(services, named.id, isKnown ? deviceHash : undefined));
  return services.database.transaction(async (trx) => {
    const user = named && (await lockUser(trx, named.id));
    const limit = isTooMany ? 'TOO_MANY_REQUESTS' : undefined;
    const failure = user === undefined ? 'UNKNOWN_USER' : (limit ?? (await mailTo(trx, services, user, code, request)));
    await recordEvent(trx, {
      eventType: 'system.email.send_factor_verify_message',
      displayMessage: 'Send code by e-mail',
      request,
      // Input for unknown users is never logged.
      targets: user === undefined ? [] : [userTarget(user)],
      ...(failure !== undefined && { failure }),
    });
    return failure === undefined;
  });
}

const maySignIn = ({ status }: User): boolean => status === 'ACTIVE' || status === 'PROVISIONED';

/** @returns the reason why no code is sent; undefined: it is queued */
async function mailTo(trx: Executor, services: Services, user: User, code: OpenCode, request: RequestContext): Promise<string | undefined> {
  if (!maySignIn(user)) return 'USER_NOT_ACTIVE';
  if (!hasMailAddress(user)) return 'NO_EMAIL_ADDRESS';
  const provider = await onlyProviderOf(trx, user);
  if (provider !== undefined) {
    await queueMail(trx, services.keyring, user, 'password-elsewhere', { to: user.email, values: { provider } }, request);
    return 'IDENTITY_PROVIDER_ONLY';
  }
  const letter = await mailCode(trx, services, code, { address: user.email, user });
  if (letter === undefined) return 'EXPIRED';
  await queueMail(trx, services.keyring, user, 'sign-in-code', letter, request);
  return undefined;
}

/**
 * Uses a correct code. The address is now verified, and an invitation is accepted.
 * @returns the first step; undefined if the code was used before, or the user can no longer sign in
 */
export async function signInByCode(services: Services, code: OpenCode, request: RequestContext): Promise<FirstStep | undefined> {
  const { row } = code;
  return services.database.transaction(async (trx) => {
    const found = row.userId === null || row.purpose !== 'SIGN_IN' ? undefined : await lockUser(trx, row.userId);
    if (found === undefined || !(await deleteCode(trx, row.id))) return undefined;
    const failure = !maySignIn(found) ? 'USER_NOT_ACTIVE' : found.email !== row.mailedTo ? 'NO_EMAIL_ADDRESS' : undefined;
    await recordEvent(trx, { ...redeemed(code, request), ...(failure !== undefined && { failure }) });
    if (failure !== undefined) return undefined;
    const userContext = asUser(request, found);
    const user = await acceptInvitation(trx, found, userContext);
    if (!user.emailVerified) await verifyAddress(trx, user, userContext);
    return { user: { id: user.id, login: user.login, profile: user.profile }, amr: EMAIL_AMR, authenticatedAt: present() };
  });
}

async function verifyAddress(trx: Executor, user: User, request: RequestContext): Promise<void> {
  await updateUser(trx, user.id, { emailVerified: true, lastUpdated: present() });
  await recordEvent(trx, {
    eventType: 'user.account.update_profile',
    displayMessage: 'User verified e-mail address',
    request,
    targets: [userTarget(user)],
    before: { emailVerified: false },
    after: { emailVerified: true },
  });
}
