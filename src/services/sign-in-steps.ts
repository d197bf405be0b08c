/**
 * A sign-in as steps: what follows once a password or an identity provider has proved who somebody is. Either nothing, or a second factor, or
 * the enrolment of one (OWASP Multifactor Authentication Cheat Sheet). A state token carries the sign-in from step to step, at one place, for ten minutes.
 */
import { LIFETIMES } from '../../config/defaults.ts';
import { present } from '../clock.ts';
import { isMultiFactor, withSecondFactor } from '../policy/second-factor.ts';
import { digest, randomToken } from '../secrets.ts';
import { type Factor, hasFactor, insertFactor, listFactors } from '../store/factors.ts';
import { deleteState, findState, insertState, lockState, type SignInState, updateState } from '../store/sign-in-states.ts';
import { findUserById, lockUser, type User } from '../store/users.ts';
import { type RequestContext, recordEvent } from './audit.ts';
import type { Services } from './dependencies.ts';
import { checkProof, type Proof } from './factor-proofs.ts';
import { newTotpFactor } from './factors.ts';
import { countFailedSignIn, refuseBarredAddress } from './failure-limits.ts';
import { newRecoveryCodes } from './recovery-codes.ts';
import { isSecondFactorDemanded } from './second-factor-demand.ts';
import { newTotpSecret, openTotpSecret, sealTotpSecret, stepOfCode } from './totp.ts';
import { userTarget } from './user-reach.ts';

/** What a password or an identity provider has proved. */
export interface FirstStep {
  readonly user: { readonly id: string; readonly login: string };
  /** How (RFC 8176); with `mfa` no second factor is asked for. */
  readonly amr: readonly string[];
  readonly authenticatedAt: Date;
  /** The external provider that has proved it. */
  readonly idp?: string | null | undefined;
  /** A session that stands is to become stronger: its time of sign-in stays (OpenID Connect Core section 2, `auth_time`). */
  readonly stepsUp?: boolean | undefined;
}

/** What the sign-in is for. */
export interface Demand {
  readonly applicationId?: string | undefined;
  /** Requested authentication context classes, the best first. */
  readonly acrValues?: readonly string[] | undefined;
  /** Where the sign-in goes on: its state token is worth nothing elsewhere. */
  readonly place: string;
  /** Can a factor be enrolled there? Where not, the sign-in ends with what was proved, and the authorize endpoint asks for the rest. */
  readonly enrolls: boolean;
}

export type SignInStep =
  | {
      readonly kind: 'done';
      readonly accountId: string;
      readonly amr: readonly string[];
      /** undefined: now. */
      readonly authenticatedAt?: Date | undefined;
      /** The external provider of the first step. */
      readonly idp?: string | undefined;
    }
  | { readonly kind: 'factor'; readonly stateToken: string; readonly factors: readonly Factor[]; readonly expiresAt: Date }
  | { readonly kind: 'enroll'; readonly stateToken: string };

/** The state token is unknown, was used, belongs elsewhere, has expired, or saw too many wrong codes. */
export class StepGone extends Error {
  override readonly name = 'StepGone';
}

/** Wrong codes that end a state token. */
const MOST_ATTEMPTS = 5;

/** The place stands there as a digest, too: the address of an interaction is not for everyone. */
const keyOf = (stateToken: string, place: string) => ({ id: digest(stateToken), place: digest(place) });

const done = (userId: string, amr: readonly string[], first: Pick<FirstStep, 'stepsUp' | 'authenticatedAt' | 'idp'>): SignInStep => ({
  kind: 'done',
  accountId: userId,
  amr,
  authenticatedAt: first.stepsUp ? first.authenticatedAt : undefined,
  idp: first.idp ?? undefined,
});

/** Decides what comes next. */
export async function afterFirstStep(services: Services, first: FirstStep, demand: Demand): Promise<SignInStep> {
  const { user, amr, authenticatedAt, stepsUp = false, idp = null } = first;
  if (isMultiFactor(amr)) return done(user.id, amr, first);
  const factors = await listFactors(services.database.knex, user.id);
  if (factors.length === 0 && !(demand.enrolls && (await isSecondFactorDemanded(services, user.id, demand))))
    return done(user.id, amr, first);

  const stateToken = randomToken();
  const id = digest(stateToken);
  const expiresAt = new Date(present().getTime() + LIFETIMES.signInStep * 1000);
  const state = { id, userId: user.id, place: digest(demand.place), amr, authenticatedAt, idp, stepsUp, attempts: 0, expiresAt };
  const enrols = factors.length === 0;
  await insertState(services.database.knex, {
    ...state,
    next: enrols ? 'ENROLL' : 'FACTOR',
    sealedSecret: enrols ? sealTotpSecret(services.keyring, newTotpSecret(), id) : null,
  });
  return enrols ? { kind: 'enroll', stateToken } : { kind: 'factor', stateToken, factors, expiresAt };
}

