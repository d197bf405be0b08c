/**
 * Steps of a sign-in after a password or identity provider: the second factor of users who have one, then a replacement for an expired
 * password (expired-passwords.service.ts), then the enrolment of a required factor (OWASP Multifactor Authentication Cheat Sheet). A state
 * token represents the sign-in between steps, at one place, for ten minutes. The last step records the sign-in.
 */
import { LIFETIMES } from '../../../config/defaults.ts';
import { present } from '../../platform/clock/clock.ts';
import { digest, randomToken } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { factorCodeKey } from '../message-factors/factor-codes.service.ts';
import { enforceRequiredProvider } from '../organization-providers/home-realm.service.ts';
import { checkFactorProof, type Proof } from '../second-factors/factor-proofs.service.ts';
import { listUsableFactors, type SecondFactor } from '../second-factors/factors.service.ts';
import { newTotpSecret, openTotpSecret, sealTotpSecret } from '../second-factors/one-time-codes.service.ts';
import { isMultiFactor, withSecondFactor } from '../second-factors/second-factor.policy.ts';
import { isFactorRequiredByPolicy, type Purpose, readRequirement } from '../second-factors/second-factor-requirement.service.ts';
import { readPasswordPolicy } from '../settings/settings.service.ts';
import { admitSignIn } from '../sign-in-rules/sign-in-rules.service.ts';
import { type GivenTrust, trustBrowser, useTrust } from '../trusted-browsers/trusted-browsers.service.ts';
import type { User } from '../users/users.resource.ts';
import { findUserById, isUnchanged, lockUser } from '../users/users.store.ts';
import { isKnownDevice } from './failed-sign-ins.store.ts';
import { countFailedSignIn, limitUnlessKnown, refuseBlockedAddress } from './failure-limits.service.ts';
import { type FirstStep, isExpired, noteSignIn, PASSWORD_AMR, type PasswordCheck } from './sign-in.service.ts';
import { deleteState, deleteStatesOf, findState, insertState, lockState, type SignInState, updateState } from './sign-in-states.store.ts';

/** @returns the first step after a correct password */
export const byPassword = (checked: PasswordCheck): FirstStep =>
  checked.kind === 'right'
    ? { user: checked.user, amr: PASSWORD_AMR, authenticatedAt: checked.user.authenticatedAt, isDone: checked.isDone }
    : { user: checked.user, amr: PASSWORD_AMR, authenticatedAt: present(), expired: checked.user };

/** Purpose and place of the sign-in. */
export interface Goal {
  readonly applicationId?: string | undefined;
  /** Requested authentication context classes, best first. */
  readonly acrValues?: readonly string[] | undefined;
  /** Place of the sign-in; its state token is refused elsewhere. */
  readonly place: string;
  /** Can a factor be enrolled there? If not, the sign-in ends, and the authorize endpoint requires the rest. */
  readonly enrolls: boolean;
  /** Is the sign-in for a change of the user's own data? Then a trusted browser does not replace the second factor. */
  readonly isFresh?: boolean;
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
      /** The user's profile, if it was just read. */
      readonly profile?: User['profile'] | undefined;
      /** Trust token for the browser. */
      readonly trust?: GivenTrust | undefined;
    }
  | { readonly kind: 'factor'; readonly stateToken: string; readonly factors: readonly SecondFactor[]; readonly expiresAt: Date }
  | { readonly kind: 'password'; readonly stateToken: string; readonly expiresAt: Date }
  | { readonly kind: 'enroll'; readonly stateToken: string };

/** The state token is unknown, used, of another place, expired, or had too many wrong codes; or the password was changed meanwhile. */
export class InvalidStateToken extends Error {
  override readonly name = 'InvalidStateToken';
}

/** Maximum wrong codes of a state token. */
const MOST_ATTEMPTS = 5;

/** The place is also stored as a digest: interaction URLs are confidential. */
const keyOf = (stateToken: string, place: string, device: string | undefined) => ({
  id: digest(stateToken),
  place: digest(place),
  deviceHash: device === undefined ? null : digest(device),
});

/** After the last step. A strengthened session has already been recorded. */
export async function finishSteps(
  services: Pick<Services, 'config' | 'log'>,
  trx: Executor,
  user: FirstStep['user'],
  amr: readonly string[],
  first: Pick<FirstStep, 'stepsUp' | 'authenticatedAt' | 'idp'> & {
    readonly purpose?: Purpose | undefined;
    readonly trustedBrowser?: true;
  },
  request: RequestContext,
): Promise<SignInStep & { readonly kind: 'done' }> {
  const { purpose, trustedBrowser } = first;
  if (!first.stepsUp) await noteSignIn(services, trx, user, { amr, purpose, trustedBrowser }, request);
  const authenticatedAt = first.stepsUp ? first.authenticatedAt : undefined;
  return { kind: 'done', accountId: user.id, amr, authenticatedAt, idp: first.idp ?? undefined, profile: user.profile };
}

