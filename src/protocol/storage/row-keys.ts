/**
 * Keys of stored rows. Issued values begin with the minute of issue, and so do the keys of their rows: new rows are adjacent in PostgreSQL's indexes,
 * on pages that are in memory. With random keys, each new row would touch another page, and each of these pages would be written to the log in full
 * after a checkpoint (PostgreSQL manual, `full_page_writes`).
 */
import { epochSeconds } from '../../platform/clock/clock.ts';
import { digest } from '../../platform/crypto/secrets.ts';

/** Prefix of the storage key of JWT access tokens, `jwt:<jti>`. It is part of stored keys: changing it would lose them. */
export const JWT_HANDLE = 'jwt:';

/** Hexadecimal digits that count minutes until the year 2480, in chronological order. */
const DIGITS = 7;
/**
 * By length: without a minute, an ID has 43 random characters. There is no separator, because every character that is unreserved in URLs is encoded
 * in some forms.
 */
const WITH_MINUTE = new RegExp(`^(?:${JWT_HANDLE})?([0-9a-f]{${DIGITS}})[\\w-]{43}$`);

/** @param random the unguessable part of the ID: 43 characters */
export const withMinute = (random: string): string =>
  Math.floor(epochSeconds() / 60)
    .toString(16)
    .padStart(DIGITS, '0') + random;

/** @param id a bearer value, or the handle of a JWT; for an ID without a minute, e.g. of a session, the key is only the digest */
export const rowKey = (id: string): string => (WITH_MINUTE.exec(id)?.[1] ?? '') + digest(id);

/** Prefix for the row key that an interaction stores instead of its `request_uri` or device code. */
const ROW_HANDLE = 'row:';

/** @param key a row key of `rowKey` */
export const handleOfKey = (key: string): string => ROW_HANDLE + key;

/** @param id a bearer value or its handle */
export const rowHandle = (id: string): string => (id.startsWith(ROW_HANDLE) ? id : handleOfKey(rowKey(id)));

/** @returns the key of a handle; undefined for an ID */
export const keyOfHandle = (id: string): string | undefined => (id.startsWith(ROW_HANDLE) ? id.slice(ROW_HANDLE.length) : undefined);

/** @returns the second at which the minute of issue began; undefined without a minute. Not authenticated: anyone can make a value up */
export function minuteOf(id: string): number | undefined {
  const minute = WITH_MINUTE.exec(id)?.[1];
  return minute === undefined ? undefined : Number.parseInt(minute, 16) * 60;
}
