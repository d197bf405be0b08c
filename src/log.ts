/** The log: JSON lines (pino), in which an error tells what failed and nothing of what it failed with (OWASP ASVS 5.0 V16.2.5). */
import { type DestinationStream, type Logger, type LoggerOptions, pino, type SerializedError } from 'pino';

/** In these PostgreSQL repeats the row that it refuses, with password hashes and all (PostgreSQL documentation, "Error and Notice Message Fields"). */
const OF_ROWS = ['detail', 'where', 'internalQuery'];
/** The connection that broke, as pg's pool adds it: whole, with the key by which its statements may be cancelled. */
const OF_CONNECTIONS = ['client'];

function withoutSecrets(told: SerializedError): SerializedError {
  if (typeof told !== 'object' || told === null) return told;
  for (const name of [...OF_ROWS, ...OF_CONNECTIONS]) delete told[name];
  for (const each of (told.aggregateErrors ?? []) as SerializedError[]) withoutSecrets(each);
  return told;
}

const serializers = { err: (error: Error) => withoutSecrets(pino.stdSerializers.err(error)) };

/** @param destination absent: the standard output */
export const createLog = (options: Pick<LoggerOptions, 'level' | 'base'>, destination?: DestinationStream): Logger =>
  destination === undefined ? pino({ ...options, serializers }) : pino({ ...options, serializers }, destination);