export const inTenMinutes = (): Date => new Date(present().getTime() + LIFETIMES.signInStep * 1000);

/**
 * Decides the next step. @throws {InvalidStateToken} an expired password was changed since it was entered
 * @throws {SignInDenied} also as {ProviderRequired}
 */
export async function afterFirstStep(services: Services, first: FirstStep, goal: Goal, request: RequestContext): Promise<SignInStep> {
  const { user, amr, expired } = first;
  if (first.isDone) return { kind: 'done', accountId: user.id, amr, profile: user.profile };
  if (!first.stepsUp) await enforceRequiredProvider(services, first, request);
  const finish = () => services.database.transaction((trx) => finishSteps(services, trx, user, amr, { ...first, purpose: goal }, request));
  const factors = isMultiFactor(amr) ? [] : await listUsableFactors(services.database.knex, user.id, amr);
  const canProve = isMultiFactor(amr) || factors.length > 0;
  const mustProve = !first.stepsUp && (await admitSignIn(services, user, { canProve }, request));
  if (isMultiFactor(amr)) return finish();
  if (factors.length > 0) {
    const trusted = mustProve ? undefined : await finishByTrust(services, first, goal, request);
    return trusted ?? { kind: 'factor', factors, ...(await wait(services, first, goal.place, 'FACTOR', request)) };
  }
  if (expired !== undefined) return { kind: 'password', ...(await wait(services, first, goal.place, 'PASSWORD', request)) };
  if (!goal.enrolls || !(await isFactorRequiredByPolicy(services, user.id, goal))) return finish();
  return { kind: 'enroll', ...(await wait(services, first, goal.place, 'ENROLL', request)) };
}

/** Completes the sign-in without a second factor in a trusted browser. @returns undefined: the factor is required */
async function finishByTrust(services: Services, first: FirstStep, goal: Goal, request: RequestContext): Promise<SignInStep | undefined> {
  const { user, amr } = first;
  // Another password ends the trust. A session can only be strengthened by a factor.
  if (first.expired !== undefined || first.stepsUp || goal.isFresh || !request.trustTokens?.length) return undefined;
  return services.database.transaction(async (trx) => {
    const demandedBy = await readRequirement(trx, user.id, goal);
    if (!(await useTrust(trx, services, user.id, demandedBy, request))) return undefined;
    return finishSteps(services, trx, user, amr, { ...first, purpose: goal, trustedBrowser: true }, request);
  });
}

/** Stores a first step from another page until its browser reaches `place`. @returns the state token */
export const keepFirstStep = async (services: Services, first: FirstStep, place: string, request: RequestContext): Promise<string> =>
  (await wait(services, first, place, 'GO_ON', request)).stateToken;

/** Continues after a first step that was made on another page; works once. @throws {InvalidStateToken} */
export async function useFirstStep(services: Services, stateToken: string, goal: Goal, request: RequestContext): Promise<SignInStep> {
  const first = await inStep(services, stateToken, { ...request, place: goal.place }, 'GO_ON', async (trx, state, user) => {
    if (!(await deleteState(trx, state.id))) throw new InvalidStateToken();
    return { user, amr: state.amr, authenticatedAt: state.authenticatedAt, idp: state.idp };
  });
  return afterFirstStep(services, first, goal, request);
}

/** Stores a pending step. @throws {InvalidStateToken} */
async function wait(
  { database, keyring }: Services,
  { user, amr, authenticatedAt, expired, stepsUp = false, idp = null }: FirstStep,
  place: string,
  next: SignInState['next'],
  { device }: RequestContext,
): Promise<{ readonly stateToken: string; readonly expiresAt: Date }> {
  const stateToken = randomToken();
  const key = keyOf(stateToken, place, device);
  const expiresAt = inTenMinutes();
  const sealedSecret = next === 'ENROLL' ? sealTotpSecret(keyring, newTotpSecret(), key.id) : null;
  await database.transaction(async (trx) => {
    if (expired !== undefined) {
      await lockUser(trx, user.id);
      if (!(await isUnchanged(trx, expired))) throw new InvalidStateToken();
    }
    if (next === 'PASSWORD') await deleteStatesOf(trx, user.id, 'PASSWORD');
    const state = { userId: user.id, next, amr, authenticatedAt, idp, stepsUp, attempts: 0 };
    await insertState(trx, { ...key, ...state, sealedSecret, expiresAt });
  });
  return { stateToken, expiresAt };
}

export interface PendingStep {
  readonly next: SignInState['next'];
  readonly user: User;
  /** Authentication methods used so far (RFC 8176). */
  readonly amr: readonly string[];
  readonly expiresAt: Date;
  /** Factors that can be used now. */
  readonly factors: readonly SecondFactor[];
  /** Secret of the new factor, base32. */
  readonly secret: string | undefined;
}

/**
 * @param device value of the browser's device cookie
 * @returns the current step; undefined if the token is not valid at this place or in this browser
 */
