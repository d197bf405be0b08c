/** The log: JSON lines (pino). Of an error, only selected properties are logged (OWASP ASVS 5.0 V16.2.5). */
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';

/**
 * The properties of an error that are logged. Others may contain data that must not be: the row that PostgreSQL refused, pg's connection
 * with the key that cancels its statements, the packet that Node's HTTP parser could not read.
 */
const LOGGED = ['type', 'message', 'stack', 'code', 'routine', 'errno', 'syscall'] as const;

interface LoggedError {
  readonly [name: string]: unknown;
}

function describe(error: unknown): LoggedError {
  const serialized: LoggedError = pino.stdSerializers.err(error as Error);
  if (typeof serialized !== 'object' || serialized === null) return { message: String(serialized) };
  const described = Object.fromEntries(LOGGED.flatMap((name) => (isPlain(serialized[name]) ? [[name, serialized[name]]] : [])));
  const aggregated = (error as { errors?: unknown }).errors;
  return Array.isArray(aggregated) ? { ...described, aggregateErrors: aggregated.map(describe) } : described;
}

const isPlain = (value: unknown): boolean => typeof value === 'string' || typeof value === 'number';

const serializers = { err: describe };

/** @param destination absent: standard output */
export const createLog = (options: Pick<LoggerOptions, 'level' | 'base' | 'mixin'>, destination?: DestinationStream): Logger =>
  destination === undefined ? pino({ ...options, serializers }) : pino({ ...options, serializers }, destination);
