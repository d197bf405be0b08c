/**
 * Tells failures apart: the database out of reach, or too much asked at once (worth another try), or a constraint that did its work (PostgreSQL manual,
 * appendix A).
 */
import pg from 'pg';

/** connection exceptions · shutdown, crash, cannot connect now · too many connections · read only (a standby during failover) */
const UNAVAILABLE_STATES = /^(08...|57P0[123]|53300|25006)$/;

const UNAVAILABLE_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPIPE',
]);

// pg and pg-pool give these errors neither class nor code: their words are all there is to know them by.
const UNAVAILABLE_MESSAGE =
  /Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error and is not queryable|Cannot use a pool after calling end/;

/** More is asked at once than can wait for its turn. */
export class Overloaded extends Error {
  override readonly name = 'Overloaded';
}

/** Of the servers of the database no one takes writes at the moment. @param reasons what they said instead */
export class NoWritableServer extends Error {
  override readonly name = 'NoWritableServer';
  constructor(reasons: readonly string[]) {
    super(`no server takes writes: ${reasons.join('; ')}`);
  }
}

/** Is the database out of reach, or too much asked at once, so that the same call may succeed later? */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof Overloaded || error instanceof NoWritableServer) return true;
  if (error.cause !== undefined) return isUnavailable(error.cause);
  if (error instanceof pg.DatabaseError) return UNAVAILABLE_STATES.test(error.code ?? '');
  if ('code' in error && typeof error.code === 'string') return UNAVAILABLE_CODES.has(error.code);
  return UNAVAILABLE_MESSAGE.test(error.message);
}

/** Did the statement run longer than it may (query_canceled)? */
export const isTimeout = (error: unknown): boolean => error instanceof pg.DatabaseError && error.code === '57014';

/** @returns the name of the constraint that refused the statement (SQLSTATE class 23), if that is what happened */
export function violatedConstraint(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError && error.code?.startsWith('23') ? error.constraint : undefined;
}
