/** The second factors of a user, as the user manages them. The caller has checked that the sign-in is fresh. */
import { LIFETIMES } from '../../../config/defaults.ts';
import { present } from '../../platform/clock/clock.ts';
import { digest, randomToken } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { isPrintable } from '../../platform/validation/text.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { queueNotice } from '../mail/mail.service.ts';
import { passkeyName } from '../passkeys/passkey-enrolment.service.ts';
import type { Passkey } from '../passkeys/passkeys.resource.ts';
import { listPasskeys, renamePasskey } from '../passkeys/passkeys.store.ts';
import { insertState } from '../sign-in/sign-in-states.store.ts';
import { waysToSignIn } from '../sign-in/ways-to-sign-in.service.ts';
import { deleteTrustedBrowsersOf } from '../trusted-browsers/trusted-browsers.store.ts';
import { asUser, userTarget } from '../users/user-reach.service.ts';
import type { User } from '../users/users.resource.ts';
import { findUserById, lockUser } from '../users/users.store.ts';
import { described, isMessageFactor, listSecondFactors, removeFactor, type SecondFactor } from './factors.service.ts';
import { countRecoveryCodes, hasFactor } from './factors.store.ts';
import { newRecoveryCodes, newTotpSecret, sealTotpSecret } from './one-time-codes.service.ts';

export interface OwnFactors {
  readonly user: User;
  readonly factors: readonly SecondFactor[];
  /** Number of unused codes. */
  readonly recoveryCodes: number;
  /** The passkey that is their only way to sign in. */
  readonly onlyWay: string | undefined;
}

/** @returns undefined if there is no such user */
export async function ownFactors(services: Services, userId: string, request: RequestContext): Promise<OwnFactors | undefined> {
  const { knex } = services.database;
  const user = await findUserById(knex, userId);
  if (user === undefined) return undefined;
  const all = await listSecondFactors(knex, userId);
  // A factor that an administrator has started to set up does not count yet.
  const factors = all.filter((factor) => !isMessageFactor(factor) || factor.status !== 'PENDING_ACTIVATION');
  return {
    user,
    factors,
    recoveryCodes: await countRecoveryCodes(knex, userId),
    onlyWay: await onlyPasskey(services, knex, user, request),
  };
}

/** Starts setting up an authenticator app; `confirmEnrolment` completes it. @returns the state token, valid only at this place */
export async function beginEnrolment({ database, keyring }: Services, userId: string, place: string): Promise<string> {
  const stateToken = randomToken();
  const id = digest(stateToken);
  const now = present();
  await insertState(database.knex, {
    id,
    userId,
    place: digest(place),
    deviceHash: null,
    next: 'ENROLL',
    amr: [],
    idp: null,
    authenticatedAt: now,
    stepsUp: false,
    attempts: 0,
    sealedSecret: sealTotpSecret(keyring, newTotpSecret(), id),
    expiresAt: new Date(now.getTime() + LIFETIMES.signInStep * 1000),
  });
  return stateToken;
}

/** @returns the new codes, shown only this once; undefined if the user has no factor to recover */
export async function replaceOwnRecoveryCodes(
  { database }: Services,
  userId: string,
  request: RequestContext,
): Promise<readonly string[] | undefined> {
  return database.transaction(async (trx) => {
    const user = await lockUser(trx, userId);
    if (user === undefined || !(await hasFactor(trx, userId))) return undefined;
    const before = await described(trx, userId);
    const codes = await newRecoveryCodes(trx, userId);
    await deleteTrustedBrowsersOf(trx, userId);
    const byUser = asUser(request, user);
    await queueNotice(trx, userId, 'recovery-codes-replaced', {}, byUser);
    await recordEvent(trx, {
      eventType: 'user.mfa.factor.update',
      displayMessage: 'Create new recovery codes for user',
      request: byUser,
      targets: [userTarget(user)],
      before,
      after: await described(trx, userId),
    });
    return codes;
  });
}

/** @returns the passkey that is the user's only way to sign in */
async function onlyPasskey(services: Services, executor: Executor, user: User, request: RequestContext): Promise<string | undefined> {
  const ways = await waysToSignIn(services, executor, user, request);
  const [passkey, another] = ways.flatMap((way) => (way.kind === 'passkey' ? [way.id] : []));
  if (passkey === undefined || another !== undefined) return undefined;
  return (await waysToSignIn(services, executor, user, request, passkey)).length === 0 ? passkey : undefined;
}

/** @returns false when they have no such factor, or cannot sign in without it */
export async function removeOwnFactor(services: Services, userId: string, factorId: string, request: RequestContext): Promise<boolean> {
  return services.database.transaction(async (trx) => {
    const user = await lockUser(trx, userId);
    if (user === undefined || !isPrintable(factorId) || (await onlyPasskey(services, trx, user, request)) === factorId) return false;
    return removeFactor(trx, user, factorId, asUser(request, user));
  });
}

/** The user's passkey with this ID; undefined: it is not theirs. */
export async function findOwnPasskey({ database: { knex } }: Services, userId: string, factorId: string): Promise<Passkey | undefined> {
  return (await listPasskeys(knex, userId)).find(({ id }) => id === factorId);
}

/**
 * Gives a passkey another name.
 * @returns `wrong`: it cannot be stored; `none`: the user has no such passkey
 */
export async function renameOwnPasskey(
  { database }: Services,
  userId: string,
  { id, name: typed }: { readonly id: string; readonly name: string },
  request: RequestContext,
): Promise<'renamed' | 'wrong' | 'none'> {
  const name = passkeyName.safeParse(typed).data;
  return database.transaction(async (trx) => {
    const user = await lockUser(trx, userId);
    const passkey = (await listPasskeys(trx, userId)).find((each) => each.id === id);
    if (user === undefined || passkey === undefined) return 'none';
    if (name === undefined) return 'wrong';
    if (name === passkey.name) return 'renamed';
    const before = await described(trx, userId);
    await renamePasskey(trx, userId, id, name);
    await recordEvent(trx, {
      eventType: 'user.mfa.factor.update',
      displayMessage: 'User named a passkey',
      request: asUser(request, user),
      targets: [userTarget(user)],
      before,
      after: await described(trx, userId),
    });
    return 'renamed';
  });
}
