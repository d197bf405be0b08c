/** The second factors of a user, as administrators see and reset them, and as the user manages them. */
import { present } from '../../platform/clock/clock.ts';
import { type Keyring, newId } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { notFound } from '../../platform/errors/errors.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { deleteFactorCodesOf } from '../email-codes/email-codes.store.ts';
import type { MessageFactor } from '../message-factors/message-factors.resource.ts';
import { deleteMessageFactors, listMessageFactors } from '../message-factors/message-factors.store.ts';
import type { Passkey } from '../passkeys/passkeys.resource.ts';
import { deletePasskey, deletePasskeys, listPasskeys } from '../passkeys/passkeys.store.ts';
import { NO_FAILURES } from '../sign-in/lockout.policy.ts';
import { deleteStatesOf } from '../sign-in/sign-in-states.store.ts';
import { deleteTrustedBrowsersOf } from '../trusted-browsers/trusted-browsers.store.ts';
import { findCloselyVisibleUser, lockChangeableUser, userTarget } from '../users/user-reach.service.ts';
import type { User } from '../users/users.resource.ts';
import {
  countRecoveryCodes,
  deleteFactor,
  deleteFactors,
  type Factor,
  hasFactor,
  listFactors,
  replaceRecoveryCodes,
  saveFailedCodes,
} from './factors.store.ts';
import { sealTotpSecret } from './one-time-codes.service.ts';
import { isByEmailAlone } from './second-factor.policy.ts';

/** @param secret base32 */
export function newTotpFactor(keyring: Keyring, userId: string, secret: string): Factor {
  const id = newId('fac');
  return {
    id,
    userId,
    type: 'TOTP',
    name: 'Authenticator app',
    created: present(),
    lastUsed: null,
    sealedSecret: sealTotpSecret(keyring, secret, id),
  };
}

/** An authenticator app, codes that are sent, or a passkey. */
export type SecondFactor = Factor | MessageFactor | (Passkey & { readonly type: 'PASSKEY' });

export const isMessageFactor = (factor: SecondFactor): factor is MessageFactor => 'status' in factor;

/** All factors of a user: the app, sent codes, passkeys; each kind oldest first. Some may not be usable: `listUsableFactors`. */
export async function listSecondFactors(executor: Executor, userId: string): Promise<SecondFactor[]> {
  const passkeys = await listPasskeys(executor, userId);
  return [
    ...(await listFactors(executor, userId)),
    ...(await listMessageFactors(executor, userId)),
    ...passkeys.map((passkey) => ({ ...passkey, type: 'PASSKEY' as const })),
  ];
}

/** Factors that the user can use. @param first methods of the previous step */
export async function listUsableFactors(executor: Executor, userId: string, first: readonly string[]): Promise<SecondFactor[]> {
  return (await listSecondFactors(executor, userId)).filter((factor) => isUsable(factor, first));
}

/** A code by e-mail is not a second factor after a sign-in by e-mail. */
const isUsable = (factor: SecondFactor, first: readonly string[]): boolean =>
  !isMessageFactor(factor) || (factor.status === 'ACTIVE' && !(factor.type === 'EMAIL' && isByEmailAlone(first)));

/** Does the user have a second factor? @param first the methods of a first step that it would follow */
export const isEnrolled = ({ database }: Services, userId: string, first?: readonly string[]): Promise<boolean> =>
  hasFactor(database.knex, userId, first);

/** @throws {ApiError} not found, forbidden */
export async function listUserFactors(
  { database: { knex } }: Services,
  idOrLogin: string,
  request: RequestContext,
): Promise<{ readonly user: User; readonly factors: readonly SecondFactor[] }> {
  const user = await findCloselyVisibleUser(knex, idOrLogin, request);
  return { user, factors: await listSecondFactors(knex, user.id) };
}

/** @throws {ApiError} not found, forbidden */
export async function getUserFactor(
  services: Services,
  idOrLogin: string,
  factorId: string,
  request: RequestContext,
): Promise<{ readonly user: User; readonly factor: SecondFactor }> {
  const { user, factors } = await listUserFactors(services, idOrLogin, request);
  const factor = factors.find(({ id }) => id === factorId);
  if (factor === undefined) throw notFound(factorId, 'Factor');
  return { user, factor };
}

/**
 * An administrator resets a lost factor. Sessions continue: they were authenticated when they started.
 * @throws {ApiError} not found, forbidden
 */
export async function resetUserFactor(services: Services, idOrLogin: string, factorId: string, request: RequestContext): Promise<void> {
  await services.database.transaction(async (trx) => {
    const user = await lockChangeableUser(trx, idOrLogin, request);
    if (!(await removeFactor(trx, user, factorId, request))) throw notFound(factorId, 'Factor');
  });
}

/** Like `resetUserFactor`, for all factors at once. */
export async function resetUserFactors(services: Services, idOrLogin: string, request: RequestContext): Promise<void> {
  await services.database.transaction(async (trx) => {
    await removeFactors(trx, await lockChangeableUser(trx, idOrLogin, request), request);
  });
}

/** @param user locked in the transaction */
export async function removeFactors(trx: Executor, user: User, request: RequestContext): Promise<void> {
  const before = await described(trx, user.id);
  await deleteFactors(trx, user.id);
  await deletePasskeys(trx, user.id);
  await deleteMessageFactors(trx, user.id);
  await deleteFactorCodesOf(trx, user.id);
  await deleteTrustedBrowsersOf(trx, user.id);
  await endWithLastFactor(trx, user.id);
  await recordEvent(trx, {
    eventType: 'user.mfa.factor.reset_all',
    displayMessage: 'Reset all factors for user',
    request,
    targets: [userTarget(user)],
    before,
    after: await described(trx, user.id),
  });
}

/**
 * Removes a factor of the user; with the last one, also the recovery codes.
 * @param user locked in the transaction
 * @returns false if they have no such factor
 */
export async function removeFactor(trx: Executor, user: User, factorId: string, request: RequestContext): Promise<boolean> {
  const before = await described(trx, user.id);
  const removed =
    (await deleteFactor(trx, user.id, factorId)) ||
    (await deleteMessageFactors(trx, user.id, factorId)) ||
    (await deletePasskey(trx, user.id, factorId));
  if (!removed) return false;
  await deleteFactorCodesOf(trx, user.id);
  await deleteTrustedBrowsersOf(trx, user.id);
  if (!(await hasFactor(trx, user.id))) await endWithLastFactor(trx, user.id);
  await recordEvent(trx, {
    eventType: 'user.mfa.factor.deactivate',
    displayMessage: 'Reset factor for user',
    request,
    targets: [userTarget(user)],
    before,
    after: await described(trx, user.id),
  });
  return true;
}

/** Deletes the recovery codes, the count of wrong codes, and pending sign-ins, which must start again. */
async function endWithLastFactor(trx: Executor, userId: string): Promise<void> {
  await replaceRecoveryCodes(trx, userId, [], present());
  await saveFailedCodes(trx, userId, NO_FAILURES);
  await deleteStatesOf(trx, userId);
}

/** For the audit log: the factors without secrets, and the number of recovery codes. */
export async function described(trx: Executor, userId: string) {
  const factors = await listSecondFactors(trx, userId);
  return {
    factors: factors.map(({ id, type, name, created }) => ({ id, type, name, created })),
    recoveryCodes: await countRecoveryCodes(trx, userId),
  };
}
