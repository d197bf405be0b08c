/**
 * The lifecycle of a user as in Okta's Users API: which steps are possible in a status, and the resulting status. PROVISIONED users are
 * invited and have not chosen a password yet.
 */
import { isLocked } from '../sign-in/lockout.policy.ts';

export const USER_STATUSES = ['STAGED', 'PROVISIONED', 'ACTIVE', 'PASSWORD_EXPIRED', 'LOCKED_OUT', 'SUSPENDED', 'DEPROVISIONED'] as const;
export type UserStatus = (typeof USER_STATUSES)[number];

/** Effective status: LOCKED_OUT is never stored; it starts with wrong passwords and ends automatically. */
export const statusAt = (user: { readonly status: UserStatus; readonly lockedUntil: Date | null }, now: Date): UserStatus =>
  user.status === 'ACTIVE' && isLocked(user, now) ? 'LOCKED_OUT' : user.status;

const INACTIVE: ReadonlySet<UserStatus> = new Set(['STAGED', 'SUSPENDED', 'DEPROVISIONED']);

/** Can the user sign in, perhaps after choosing a password? */
export const isActiveStatus = (status: UserStatus): boolean => !INACTIVE.has(status);

/** Is this a sign-up that waits for approval? */
export const awaitsApproval = (user: { readonly status: UserStatus; readonly approvalRequested: Date | null }): boolean =>
  user.status === 'STAGED' && user.approvalRequested !== null;

export type LifecycleStep =
  | 'activate'
  | 'refuse'
  | 'reactivate'
  | 'deactivate'
  | 'suspend'
  | 'unsuspend'
  | 'unlock'
  | 'expire_password'
  | 'reset_password';

const STEPS: Readonly<Record<LifecycleStep, { readonly from: readonly UserStatus[]; readonly to: UserStatus }>> = {
  activate: { from: ['STAGED', 'DEPROVISIONED'], to: 'ACTIVE' },
  refuse: { from: ['STAGED'], to: 'DEPROVISIONED' },
  reactivate: { from: ['PROVISIONED'], to: 'PROVISIONED' },
  deactivate: { from: ['STAGED', 'PROVISIONED', 'ACTIVE', 'PASSWORD_EXPIRED', 'LOCKED_OUT', 'SUSPENDED'], to: 'DEPROVISIONED' },
  suspend: { from: ['ACTIVE'], to: 'SUSPENDED' },
  unsuspend: { from: ['SUSPENDED'], to: 'ACTIVE' },
  unlock: { from: ['LOCKED_OUT'], to: 'ACTIVE' },
  expire_password: { from: ['ACTIVE'], to: 'PASSWORD_EXPIRED' },
  reset_password: { from: ['ACTIVE', 'PASSWORD_EXPIRED', 'LOCKED_OUT'], to: 'PASSWORD_EXPIRED' },
};

export const LIFECYCLE_STEPS = Object.keys(STEPS) as readonly LifecycleStep[];

/** Steps that users cannot take on themselves, because their next request would be refused. */
const NOT_ON_ONESELF: ReadonlySet<LifecycleStep> = new Set(['deactivate', 'suspend']);

export interface LifecycleFacts {
  readonly status: UserStatus;
  readonly hasPassword: boolean;
  /** A sign-up that waits for approval. */
  readonly awaitsApproval: boolean;
  /** A password, a passkey or a linked account. */
  readonly hasWayToSignIn: boolean;
  /** Does the user take the step on themselves? */
  readonly isSelf: boolean;
  /** Is the user the only active SUPER_ADMIN? */
  readonly isLastSuperAdmin: boolean;
}

export type StepDecision = { readonly to: UserStatus } | { readonly refused: string };

/** @returns the resulting status, or why the step is not possible */
export function decideStep(step: LifecycleStep, facts: LifecycleFacts): StepDecision {
  const { from, to } = STEPS[step];
  if (!from.includes(facts.status)) return { refused: `the user is ${facts.status}, but ${step} requires ${from.join(' or ')}` };
  if (step === 'refuse' && !facts.awaitsApproval) return { refused: 'the user is not waiting for approval' };
  if (step === 'expire_password' && !facts.hasPassword) return { refused: 'the user has no password. Use reset_password instead' };
  if (facts.isSelf && NOT_ON_ONESELF.has(step)) return { refused: `you cannot ${step} yourself. Ask another administrator` };
  if (facts.isLastSuperAdmin && locksOut(step)) return { refused: LAST_SUPER_ADMIN };
  if (step === 'activate' && !facts.hasWayToSignIn) return { to: 'PROVISIONED' };
  return { to };
}

export const LAST_SUPER_ADMIN = 'this is the last active SUPER_ADMIN. Give another user this role first';

/** These do not remove a way to sign in. */
const KEEPS_IN: ReadonlySet<LifecycleStep> = new Set(['expire_password', 'reactivate']);

/** Can the user not sign in any more after the step? With an expired password they can, and choose another one. */
export const locksOut = (step: LifecycleStep): boolean => !KEEPS_IN.has(step) && STEPS[step].to !== 'ACTIVE';

/** The possible steps in the user's status, without regard to the caller. */
export const possibleSteps = (user: Pick<LifecycleFacts, 'status' | 'hasPassword' | 'awaitsApproval'>): LifecycleStep[] => {
  const facts = { ...user, hasWayToSignIn: user.hasPassword, isSelf: false, isLastSuperAdmin: false };
  return LIFECYCLE_STEPS.filter((step) => 'to' in decideStep(step, facts));
};
