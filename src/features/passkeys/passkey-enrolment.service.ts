/**
 * A user creates a passkey: at a sign-in that requires a second factor, or on their account page. With their first factor they get recovery codes.
 */
import { LIFETIMES } from '../../../config/defaults.ts';
import { present } from '../../platform/clock/clock.ts';
import { newId, randomToken } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { text } from '../../platform/validation/text.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { fullName } from '../claims/claims.policy.ts';
import { described } from '../second-factors/factors.service.ts';
import { hasFactor } from '../second-factors/factors.store.ts';
import { newRecoveryCodes } from '../second-factors/one-time-codes.service.ts';
import { isMultiFactor, passkeyMethods, withSecondFactor } from '../second-factors/second-factor.policy.ts';
import { readSettings } from '../settings/settings.service.ts';
import { updateState } from '../sign-in/sign-in-states.store.ts';
import { InvalidStateToken, inStep } from '../sign-in/sign-in-steps.service.ts';
import { deleteTrustedBrowsersOf } from '../trusted-browsers/trusted-browsers.store.ts';
import { userTarget } from '../users/user-reach.service.ts';
import type { User } from '../users/users.resource.ts';
import { lockUser } from '../users/users.store.ts';
import type { Passkey } from './passkeys.resource.ts';
import {
  claimChallenge,
  creationOptions,
  type MadePasskey,
  type PasskeyResponse,
  passkeyRelyingParty,
  verifyCreation,
} from './passkeys.service.ts';
import { findHandle, insertPasskey, keepHandle, listPasskeys } from './passkeys.store.ts';

/** Limit per user. */
const MOST_PASSKEYS = 20;
export const LONGEST_NAME = 100;
/** Name given by the user. */
export const passkeyName = text({ least: 1, most: LONGEST_NAME });

/** A new passkey, as it was sent. */
export interface Registration {
  /** undefined: this browser has no pending request for this form. */
  readonly response: PasskeyResponse | undefined;
  /** Name as entered by the user; without storable characters: `defaultName`. */
  readonly name: string;
  readonly defaultName: string;
}

/** @returns options for creating a passkey, JSON; undefined if passkeys are unavailable, or the user has the maximum */
export async function passkeyCreation(services: Services, user: User, challenge: string): Promise<string | undefined> {
  const party = passkeyRelyingParty(services.config);
  const { knex } = services.database;
  const passkeys = await listPasskeys(knex, user.id);
  if (party === undefined || passkeys.length >= MOST_PASSKEYS) return undefined;
  const handle = (await findHandle(knex, user.id)) ?? (await keepHandle(knex, user.id, randomToken()));
  const { name: service } = await readSettings(services, 'branding');
  return creationOptions(party, challenge, { login: user.login, name: fullName(user.profile) ?? '', handle, passkeys }, service);
}

/** @returns the new passkey; undefined: invalid response */
async function checkRegistration(
  services: Services,
  response: PasskeyResponse | undefined,
  options: { readonly byItself?: boolean } = {},
): Promise<MadePasskey | undefined> {
  const party = passkeyRelyingParty(services.config);
  if (party === undefined || response === undefined || !(await claimChallenge(services, response.challenge))) return undefined;
  return verifyCreation(services, party, response, options);
}

/**
 * At a sign-in with this pending step; then only its completion remains.
 * @param next is the passkey required, or offered after the sign-in? A password manager may create an offered one automatically; it then does not
 * count as used
 * @returns the recovery codes, shown only this once; undefined if the passkey was not created
 * @throws {InvalidStateToken}
 */
export async function enrolPasskey(
  services: Services,
  stateToken: string,
  registration: Registration,
  place: string,
  request: RequestContext,
  next: 'ENROLL' | 'OFFER' = 'ENROLL',
): Promise<readonly string[] | undefined> {
  const made = await checkRegistration(services, registration.response, { byItself: next === 'OFFER' });
  if (made === undefined) return undefined;
  return inStep(services, stateToken, { ...request, place }, next, async (trx, state, user) => {
    // The user has enrolled a factor in another window meanwhile: this sign-in must be started again with that factor.
    if (!isMultiFactor(state.amr) && (await hasFactor(trx, user.id, state.amr))) throw new InvalidStateToken();
    const added = await addPasskey(trx, user, made, registration, request);
    if (added === undefined) return undefined;
    const expiresAt = new Date(present().getTime() + LIFETIMES.signInStep * 1000);
    const amr = made.userVerified ? withSecondFactor(state.amr, added.methods) : state.amr;
    await updateState(trx, state.id, { next: 'FINISH', amr, sealedSecret: null, expiresAt });
    return added.recoveryCodes;
  });
}

export interface AddedPasskey {
  /** Authentication methods of the passkey (RFC 8176); it was used just now. */
  readonly methods: readonly string[];
  /** Shown only this once; none if the user had a factor before. */
  readonly recoveryCodes: readonly string[];
}

/**
 * On the user's account page.
 * @param options.amr of their session, which must include a second factor if they have one
 * @returns undefined if the passkey was not created
 */
export async function addOwnPasskey(
  services: Services,
  userId: string,
  registration: Registration,
  { amr }: { readonly amr: readonly string[] },
  request: RequestContext,
): Promise<AddedPasskey | undefined> {
  const made = await checkRegistration(services, registration.response);
  if (made === undefined) return undefined;
  return services.database.transaction(async (trx) => {
    const user = await lockUser(trx, userId);
    if (user?.status !== 'ACTIVE' || (!isMultiFactor(amr) && (await hasFactor(trx, userId, amr)))) return undefined;
    return addPasskey(trx, user, made, registration, request);
  });
}

/** @param user locked in the transaction @returns undefined if it already belongs to a user, or the user has the maximum */
async function addPasskey(
  trx: Executor,
  user: User,
  made: MadePasskey,
  { name, defaultName }: Registration,
  request: RequestContext,
): Promise<AddedPasskey | undefined> {
  const { signCount, userVerified: _verified, ...credential } = made;
  const before = await described(trx, user.id);
  const isFirst = !(await hasFactor(trx, user.id));
  if ((await listPasskeys(trx, user.id)).length >= MOST_PASSKEYS) return undefined;
  const passkey: Passkey = {
    ...credential,
    id: newId('fac'),
    userId: user.id,
    name: passkeyName.safeParse(name).data ?? defaultName,
    created: present(),
    lastUsed: null,
  };
  if (!(await insertPasskey(trx, passkey, signCount))) return undefined;
  await deleteTrustedBrowsersOf(trx, user.id);
  const recoveryCodes = isFirst ? await newRecoveryCodes(trx, user.id) : [];
  await recordEvent(trx, {
    eventType: 'user.mfa.factor.activate',
    displayMessage: 'Activate factor for user',
    request: { ...request, actor: { id: user.id, type: 'User', displayName: user.login } },
    targets: [userTarget(user)],
    before,
    after: await described(trx, user.id),
  });
  return { methods: passkeyMethods(passkey), recoveryCodes };
}
