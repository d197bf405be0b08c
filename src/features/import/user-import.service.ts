/**
 * Users out of a file: newline-delimited JSON, one user a line, each as the body of `POST users`. Each is created by itself, with its audit
 * event, or refused; none depends on another, so an import may be cut off and repeated.
 */

import type { Services } from '../../platform/database/dependencies.ts';
import { ApiError, malformedBody } from '../../platform/errors/errors.ts';
import { parse } from '../../platform/validation/parsing.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { givenPassword, newUser } from '../users/user-profile.service.ts';
import { createUser } from '../users/users.service.ts';

/** A line and why it is refused, one reason a field. */
interface RefusedLine {
  /** The first line of the file is 1. */
  readonly line: number;
  readonly reasons: readonly string[];
}

export interface ImportCounts {
  readonly imported: number;
  readonly refused: number;
  /** Of the last line that was read; all up to it are imported or refused. */
  readonly lastLine: number;
}

export interface ImportOptions {
  /** Lines at a time. */
  readonly concurrency: number;
  /** No further line is read; those under way are brought to their end. */
  readonly signal: AbortSignal;
  onRefused(refused: RefusedLine): void;
  /** Called after each line, with its size in the file in bytes. */
  onLine(counts: ImportCounts, bytes: number): void;
}

/**
 * Creates the users of all lines; empty lines are passed over.
 * @throws what keeps any line from being imported, e.g. that the database is out of reach, after those under way have ended
 */
export async function importUsers(
  services: Services,
  source: AsyncIterable<string>,
  request: RequestContext,
  { concurrency, signal, onRefused, onLine }: ImportOptions,
): Promise<ImportCounts> {
  const counts = { imported: 0, refused: 0, lastLine: 0 };
  async function* numbered(): AsyncGenerator<{ line: number; text: string }> {
    for await (const text of source) {
      if (signal.aborted) return;
      counts.lastLine += 1;
      yield { line: counts.lastLine, text };
    }
  }

  const lines = numbered();
  const importOneByOne = async () => {
    for await (const { line, text } of lines) {
      const reasons = text.trim() === '' ? [] : await importLine(services, text, request);
      if (reasons === 'imported') counts.imported += 1;
      else if (reasons.length > 0) {
        counts.refused += 1;
        onRefused({ line, reasons });
      }
      onLine(counts, Buffer.byteLength(text) + 1);
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: concurrency }, importOneByOne));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  return counts;
}

async function importLine(services: Services, text: string, request: RequestContext): Promise<'imported' | readonly string[]> {
  try {
    const { credentials, ...user } = parse(newUser, readJson(text));
    await createUser(services, { ...user, ...givenPassword(credentials), activate: true }, request);
    return 'imported';
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return error.causes.length > 0 ? error.causes : [error.summary];
  }
}

/** @throws {ApiError} malformed body */
function readJson(text: string): unknown {
  // What the decoder puts in place of bytes that are no UTF-8: names would come out mangled, and nobody would see it.
  if (text.includes('\uFFFD')) throw malformedBody('it is not UTF-8');
  try {
    // Some programs put a byte order mark before the first line.
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    throw malformedBody('it is not a JSON object');
  }
}
