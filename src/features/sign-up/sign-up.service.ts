/**
 * Self-service sign-up. The input is stored encrypted with the code that confirms the address (features/email-codes): it becomes an account only in
 * the same browser, so that nobody can prepare an account for another person (pre-hijacking: Sudhodanan and Paverd, USENIX Security 2022). Existing
 * accounts are looked up after the response, and only the e-mail mentions them.
 */

import { z } from 'zod';
import { present } from '../../platform/clock/clock.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { inOneTransaction } from '../../platform/database/one-transaction.ts';
import { composedName } from '../../platform/dns/address-spelling.ts';
import { ApiError } from '../../platform/errors/errors.ts';
import { INVISIBLE } from '../../platform/validation/text.ts';
import { findApplicationById } from '../applications/applications.store.ts';
import { recordEvent } from '../audit/audit.service.ts';
import { type RequestContext, SYSTEM } from '../audit/audit-event.policy.ts';
import { limitWithoutProof } from '../bots/bots.service.ts';
import { beginCode, type CodePlace, mailCode, type OpenCode, redeemed } from '../email-codes/email-codes.service.ts';
import { deleteCode } from '../email-codes/email-codes.store.ts';
import { EMAIL_AMR } from '../email-codes/email-sign-in.service.ts';
import { existingGroupIds } from '../groups/groups.store.ts';
import { askRegistrationHook, type SignUpDecision } from '../inline-hooks/registration-hook.service.ts';
import { isMailable } from '../mail/mail.policy.ts';
import { queueMail } from '../mail/mail.service.ts';
import { isMailPossible } from '../mail/mail-route.service.ts';
import { hashPassword } from '../passwords/passwords.service.ts';
import { readSettings } from '../settings/settings.service.ts';
import { currentSettings } from '../settings/settings-cache.service.ts';
import { countSignUp, mayMailSignUp } from '../sign-in/failure-limits.service.ts';
import type { FirstStep } from '../sign-in/sign-in.service.ts';
import type { AttributeValue } from '../user-schema/attributes.resource.ts';
import type { UserProfile } from '../users/user-profile.service.ts';
import { asUser, userTarget } from '../users/user-reach.service.ts';
import type { User } from '../users/users.resource.ts';
import { createUser } from '../users/users.service.ts';
import { findTakenNames, findUserByName } from '../users/users.store.ts';
import { type ApplicationRegistration, isDomainAllowed, isSignUpOpen, type SignUpSettings } from './sign-up.policy.ts';

/** Data stored until the address is confirmed. */
const form = z.object({
  profile: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string()).readonly()])),
  passwordHash: z.string().optional(),
  applicationId: z.string().optional(),
  /** The terms that the user accepted. */
  termsUrl: z.string().optional(),
});

/** The settings; undefined if sign-up is closed, or no e-mail can be sent. */
export async function openSignUp(
  services: Services,
  application: ApplicationRegistration | undefined,
  request: Pick<RequestContext, 'isForwarded'>,
): Promise<SignUpSettings | undefined> {
  const settings = await currentSettings(services, 'registration');
  return isSignUpOpen(settings, application) && (await isMailPossible(services, request)) ? settings : undefined;
}

export type AddressProblem = 'missing' | 'not-an-address' | 'domain-refused';

/** @returns the problem of an address, regardless of whether there is an account */
export function addressProblem(settings: SignUpSettings, typed: string): AddressProblem | undefined {
  const email = composedName(typed);
  if (email === '') return 'missing';
  if (!isMailable(email) || INVISIBLE.test(email)) return 'not-an-address';
  return isDomainAllowed(settings, email) ? undefined : 'domain-refused';
}

export interface SignUp {
  readonly email: string;
  /** Validated attributes. */
  readonly profile: Readonly<Record<string, AttributeValue>>;
  /** Checked against the policy; undefined: users sign in without a password. */
  readonly password: string | undefined;
  readonly applicationId: string | undefined;
  readonly termsUrl: string | undefined;
  /** Proof of work from the form. */
  readonly proof: string;
}

/**
 * Stores a sign-up request, unless the operator's hook refuses it.
 * @returns the browser's token
 * @throws {TooManyFailures} when the network has sent too many requests
 * @throws {ProofMissing}
 */
export async function requestSignUp(
  services: Services,
  place: CodePlace,
  { email, profile, password, applicationId, termsUrl, proof }: SignUp,
  request: RequestContext,
  replaces: string,
): Promise<string | Extract<SignUpDecision, { kind: 'refused' }>> {
  const { ipAddress: address } = request;
  await limitWithoutProof(services, { purpose: 'signUp', sent: proof, address }, (most) => countSignUp(services, address, most));
  const decided = await askRegistrationHook(services, { email: composedName(email), profile }, request);
  if (decided.kind === 'refused') return decided;
  const passwordHash = password === undefined ? undefined : await hashPassword(password);
  const kept: z.input<typeof form> = { profile: decided.profile, passwordHash, applicationId, termsUrl };
  return beginCode(services, { ...place, purpose: 'SIGN_UP', name: composedName(email), form: kept }, request, replaces);
}

