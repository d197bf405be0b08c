/**
 * The one clock of the service. oidc-provider reads `Date.now`, so `Date.now` is the clock: the service asks here,
 * SQL receives the time as a parameter (never `now()` in a statement about expiry), and a test that moves time
 * replaces `Date` once for all three.
 */

/** Seconds since 1970-01-01 UTC, whole, as in the `iat` and `exp` of RFC 7519 section 2. */
export const epochSeconds = (): number => Math.floor(Date.now() / 1000);

/** The present moment as a Date, for columns of type timestamptz. */
export const present = (): Date => new Date(Date.now());
