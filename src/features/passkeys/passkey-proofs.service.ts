/**
 * Verifies passkey responses as only or second factor. A challenge works once, whatever the result. Passkeys cannot be guessed, so failures are
 * limited by network address only, without locks.
 */
import { present } from '../../platform/clock/clock.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { passkeyMethods, withSecondFactor } from '../second-factors/second-factor.policy.ts';
import { countFailedSignIn, refuseBlockedAddress } from '../sign-in/failure-limits.service.ts';
import type { FirstStep } from '../sign-in/sign-in.service.ts';
import { userTarget } from '../users/user-reach.service.ts';
import type { User } from '../users/users.resource.ts';
import { lockUser } from '../users/users.store.ts';
import type { Passkey } from './passkeys.resource.ts';
import { claimChallenge, type PasskeyResponse, passkeyRelyingParty, readAssertion } from './passkeys.service.ts';
import { findHandle, findPasskey, noteUse, type PasskeyUse } from './passkeys.store.ts';

/** Result of verifying a response. Account status and the use count are checked later. */
export type PasskeyProof =
  | { readonly passkey: Passkey; readonly use: PasskeyUse }
  | {
      readonly passkey: Passkey | undefined;
      readonly refused: 'CHALLENGE_USED' | 'UNKNOWN_PASSKEY' | 'INVALID_PASSKEY';
      /** ID of a credential that belongs to no user, base64url. */
      readonly unknown?: string;
    };

/**
 * @param response undefined: this browser has no pending request for this form
 * @param options.userVerified is user verification required, as for the only factor?
 */
export async function provePasskey(
  services: Services,
  response: PasskeyResponse | undefined,
  options: { readonly userVerified: boolean },
): Promise<PasskeyProof> {
  const party = passkeyRelyingParty(services.config);
  const assertion = party && response && readAssertion(services, party, response);
  if (response === undefined || assertion === undefined) return { passkey: undefined, refused: 'INVALID_PASSKEY' };
  if (!(await claimChallenge(services, response.challenge))) return { passkey: undefined, refused: 'CHALLENGE_USED' };
  const { knex } = services.database;
  const passkey = await findPasskey(knex, assertion.credentialId);
  if (passkey === undefined) return { passkey, refused: 'UNKNOWN_PASSKEY', unknown: assertion.credentialId };
  // WebAuthn section 7.2 step 6: without a request for a certain user, the response names the user.
  const { userHandle } = assertion;
  const isOwnPasskey = userHandle === undefined ? !options.userVerified : userHandle === (await findHandle(knex, passkey.userId));
  const use = isOwnPasskey ? await assertion.verify(passkey, options) : undefined;
  return use === undefined ? { passkey, refused: 'INVALID_PASSKEY' } : { passkey, use };
}

type Refusal = 'CHALLENGE_USED' | 'UNKNOWN_PASSKEY' | 'INVALID_PASSKEY' | 'USER_NOT_ACTIVE' | 'SIGN_COUNT_WENT_BACK';

/** Uses the verified response. @returns why it is refused; undefined: it is accepted */
async function usePasskey(trx: Executor, user: User | undefined, proof: PasskeyProof, now: Date): Promise<Refusal | undefined> {
  if ('refused' in proof) return proof.refused;
  if (user === undefined || proof.passkey.userId !== user.id) return 'UNKNOWN_PASSKEY';
  if (await noteUse(trx, proof.passkey.id, proof.use, now)) return undefined;
  return (await findPasskey(trx, proof.passkey.credentialId)) === undefined ? 'UNKNOWN_PASSKEY' : 'SIGN_COUNT_WENT_BACK';
}

/**
 * First step of a sign-in, which is already multi-factor: possession, and user verification by the authenticator.
 * @returns the first step; otherwise the credential if it is unknown, so that the browser forgets it. The reason for refusing a known passkey is not
 * revealed
 * @throws {TooManyFailures}
 */
export async function signInByPasskey(
  services: Services,
  response: PasskeyResponse | undefined,
  request: RequestContext,
): Promise<FirstStep | { readonly unknown: string | undefined }> {
  await refuseBlockedAddress(services, request.ipAddress);
  const proof = await provePasskey(services, response, { userVerified: true });
  const first = await services.database.transaction((trx) => admit(trx, proof, request));
  if (first !== undefined) return first;
  await countFailedSignIn(services, request.ipAddress);
  return { unknown: 'unknown' in proof ? proof.unknown : undefined };
}

async function admit(trx: Executor, proof: PasskeyProof, request: RequestContext): Promise<FirstStep | undefined> {
  const now = present();
  const user = proof.passkey && (await lockUser(trx, proof.passkey.userId));
  const mayNot = user !== undefined && user.status !== 'ACTIVE' ? 'USER_NOT_ACTIVE' : undefined;
  const refusal = mayNot ?? (await usePasskey(trx, user, proof, now));
  const targets = user === undefined ? [] : [userTarget(user)];
  if (refusal !== undefined || proof.passkey === undefined || user === undefined) {
    await recordEvent(trx, {
      eventType: 'user.authentication.failure',
      displayMessage: 'User login by passkey',
      request,
      targets,
      failure: refusal ?? 'UNKNOWN_PASSKEY',
    });
    return undefined;
  }
  const byUser = { ...request, actor: { id: user.id, type: 'User' as const, displayName: user.login } };
  await recordEvent(trx, { eventType: 'user.authentication.auth_via_mfa', displayMessage: BY_PASSKEY, request: byUser, targets });
  return { user: { id: user.id, login: user.login }, amr: withSecondFactor(passkeyMethods(proof.passkey), []), authenticatedAt: now };
}

const BY_PASSKEY = 'Authentication of user via passkey';

/**
 * Verifies a passkey as second factor of a user who is locked in the transaction.
 * @returns its authentication methods (RFC 8176), undefined if it is not accepted
 */
export async function checkPasskey(
  trx: Executor,
  user: User,
  proof: PasskeyProof,
  request: RequestContext,
): Promise<readonly string[] | undefined> {
  const refusal = await usePasskey(trx, user, proof, present());
  await recordEvent(trx, {
    eventType: 'user.authentication.auth_via_mfa',
    displayMessage: BY_PASSKEY,
    request: { ...request, actor: { id: user.id, type: 'User', displayName: user.login } },
    targets: [userTarget(user)],
    ...(refusal !== undefined && { failure: refusal }),
  });
  return refusal === undefined && proof.passkey !== undefined ? passkeyMethods(proof.passkey) : undefined;
}
