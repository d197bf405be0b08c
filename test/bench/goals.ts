/** What is wanted, as issue 11 has it, and issue 31 of the sign-in through the page. */

/** CPU of a flow against the plain PostgreSQL adapter in the same run; of the sign-in without its password hash. */
export const AGAINST_PLAIN: Readonly<Record<string, number>> = {
  'client_credentials, opaque': 0.72,
  'client_credentials, jwt': 0.72,
  'introspect, hint': 0.34,
  'introspect, no hint': 0.34,
  userinfo: 0.46,
  'refresh, rotating, ID token': 0.45,
  'silent authorize + exchange': 0.5,
  'sign-in through the page': 3,
  'sign-in through the page, known browser': 2,
};
/** CPU of a sign-in through the page against a peer's in the same run, without the hash. */
export const AGAINST_PEER = 0.5;
/** CPU of each of them against the library with everything in a Map. */
export const AGAINST_MAP = 1.5;
/** Milliseconds, at half of what saturates the service. */
export const P99_AT_HALF = 20;
/** MiB of the service's process; the second with 200 servers in use. */
export const MEMORY = { few: 200, many: 350 };

export const verdict = (value: number, goal: number | undefined): string => {
  if (goal === undefined || Number.isNaN(value)) return '–';
  return value <= goal ? 'met' : 'missed';
};
