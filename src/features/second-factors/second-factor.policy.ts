/**
 * Decides who needs more than one factor, and the authentication context class (`acr`) and methods (`amr`, RFC 8176) of a sign-in (OpenID Connect
 * Core 1.0 section 2). Factors are verified elsewhere.
 */

/** Values of settings/sign-in. OPTIONAL: users with a factor must use it. */
export const MFA_POLICIES = ['OPTIONAL', 'ADMINISTRATORS', 'EVERYONE'] as const;
export type MfaPolicy = (typeof MFA_POLICIES)[number];

/** The policy with the end of its grace. */
export interface MfaSettings {
  readonly mfa: MfaPolicy;
  /** When the policy takes effect; null: immediately. */
  readonly mfaFrom: string | null;
}

/** Grace period without a second factor for administrators of a new installation. */
const GRACE_MS = 7 * 86_400_000;

/** Initial setting of a new installation. On loopback, for trying it out, no factor is required. */
export const firstMfaSettings = (loopback: boolean, now: Date): MfaSettings | undefined =>
  loopback ? undefined : { mfa: 'ADMINISTRATORS', mfaFrom: new Date(now.getTime() + GRACE_MS).toISOString() };

export const isInGrace = ({ mfa, mfaFrom }: MfaSettings, now: Date): boolean =>
  mfa !== 'OPTIONAL' && mfaFrom !== null && now < new Date(mfaFrom);

/** The policy that applies now. */
export const mfaPolicyAt = (settings: MfaSettings, now: Date): MfaPolicy => (isInGrace(settings, now) ? 'OPTIONAL' : settings.mfa);

/** The values of `acr`, named as Okta names them: one factor of any kind, and two. */
export const ONE_FACTOR = 'urn:okta:loa:1fa:any';
export const TWO_FACTORS = 'urn:okta:loa:2fa:any';
export const ACR_VALUES: readonly string[] = [ONE_FACTOR, TWO_FACTORS];

/** Are these methods more than one factor (RFC 8176 section 2, `mfa`)? */
export const isMultiFactor = (amr: readonly string[]): boolean => amr.includes('mfa');

/** Was it a code by e-mail alone? Another one from the same mailbox is no second factor then. */
export const isByEmailAlone = (amr: readonly string[]): boolean => amr.length === 1 && amr[0] === 'otp';

/**
 * Authentication methods of a passkey (RFC 8176 section 2): `user` for user presence, and `hwk` or `swk` for a key in hardware or software.
 * Authenticators sign whether the key can leave the device (WebAuthn section 6.1.3); without attestation nothing more is proven.
 */
export const passkeyMethods = ({ multiDevice }: { readonly multiDevice: boolean }): readonly string[] => [
  multiDevice ? 'swk' : 'hwk',
  'user',
];

/** @returns the methods of the first step and of the second, each once */
export const withSecondFactor = (first: readonly string[], second: readonly string[]): readonly string[] => [
  ...new Set([...first, ...second, 'mfa']),
];

export interface SecondFactorFacts {
  readonly policy: MfaPolicy;
  readonly administrator: boolean;
  /** Does the application require it of all its users? */
  readonly applicationRequires: boolean;
  /** Does the organization that they sign in for require it of everyone? */
  readonly organizationRequires?: boolean | undefined;
  /** Requested classes, best first. */
  readonly acrValues: readonly string[];
}

/** Reason for requiring two factors: the application or organization (for all its users), the sign-in policy, or the requested class. */
export type RequirementReason = 'APPLICATION' | 'ORGANIZATION' | 'EVERYONE' | 'ADMINISTRATORS' | 'REQUEST';

/**
 * Must the user authenticate with two factors, whether or not they have a second one, and why? The first supported class decides. A reason that a
 * trusted browser satisfies comes last.
 * @returns undefined if not
 */
export function secondFactorRequirement({
  policy,
  administrator,
  applicationRequires,
  organizationRequires = false,
  acrValues,
}: SecondFactorFacts): RequirementReason | undefined {
  if (applicationRequires) return 'APPLICATION';
  if (organizationRequires) return 'ORGANIZATION';
  if (acrValues.find((value) => ACR_VALUES.includes(value)) === TWO_FACTORS) return 'REQUEST';
  if (policy === 'ADMINISTRATORS' && administrator) return 'ADMINISTRATORS';
  return policy === 'EVERYONE' ? 'EVERYONE' : undefined;
}

export const isSecondFactorRequired = (facts: SecondFactorFacts): boolean => secondFactorRequirement(facts) !== undefined;

/**
 * The class that a sign-in has reached.
 * @param requested if only the lower class was requested, it is returned for two factors as well: an essential claim must have one of its values
 */
export function acrOf(amr: readonly string[], requested: readonly string[] = []): string {
  if (!isMultiFactor(amr)) return ONE_FACTOR;
  return requested.includes(ONE_FACTOR) && !requested.includes(TWO_FACTORS) ? ONE_FACTOR : TWO_FACTORS;
}
