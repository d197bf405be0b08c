/**
 * Decision about a sign-in or request as stored with its audit event: facts and reason codes, of limited size, without secrets and names of users.
 * Policies make the decisions; decision-text.console.ts describes them.
 */

import type { ConsentReason, ScopeDecision } from '../consents/consent.policy.ts';
import type { RequirementReason } from '../second-factors/second-factor.policy.ts';
import type { SignInAction, SignInDecision } from '../sign-in-rules/sign-in-rules.policy.ts';
import type { AccessDecision, AccessGrantType, AccessReason } from './access-policy.policy.ts';

/** For a refused password. */
export interface PasswordRefused {
  readonly kind: 'password';
  readonly reason:
    | 'UNKNOWN_USER'
    | 'WRONG_PASSWORD'
    | 'LOCKED'
    | 'NOT_ACTIVE'
    | 'EXPIRED'
    | 'PROVIDER_REQUIRED'
    | 'NOT_A_METHOD'
    | 'NOT_COMPARED'
    | 'CHANGED_MEANWHILE';
  /** Status of the account at that moment. */
  readonly status?: string;
  /** Wrong attempts since the last success or lock, including this one. */
  readonly failures?: number;
  /** ISO 8601; end of the new lock. */
  readonly lockedUntil?: string;
  /** Was the attempt in a browser in which the user signed in before? Those are counted separately. */
  readonly knownBrowser?: boolean;
}

export interface FactorTried {
  readonly kind: 'second-factor';
  readonly reason: 'RIGHT' | 'WRONG' | 'LOCKED';
  readonly method: string;
  readonly failures: number;
  readonly lockedUntil?: string;
}

/** Too many failures from one network address. */
interface AddressBlocked {
  readonly kind: 'address';
  readonly failures: number;
  /** Duration of the block in seconds. */
  readonly seconds: number;
}

/** Facts behind the demand for a second factor. */
export interface SecondFactorRecord {
  /** Does the user have a factor? Then it is always required. */
  readonly enrolled: boolean;
  /** Absent: nothing demands one. */
  readonly demandedBy?: RequirementReason;
  /** Not required: the user trusts the browser. */
  readonly trustedBrowser?: true;
}

export interface SessionStart {
  readonly kind: 'session';
  /** Authentication methods used so far (RFC 8176). */
  readonly amr: readonly string[];
  readonly secondFactor: SecondFactorRecord;
}

/** A sign-in that a rule of the sign-in policy refused, or required a second factor for. */
export interface SignInRuled {
  readonly kind: 'sign-in-rule';
  readonly action: SignInAction;
  readonly rule: string;
  /** Did the user have a second factor? */
  readonly canProve: boolean;
  readonly steps: SignInDecision['steps'];
}

/** The refused request, for simulating it today. */
export interface RecordedRequest {
  readonly clientId: string;
  readonly serverId: string;
  readonly grantType: AccessGrantType;
  /** At most `MOST_SCOPES`. */
  readonly scopes: readonly string[];
  readonly prompt?: string;
  /** Token exchange: the actor. */
  readonly actor?: string;
  /** Types of its authorization details, if a rule contains types. Limited by the maximum of a request. */
  readonly detailTypes?: readonly string[];
  /** Audiences that were requested by `resource` or `audience`, at most `MOST_RESOURCES`; absent: none. */
  readonly resources?: readonly string[];
  /** It was for an ID-JAG, with scopes and resources of another server. The simulator has no such requests. */
  readonly idJag?: true;
}

export interface AccessRefused {
  readonly kind: 'access-policy';
  readonly request: RecordedRequest;
  /** Evaluated steps in order; at most `MOST_STEPS`, including the last. */
  readonly steps: readonly KeptStep[];
  /** Number of steps that are not stored. */
  readonly left?: number;
}

interface KeptStep {
  readonly policyId?: string;
  readonly policy?: string;
  readonly ruleId?: string;
  readonly rule?: string;
  readonly reason: AccessReason;
}

export type RequestRefused =
  | AccessRefused
  | { readonly kind: 'not-assigned'; readonly request: RecordedRequest }
  | { readonly kind: 'not-a-member'; readonly request: RecordedRequest }
  | { readonly kind: 'second-factor-needed'; readonly request: RecordedRequest; readonly demandedBy?: RequirementReason }
  | { readonly kind: 'consent-required'; readonly request: RecordedRequest; readonly scopes: readonly KeptScope[] };

export interface KeptScope {
  readonly scope: string;
  readonly ask: boolean;
  readonly reason: ConsentReason;
}

/** A user's consent page and its scopes. */
export interface ConsentPrompt {
  readonly kind: 'consent';
  readonly scopes: readonly KeptScope[];
}

/** Result of an inline hook. */
export type HookOutcome = 'CHANGED' | 'UNCHANGED' | 'ALLOWED' | 'DENIED' | 'VERIFIED' | 'UNVERIFIED' | 'FAILED';

/** Why a hook call had no usable response. */
export type HookProblem = 'TIMEOUT' | 'UNREACHABLE' | 'PRIVATE_ADDRESS' | 'STATUS' | 'SERVER_ERROR' | 'INVALID_RESPONSE';

/** A call of the operator's hook during a request. */
export interface HookCall {
  readonly kind: 'inline-hook';
  readonly type: string;
  readonly outcome: HookOutcome;
  /** The hook's behaviour on failure. */
  readonly failure: 'OPEN' | 'CLOSED';
  readonly milliseconds: number;
  readonly attempts: number;
  /** Status of the last response; absent: none. */
  readonly status?: number;
  readonly problem?: HookProblem;
  /** Problem with the response, in our words. */
  readonly detail?: string;
  /** Names of the changed values. */
  readonly changed?: readonly string[];
}

/** Another sign-in method than the identity provider that the user's domain requires. */
interface OtherProviderRequired {
  readonly kind: 'provider-required';
  /** Name of the required provider. */
  readonly provider: string;
  /** Methods used instead (RFC 8176). */
  readonly amr: readonly string[];
}

/** The request named an address that the application does not have. */
interface RedirectRefused {
  readonly kind: 'redirect-uri';
  readonly redirectUri: string;
}

export type Decision =
  | PasswordRefused
  | FactorTried
  | AddressBlocked
  | SessionStart
  | SignInRuled
  | OtherProviderRequired
  | RequestRefused
  | RedirectRefused
  | ConsentPrompt
  | HookCall;

export const MOST_STEPS = 20;
export const MOST_SCOPES = 50;
export const MOST_RESOURCES = 20;

/** The first and the last steps of a decision that denied. */
export function keptSteps({ reasons }: Pick<AccessDecision, 'reasons'>): Pick<AccessRefused, 'steps' | 'left'> {
  if (reasons.length <= MOST_STEPS) return { steps: reasons };
  return { steps: [...reasons.slice(0, MOST_STEPS - 1), ...reasons.slice(-1)], left: reasons.length - MOST_STEPS };
}

export const keptScopes = (decisions: readonly ScopeDecision[]): readonly KeptScope[] =>
  decisions.slice(0, MOST_SCOPES).map(({ scope, ask, reason }) => ({ scope, ask, reason }));
