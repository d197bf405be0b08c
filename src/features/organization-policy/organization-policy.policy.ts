/** Sign-in requirements of an organization, and whether a session or refresh token meets them. They can only be stricter than the service's. */

/** INHERIT: the service's sign-in policy applies. */
export const ORGANIZATION_MFA = ['INHERIT', 'REQUIRED'] as const;

/** Requirements of an organization. null: the service's setting applies. */
export interface OrganizationPolicy {
  /** REQUIRED: signing in for the organization requires a second factor. */
  readonly mfa: (typeof ORGANIZATION_MFA)[number];
  /** Minutes after the last sign-in for the organization, after which users must sign in again. */
  readonly sessionIdleMinutes: number | null;
  /** Hours after the sign-in, after which users must sign in again and refresh tokens end. */
  readonly sessionLifetimeHours: number | null;
}

export const NO_POLICY: OrganizationPolicy = { mfa: 'INHERIT', sessionIdleMinutes: null, sessionLifetimeHours: null };

const MINUTE = 60;
const HOUR = 3600;

/** Epoch seconds. */
interface SessionUse {
  readonly signedInAt: number;
  /** When the session was last used for the organization; undefined: never. */
  readonly usedAt: number | undefined;
}

/** Must the user sign in again before the session is used for the organization? @param now epoch seconds */
export function isSessionOver(
  { sessionIdleMinutes, sessionLifetimeHours }: OrganizationPolicy,
  { signedInAt, usedAt }: SessionUse,
  now: number,
): boolean {
  const lastUse = Math.max(signedInAt, usedAt ?? signedInAt);
  return (
    (sessionLifetimeHours !== null && now >= signedInAt + sessionLifetimeHours * HOUR) ||
    (sessionIdleMinutes !== null && now >= lastUse + sessionIdleMinutes * MINUTE)
  );
}

/** Latest end of refresh tokens. @param signedInAt epoch seconds @returns epoch seconds */
export const endOfGrant = (policy: OrganizationPolicy | undefined, signedInAt: number | undefined): number =>
  policy?.sessionLifetimeHours == null || signedInAt === undefined
    ? Number.POSITIVE_INFINITY
    : signedInAt + policy.sessionLifetimeHours * HOUR;

/** Maximum seconds without use of a refresh token. */
export const idleSeconds = (policy: OrganizationPolicy | undefined): number =>
  policy?.sessionIdleMinutes == null ? Number.POSITIVE_INFINITY : policy.sessionIdleMinutes * MINUTE;

interface SessionSettings {
  readonly sessionIdleMinutes: number;
  readonly sessionLifetimeDays: number;
}

/** @returns the field that exceeds the service's value, and that value */
export function longerThanService(
  policy: OrganizationPolicy,
  service: SessionSettings,
): { readonly field: 'sessionIdleMinutes' | 'sessionLifetimeHours'; readonly most: number } | undefined {
  const { sessionIdleMinutes, sessionLifetimeHours } = policy;
  if (sessionIdleMinutes !== null && sessionIdleMinutes > service.sessionIdleMinutes)
    return { field: 'sessionIdleMinutes', most: service.sessionIdleMinutes };
  const most = service.sessionLifetimeDays * 24;
  return sessionLifetimeHours !== null && sessionLifetimeHours > most ? { field: 'sessionLifetimeHours', most } : undefined;
}
