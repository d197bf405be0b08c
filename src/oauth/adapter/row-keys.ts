/**
 * Under which keys rows are stored. What is issued begins with the minute of its issue, and so does the key of its row: what is new stands side by side in
 * PostgreSQL's indexes, on pages that are in memory. Were it all random, each new row would touch pages of its own among all there are, and each of these
 * pages would go whole to the log after a checkpoint (PostgreSQL manual, `full_page_writes`).
 */
import { epochSeconds } from '../../clock.ts';
import { digest } from '../../secrets.ts';

/** Seven hexadecimal digits count minutes until the year 2480, and stand in the order of time. */
const DIGITS = 7;
/** Not among the characters of a random id, nor of a JWT's three parts; free to stand in a URL and in a header (RFC 3986 section 2.3, RFC 6750 section 2.1). */
const END_OF_MINUTE = '~';
const MINUTE = /^(?:jwt:)?([0-9a-f]{7})~/;

/** @param random what makes the id unguessable */
export const withMinute = (random: string): string =>
  Math.floor(epochSeconds() / 60)
    .toString(16)
    .padStart(DIGITS, '0') +
  END_OF_MINUTE +
  random;

/** @param id a bearer value, or what a JWT is stored under; of an id without a minute, as of a session, the digest is all */
export const rowKey = (id: string): string => (MINUTE.exec(id)?.[1] ?? '') + digest(id);
