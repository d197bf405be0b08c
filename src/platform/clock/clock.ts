/**
 * The clock of the service. oidc-provider reads `Date.now`, so the service does too, and SQL gets the time as a parameter (never `now()` in
 * a statement about expiry). A test that replaces `Date` moves the time for all three.
 */

/** Whole seconds since 1970-01-01 UTC, as in `iat` and `exp` (RFC 7519 section 2). */
export const epochSeconds = (): number => Math.floor(Date.now() / 1000);

/** The current time as a Date, for columns of type timestamptz. */
export const present = (): Date => new Date(Date.now());
