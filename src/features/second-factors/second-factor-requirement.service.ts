/** Decides whether a second factor is required now. Collects the facts; features/second-factors/second-factor.policy.ts decides. */
import { present } from '../../platform/clock/clock.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { findRights } from '../administrators/roles.store.ts';
import { findApplicationById } from '../applications/applications.store.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import type { SecondFactorRecord } from '../policies/decisions.policy.ts';
import { readMfaPolicy } from '../settings/settings.service.ts';
import { currentSettings } from '../settings/settings-cache.service.ts';
import { admitSignIn, SignInDenied } from '../sign-in-rules/sign-in-rules.service.ts';
import type { User } from '../users/users.resource.ts';
import { hasFactor } from './factors.store.ts';
import { isInGrace, type MfaPolicy, mfaPolicyAt, type RequirementReason, secondFactorRequirement } from './second-factor.policy.ts';

export interface Purpose {
  readonly applicationId?: string | undefined;
  /** Does the application require a second factor of all its users? Absent: look it up. */
  readonly applicationRequires?: boolean | undefined;
  /** Does the organization that the user signs in for require it of everyone? Absent: not known yet, and the authorize endpoint asks for it. */
  readonly organizationRequires?: boolean | undefined;
  /** Requested authentication context classes, best first. */
  readonly acrValues?: readonly string[] | undefined;
}

/** Is it required by the sign-in policy, the application or the request, whether the user has one or not? */
export const isFactorRequiredByPolicy = async (services: Services, userId: string, purpose: Purpose): Promise<boolean> =>
  (await requirementOf(services.database.knex, mfaPolicyAt(await currentSettings(services, 'sign-in'), present()), userId, purpose)) !==
  undefined;

/** @returns when an administrator without a second factor will need one; undefined if they have one, or there is no grace period */
export async function endOfGrace(services: Services, administratorId: string): Promise<Date | undefined> {
  const settings = await currentSettings(services, 'sign-in');
  if (settings.mfaFrom === null || !isInGrace(settings, present())) return undefined;
  return (await hasFactor(services.database.knex, administratorId)) ? undefined : new Date(settings.mfaFrom);
}

async function requirementOf(
  executor: Executor,
  policy: MfaPolicy,
  userId: string,
  { applicationId, applicationRequires, organizationRequires, acrValues = [] }: Purpose,
): Promise<RequirementReason | undefined> {
  return secondFactorRequirement({
    policy,
    administrator: policy === 'ADMINISTRATORS' && (await findRights(executor, userId)).length > 0,
    applicationRequires: applicationRequires ?? (await isRequiredOfAll(executor, applicationId)),
    organizationRequires,
    acrValues,
  });
}

const isRequiredOfAll = async (executor: Executor, applicationId: string | undefined): Promise<boolean> =>
  applicationId !== undefined && (await findApplicationById(executor, applicationId))?.settings.mfa_required === true;

/** Reason to require a second factor from the user; undefined: none. @param executor a transaction, if called within one */
export const readRequirement = async (executor: Executor, userId: string, purpose: Purpose): Promise<RequirementReason | undefined> =>
  requirementOf(executor, await readMfaPolicy(executor), userId, purpose);

/** Facts behind a sign-in's second factor, for its audit event. @param executor the transaction of the event @param amr methods of the sign-in */
export async function secondFactorFacts(
  executor: Executor,
  userId: string,
  purpose: Purpose,
  amr: readonly string[],
): Promise<SecondFactorRecord> {
  const demandedBy = await readRequirement(executor, userId, purpose);
  return { enrolled: await hasFactor(executor, userId, amr), ...(demandedBy !== undefined && { demandedBy }) };
}

/** Does a password sign-in to this application need a second factor, because the user has one or because a policy requires it? */
export const requiresSecondFactor = async (services: Services, userId: string, applicationId: string): Promise<boolean> =>
  (await hasFactor(services.database.knex, userId)) || isFactorRequiredByPolicy(services, userId, { applicationId });

/** Like `requiresSecondFactor`, for requests that cannot ask for one. Also true if a rule of the sign-in policy refuses the sign-in. */
export async function needsSecondFactor(
  services: Services,
  user: Pick<User, 'id' | 'login'>,
  applicationId: string,
  request: RequestContext,
): Promise<boolean> {
  try {
    await admitSignIn(services, user, { canProve: false }, request);
  } catch (error) {
    if (error instanceof SignInDenied) return true;
    throw error;
  }
  return requiresSecondFactor(services, user.id, applicationId);
}
