/** Classifies database errors: unreachable or overloaded (try again), or a violated constraint (PostgreSQL manual, appendix A). */
import pg from 'pg';

/**
 * connection exceptions · shutdown, crash, cannot connect now · too many connections, disk full, out of memory · disk failure · read only
 * (a standby during failover, or set by an operator)
 */
const UNAVAILABLE_STATES = /^(08...|57P0[123]|53...|58030|25006)$/;
/** statement timeout · lock not available · serialization failure · deadlock */
const HELD_UP_STATES = /^(57014|55P03|40001|40P01)$/;

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

// These errors of pg and pg-pool have neither class nor code, only a message.
const UNAVAILABLE_MESSAGE =
  /Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client (has encountered a connection error|was closed) and is not queryable|Cannot use a pool after calling end/;

/** No response from the database within the timeout of a statement or a new connection. Waiting for a pooled connection is a different error. */
const UNANSWERED_MESSAGE = /^Query read timeout$|^Connection terminated due to connection timeout$/;

/** Did the database not respond at all, so that waiting requests would fail too? */
export const isUnanswered = (error: unknown): boolean => error instanceof Error && UNANSWERED_MESSAGE.test(error.message);

/** More requests are waiting than allowed. */
export class Overloaded extends Error {
  override readonly name = 'Overloaded';
}

/** The database takes no writes. */
export class ReadOnly extends Error {
  override readonly name = 'ReadOnly';
  override readonly message = 'The database takes no writes (transaction_read_only is on)';
}

/** SQLSTATE read_only_sql_transaction. */
export const READ_ONLY_STATE = '25006';

/** No database server accepts writes at the moment. @param reasons responses of the servers */
export class NoWritableServer extends Error {
  override readonly name = 'NoWritableServer';
  constructor(reasons: readonly string[]) {
    super(`no server takes writes: ${reasons.join('; ')}`);
  }
}

/** Is the database unreachable or overloaded, so that the same call may succeed later? */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof Overloaded || error instanceof ReadOnly || error instanceof NoWritableServer) return true;
  if (error.cause !== undefined) return isUnavailable(error.cause);
  if (error instanceof pg.DatabaseError) return UNAVAILABLE_STATES.test(error.code ?? '') || wasHeldUp(error);
  if ('code' in error && typeof error.code === 'string') return UNAVAILABLE_CODES.has(error.code);
  return UNAVAILABLE_MESSAGE.test(error.message);
}

/** Did other work block the statement for too long? Then another statement may succeed immediately. */
export const wasHeldUp = (error: unknown): boolean => error instanceof pg.DatabaseError && HELD_UP_STATES.test(error.code ?? '');

/** A connection that broke or was ended by the server, in use or idle: administrator's command, crash. */
const BROKEN = /^(08006|57P0[12]|ECONNRESET|EPIPE)$/;
const BROKEN_MESSAGE = /Connection terminated unexpectedly|Client has encountered a connection error and is not queryable/;

/** Did only this connection fail, so that a new one can be opened immediately? */
export function isBrokenConnection(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return 'code' in error && typeof error.code === 'string' ? BROKEN.test(error.code) : BROKEN_MESSAGE.test(error.message);
}

/** Was the statement cancelled by its timeout (query_canceled)? */
export const isTimeout = (error: unknown): boolean => error instanceof pg.DatabaseError && error.code === '57014';

/** @returns the name of the constraint that the statement violated (SQLSTATE class 23); undefined: none */
export function violatedConstraint(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError && error.code?.startsWith('23') ? error.constraint : undefined;
}

/**
 * Runs a write that may violate a constraint.
 * @param constraint undefined: any
 * @returns false if it was violated; the transaction can then only be rolled back
 */
export async function unlessRefused(write: PromiseLike<unknown>, constraint?: string): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    const violated = violatedConstraint(error);
    if (violated === undefined || (constraint !== undefined && violated !== constraint)) throw error;
    return false;
  }
}
