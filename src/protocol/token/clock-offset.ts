/** Accepted clock offset of an application in seconds (FAPI 2.0 Security Profile section 5.3.2.1): up to 10 is accepted, above 60 refused. */

/** Tolerance for `nbf`. */
export const CLOCK_OFFSET = 10;
/** Tolerance for `iat`. */
const FURTHEST_AHEAD = 60;

/** @param iat epoch seconds from a JWT @param now epoch seconds */
export const isFromFuture = (iat: unknown, now: number): boolean => typeof iat === 'number' && iat > now + FURTHEST_AHEAD;
