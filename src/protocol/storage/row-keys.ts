/**
 * Under which keys rows are stored. What is issued begins with the minute of its issue, and so does the key of its row: what is new stands side by side in
 * PostgreSQL's indexes, on pages that are in memory. Were it all random, each new row would touch pages of its own among all there are, and each of these
 * pages would go whole to the log after a checkpoint (PostgreSQL manual, `full_page_writes`).
 */
import { epochSeconds } from '../../platform/clock/clock.ts';
import { digest } from '../../platform/crypto/secrets.ts';

/** Prefix of the storage key of JWT access tokens, `jwt:<jti>`. It is part of stored keys: changing it would lose them. */
export const JWT_HANDLE = 'jwt:';

/** Hexadecimal digits that count minutes until the year 2480, and stand in the order of time. */
const DIGITS = 7;
/** By its length: without a minute an id has its 43 random characters alone. No separator, for whatever is free in a URL is written otherwise in a form. */
const WITH_MINUTE = new RegExp(`^(?:${JWT_HANDLE})?([0-9a-f]{${DIGITS}})[\\w-]{43}$`);

/** @param random what makes the id unguessable: 43 characters */
export const withMinute = (random: string): string =>
  Math.floor(epochSeconds() / 60)
    .toString(16)
    .padStart(DIGITS, '0') + random;

/** @param id a bearer value, or what a JWT is stored under; of an id without a minute, as of a session, the digest is all */
export const rowKey = (id: string): string => (WITH_MINUTE.exec(id)?.[1] ?? '') + digest(id);

/** Prefix for the row key that an interaction stores instead of its `request_uri` or device code. */
const ROW_HANDLE = 'row:';

/** @param key of a row, as `rowKey` makes it */
export const handleOfKey = (key: string): string => ROW_HANDLE + key;

/** @param id a bearer value, or its handle */
export const rowHandle = (id: string): string => (id.startsWith(ROW_HANDLE) ? id : handleOfKey(rowKey(id)));

/** @returns the key that a handle stands for; undefined for an id */
export const keyOfHandle = (id: string): string | undefined => (id.startsWith(ROW_HANDLE) ? id.slice(ROW_HANDLE.length) : undefined);

/** @returns the second at which the minute of its issue began; undefined for what has no minute. Anyone who made it up decides what it says. */
export function minuteOf(id: string): number | undefined {
  const minute = WITH_MINUTE.exec(id)?.[1];
  return minute === undefined ? undefined : Number.parseInt(minute, 16) * 60;
}
