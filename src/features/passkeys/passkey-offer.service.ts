/**
 * Offers a passkey after a sign-in without one: to everyone if settings/sign-in says so, otherwise to users without a password who could not easily
 * sign in again. The sign-in is already complete and recorded; it continues after the user's choice. Users who decline are not asked again.
 */
import { present } from '../../platform/clock/clock.ts';
import { digest, randomToken } from '../../platform/crypto/secrets.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { hasFactor } from '../second-factors/factors.store.ts';
import { isMultiFactor } from '../second-factors/second-factor.policy.ts';
import { currentSettings } from '../settings/settings-cache.service.ts';
import { deleteState, insertState } from '../sign-in/sign-in-states.store.ts';
import { finishSteps, type Goal, InvalidStateToken, inStep, inTenMinutes, type SignInStep } from '../sign-in/sign-in-steps.service.ts';
import { asUser, userTarget } from '../users/user-reach.service.ts';
import { passkeyRelyingParty } from './passkeys.service.ts';
import { declineOffer, findOfferFacts } from './passkeys.store.ts';

type Done = SignInStep & { readonly kind: 'done' };

/** Not after a sign-in by passkey (RFC 8176, `user`), and not after one at an identity provider. */
async function mayOffer(services: Services, { accountId, amr, idp }: Done): Promise<boolean> {
  const { methods, passkeyOffer, passwordOptional } = await currentSettings(services, 'sign-in');
  const isPossible = methods.includes('passkey') && passkeyRelyingParty(services.config) !== undefined;
  if (!isPossible || idp !== undefined || amr.includes('user')) return false;
  const isNeeded = !amr.includes('pwd') && (passwordOptional || !methods.includes('email'));
  if (!passkeyOffer && !isNeeded) return false;
  const facts = await findOfferFacts(services.database.knex, accountId);
  if (facts === undefined || facts.hasPasskey || facts.declined || (!passkeyOffer && facts.hasPassword)) return false;
  // As on the account page: only a user who has used the existing factor may add another.
  return isMultiFactor(amr) || !(await hasFactor(services.database.knex, accountId, amr));
}

/** Holds a completed sign-in until the user accepts or declines the offer. @returns its state token; undefined: no passkey is offered */
export async function offerPasskey(
  services: Services,
  done: Done,
  place: string,
  { device }: Pick<RequestContext, 'device'>,
): Promise<string | undefined> {
  if (!(await mayOffer(services, done))) return undefined;
  const stateToken = randomToken();
  await insertState(services.database.knex, {
    id: digest(stateToken),
    userId: done.accountId,
    place: digest(place),
    deviceHash: device === undefined ? null : digest(device),
    next: 'OFFER',
    amr: done.amr,
    authenticatedAt: done.authenticatedAt ?? present(),
    idp: null,
    // The sign-in is already recorded, with its time.
    stepsUp: true,
    attempts: 0,
    sealedSecret: null,
    expiresAt: inTenMinutes(),
  });
  return stateToken;
}

/**
 * Completes the sign-in without a passkey.
 * @param options.forGood false: this browser does not support it; the offer is repeated
 * @throws {InvalidStateToken}
 */
export async function refuseOffer(
  services: Services,
  stateToken: string,
  goal: Goal,
  { forGood }: { readonly forGood: boolean },
  request: RequestContext,
): Promise<Done> {
  return inStep(services, stateToken, { ...request, place: goal.place }, 'OFFER', async (trx, state, user) => {
    if (!(await deleteState(trx, state.id))) throw new InvalidStateToken();
    if (forGood && (await declineOffer(trx, user.id, present()))) {
      const [displayMessage, targets] = ['User declined a passkey', [userTarget(user)]];
      await recordEvent(trx, { eventType: 'user.mfa.passkey_offer.decline', displayMessage, request: asUser(request, user), targets });
    }
    return finishSteps(services, trx, user, state.amr, { ...state, purpose: goal }, request);
  });
}