/** Another e-mail for the same form. @returns the browser's token @throws {TooManyFailures} */
export async function requestSignUpAgain(
  services: Services,
  place: CodePlace,
  { content }: OpenCode,
  request: RequestContext,
  replaces: string,
): Promise<string> {
  await countSignUp(services, request.ipAddress);
  return beginCode(services, { ...place, purpose: 'SIGN_UP', name: content.name, form: content.form }, request, replaces);
}

const EVENT = { eventType: 'user.registration.request', displayMessage: 'Sign up' } as const;

/** Sends the code, or the link to an existing account. @returns whether a code is sent */
export async function mailSignUp(services: Services, code: OpenCode, request: RequestContext): Promise<boolean> {
  const email = code.content.name;
  const isTooMany = !(await mayMailSignUp(services, email));
  return services.database.transaction(async (trx) => {
    const known = await findUserByName(trx, email);
    const isTaken = (await findTakenNames(trx, { id: '', login: email, email })).size > 0 || known !== undefined;
    const failure = isTooMany ? 'TOO_MANY_REQUESTS' : isTaken ? 'ALREADY_REGISTERED' : await mailTo(trx, services, code, request);
    if (failure === 'ALREADY_REGISTERED') {
      const link = `${services.config.baseUrl}/signin`;
      const reader = known ?? { id: undefined, login: email, profile: {} };
      await queueMail(trx, services.keyring, reader, 'sign-up-existing', { to: email, link }, request);
    }
    await recordEvent(trx, {
      ...EVENT,
      request,
      // Unverified addresses are not logged.
      targets: known === undefined ? [] : [userTarget(known)],
      ...(failure !== undefined && { failure }),
    });
    return failure === undefined;
  });
}

async function mailTo(trx: Executor, services: Services, code: OpenCode, request: RequestContext): Promise<string | undefined> {
  const email = code.content.name;
  const letter = await mailCode(trx, services, code, { address: email });
  if (letter === undefined) return 'EXPIRED';
  await queueMail(trx, services.keyring, { id: undefined, login: email, profile: {} }, 'sign-up', letter, request);
  return undefined;
}

/** `waiting`: the account was created, and an administrator must activate it. */
export type SignUpOutcome = FirstStep | 'waiting' | undefined;

/**
 * Creates the account with the current settings, after the address was verified.
 * @returns undefined if the code was used before, the address is taken meanwhile, or sign-up is closed
 */
export async function completeSignUp(services: Services, code: OpenCode, request: RequestContext): Promise<SignUpOutcome> {
  const { database } = services;
  const { profile, passwordHash, applicationId, termsUrl } = form.parse(code.content.form);
  const email = code.content.name;
  try {
    return await inOneTransaction(services, async (within, trx): Promise<SignUpOutcome> => {
      if (!(await deleteCode(trx, code.row.id))) return undefined;
      const settings = await readSettings(within, 'registration');
      const failure = await refusalNow(trx, settings, email, applicationId);
      await recordEvent(trx, { ...redeemed(code, request), ...(failure !== undefined && { failure }) });
      if (failure !== undefined) return undefined;
      const user = await make(within, trx, settings, { email, profile, passwordHash }, request);
      await recordEvent(trx, {
        eventType: 'user.registration.complete',
        displayMessage: 'Sign up',
        request: asUser(request, user),
        targets: [userTarget(user)],
        after: { status: user.status, applicationId, termsUrl, approval: settings.approval },
      });
      if (user.status !== 'ACTIVE') return 'waiting';
      return { user: { id: user.id, login: user.login, profile: user.profile }, amr: EMAIL_AMR, authenticatedAt: present() };
    });
  } catch (error) {
    // The organization was deleted, or the name was taken concurrently.
    if (!(error instanceof ApiError)) throw error;
    await recordEvent(database.knex, { ...EVENT, request, targets: [], failure: 'SIGN_UP_NOT_POSSIBLE' });
    return undefined;
  }
}

async function refusalNow(
  trx: Executor,
  settings: SignUpSettings,
  email: string,
  applicationId: string | undefined,
): Promise<string | undefined> {
  const application = applicationId === undefined ? undefined : (await findApplicationById(trx, applicationId))?.settings.registration;
  if (!isSignUpOpen(settings, application) || !isDomainAllowed(settings, email)) return 'SIGN_UP_CLOSED';
  return (await findTakenNames(trx, { id: '', login: email, email })).size > 0 ? 'ALREADY_REGISTERED' : undefined;
}

async function make(
  within: Services,
  trx: Executor,
  { approval, groups, organization }: SignUpSettings,
  { email, profile, passwordHash }: { email: string; profile: Readonly<Record<string, unknown>>; passwordHash: string | undefined },
  request: RequestContext,
): Promise<User> {
  const user = {
    profile: { ...profile, login: email, email, emailVerified: true } as UserProfile,
    passwordHash,
    activate: approval === 'NONE',
    awaitsApproval: approval === 'ADMIN',
    orgId: organization ?? undefined,
    groupIds: await existingGroupIds(trx, groups),
    // Attributes that users cannot set cannot be required of them.
    isByMachine: true,
  };
  // The service is the actor: settings decide about groups and other data that the new user cannot choose.
  return createUser(within, user, { ...request, actor: SYSTEM.actor, roles: SYSTEM.roles ?? [] });
}