export async function readStep(
  services: Services,
  stateToken: string,
  place: string,
  device: string | undefined,
): Promise<PendingStep | undefined> {
  const { knex } = services.database;
  const state = await findState(knex, keyOf(stateToken, place, device), present());
  const user = state && (await findUserById(knex, state.userId));
  if (state === undefined || user === undefined || !mayGoOn(user, state)) return undefined;
  const secret = state.sealedSecret === null ? undefined : openTotpSecret(services.keyring, state.sealedSecret, state.id);
  const { next, amr, expiresAt } = state;
  return { next, user, amr, expiresAt, factors: await listUsableFactors(knex, user.id, amr), secret };
}

/**
 * Checks the second factor; of several uses of one code, or of one state token, one succeeds.
 * @param options.trusts should the browser be trusted? Not with a recovery code
 * @returns undefined if it is wrong, or the user's codes are locked
 * @throws {InvalidStateToken}
 * @throws {TooManyFailures}
 */
export async function verifyFactor(
  services: Services,
  stateToken: string,
  proof: Proof,
  goal: Goal,
  request: RequestContext,
  { trusts = false }: { readonly trusts?: boolean } = {},
): Promise<SignInStep | undefined> {
  const isKnown = await isInKnownBrowser(services, stateToken, goal, request);
  await limitUnlessKnown(isKnown, refuseBlockedAddress(services, request.ipAddress));
  const step = await inStep(
    services,
    stateToken,
    { ...request, place: goal.place },
    'FACTOR',
    async (trx, state, user): Promise<SignInStep | undefined> => {
      const codeKey = factorCodeKey(stateToken, goal.place, request.device);
      const amr = await checkFactorProof({ ...services, trx, codeKey, first: state.amr }, user, proof, request);
      if (amr !== undefined) {
        const proved = withSecondFactor(state.amr, amr);
        if (await mustReplacePassword(trx, user, state)) {
          const expiresAt = inTenMinutes();
          await deleteStatesOf(trx, user.id, 'PASSWORD');
          await updateState(trx, state.id, { next: 'PASSWORD', amr: proved, expiresAt });
          return { kind: 'password', stateToken, expiresAt };
        }
        if (!(await deleteState(trx, state.id))) throw new InvalidStateToken();
        const done = await finishSteps(services, trx, user, proved, { ...state, purpose: goal }, request);
        return trusts && proof.kind !== 'recovery' ? { ...done, trust: await trustBrowser(trx, services, user, request) } : done;
      }
      // A passkey cannot be guessed, and a response that is sent twice must not end what the first one continues.
      if (proof.kind === 'passkey') return undefined;
      if (state.attempts + 1 >= MOST_ATTEMPTS) await deleteState(trx, state.id);
      else await updateState(trx, state.id, { attempts: state.attempts + 1 });
      return undefined;
    },
  );
  if (step === undefined) await limitUnlessKnown(isKnown, countFailedSignIn(services, request.ipAddress));
  return step;
}

/** Is this a browser in which the user signed in before? As for passwords, others at the same address cannot block it. */
async function isInKnownBrowser(
  { database: { knex } }: Services,
  stateToken: string,
  { place }: Goal,
  { device }: RequestContext,
): Promise<boolean> {
  const now = present();
  const state = device === undefined ? undefined : await findState(knex, keyOf(stateToken, place, device), now);
  return state !== undefined && device !== undefined && isKnownDevice(knex, state.userId, digest(device), now);
}

/** The user starts over. */
export async function abandonStep(services: Services, stateToken: string): Promise<void> {
  await deleteState(services.database.knex, digest(stateToken));
}

/** Did the sign-in start with an expired password? Strengthening a session keeps the original one. */
async function mustReplacePassword(trx: Executor, user: User, { amr, stepsUp }: Pick<SignInState, 'amr' | 'stepsUp'>): Promise<boolean> {
  return amr.includes('pwd') && !stepsUp && isExpired(user, await readPasswordPolicy(trx), present());
}

/** A user with an expired password can continue until they choose another one. */
const mayGoOn = ({ status, passwordHash }: User, { next, amr, stepsUp }: SignInState): boolean =>
  status === 'ACTIVE' ||
  (status === 'PASSWORD_EXPIRED' && passwordHash !== null && (next === 'FACTOR' || next === 'PASSWORD') && amr.includes('pwd') && !stepsUp);

/** Runs a step with its user and its state locked, in this order. @throws {InvalidStateToken} */
export async function inStep<T>(
  { database }: Services,
  stateToken: string,
  { place, device }: Pick<Goal, 'place'> & Pick<RequestContext, 'device'>,
  next: SignInState['next'],
  run: (trx: Executor, state: SignInState, user: User) => Promise<T>,
): Promise<T> {
  const key = keyOf(stateToken, place, device);
  return database.transaction(async (trx) => {
    const found = await findState(trx, key, present());
    const user = found && (await lockUser(trx, found.userId));
    const state = await lockState(trx, key, present());
    if (state === undefined || user === undefined || state.next !== next || !mayGoOn(user, state)) throw new InvalidStateToken();
    return run(trx, state, user);
  });
}