export interface PendingStep {
  readonly next: SignInState['next'];
  readonly user: User;
  readonly factors: readonly Factor[];
  /** Of the factor that is being enrolled, base32. */
  readonly secret: string | undefined;
}

/** @returns where the sign-in stands; undefined when the token is worth nothing at this place */
export async function readStep(services: Services, stateToken: string, place: string): Promise<PendingStep | undefined> {
  const { knex } = services.database;
  const state = await findState(knex, keyOf(stateToken, place), present());
  const user = state && (await findUserById(knex, state.userId));
  if (state === undefined || user?.status !== 'ACTIVE') return undefined;
  const secret = state.sealedSecret === null ? undefined : openTotpSecret(services.keyring, state.sealedSecret, state.id);
  return { next: state.next, user, factors: await listFactors(knex, user.id), secret };
}

/**
 * Checks the second factor; of many uses of one code, or of one state token, one succeeds.
 * @returns undefined when it is wrong, or the user's codes are locked
 * @throws {StepGone}
 * @throws {TooManyFailures}
 */
export async function verifyFactor(
  services: Services,
  stateToken: string,
  proof: Proof,
  place: string,
  request: RequestContext,
): Promise<SignInStep | undefined> {
  await refuseBarredAddress(services, request.ipAddress);
  const step = await inStep(services, stateToken, place, 'FACTOR', async (trx, state, user) => {
    const amr = await checkProof({ ...services, trx }, user, proof, request);
    if (amr !== undefined) {
      await deleteState(trx, state.id);
      return done(user.id, withSecondFactor(state.amr, amr), state);
    }
    if (state.attempts + 1 >= MOST_ATTEMPTS) await deleteState(trx, state.id);
    else await updateState(trx, state.id, { attempts: state.attempts + 1 });
    return undefined;
  });
  if (step === undefined) await countFailedSignIn(services, request.ipAddress);
  return step;
}

/**
 * Confirms the factor that is being enrolled by its first code; the sign-in then only has to be finished.
 * @returns the recovery codes, to be shown this once; undefined when the code is wrong
 * @throws {StepGone}
 */
export async function confirmEnrolment(
  services: Services,
  stateToken: string,
  passCode: string,
  place: string,
  request: RequestContext,
): Promise<readonly string[] | undefined> {
  return inStep(services, stateToken, place, 'ENROLL', async (trx, state, user) => {
    // Enrolled meanwhile, in another window: this sign-in must be begun anew, and prove that factor.
    if (state.sealedSecret === null || (await hasFactor(trx, user.id))) throw new StepGone();
    const secret = openTotpSecret(services.keyring, state.sealedSecret, state.id);
    const step = stepOfCode(secret, passCode, present());
    if (step === undefined) return undefined;
    const factor = newTotpFactor(services.keyring, user.id, secret);
    await insertFactor(trx, factor, step);
    const codes = await newRecoveryCodes(trx, user.id);
    const expiresAt = new Date(present().getTime() + LIFETIMES.signInStep * 1000);
    await updateState(trx, state.id, { next: 'FINISH', amr: withSecondFactor(state.amr, ['otp']), sealedSecret: null, expiresAt });
    await recordEvent(trx, {
      eventType: 'user.mfa.factor.activate',
      displayMessage: 'Activate factor for user',
      request: { ...request, actor: userTarget(user) as RequestContext['actor'] },
      targets: [userTarget(user)],
      after: { id: factor.id, type: factor.type, recoveryCodes: codes.length },
    });
    return codes;
  });
}

/** Goes on after an enrolment. @throws {StepGone} */
export const finishEnrolment = (services: Services, stateToken: string, place: string): Promise<SignInStep> =>
  inStep(services, stateToken, place, 'FINISH', async (trx, state, user) => {
    await deleteState(trx, state.id);
    return done(user.id, state.amr, state);
  });

/** The user begins anew. */
export async function abandonStep(services: Services, stateToken: string): Promise<void> {
  await deleteState(services.database.knex, digest(stateToken));
}

/** Runs a step with its user and its state locked, in this order. @throws {StepGone} */
async function inStep<T>(
  { database }: Services,
  stateToken: string,
  place: string,
  next: SignInState['next'],
  run: (trx: Parameters<typeof lockState>[0], state: SignInState, user: User) => Promise<T>,
): Promise<T> {
  const key = keyOf(stateToken, place);
  return database.transaction(async (trx) => {
    const found = await findState(trx, key, present());
    const user = found && (await lockUser(trx, found.userId));
    const state = await lockState(trx, key, present());
    if (state === undefined || user?.status !== 'ACTIVE' || state.next !== next) throw new StepGone();
    return run(trx, state, user);
  });
}
