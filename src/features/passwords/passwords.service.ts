/**
 * Stored passwords: Argon2id (RFC 9106) with the first parameters of OWASP's Password Storage Cheat Sheet, and imported hashes. password.policy.ts
 * decides which passwords are allowed.
 */
import { availableParallelism } from 'node:os';
import { hash, parseOptions, verify } from '@node-rs/argon2';
import { type HashCost, timings } from '../../platform/clock/timings.ts';
import { createSemaphore, type Semaphore } from '../../platform/concurrency/semaphore.ts';
import { inSpan } from '../../platform/telemetry/tracing.ts';
import { verifyImportedHash } from './imported-passwords.service.ts';
import { PASSWORD_ELSEWHERE } from './password.policy.ts';

/** A hash that matches no known password, at the same cost as all others. */
export const dummyHash = ({ memoryCost, timeCost, parallelism }: HashCost = timings.passwordHash): string =>
  `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$8FpXIcqIzkuSFpVr+X3aFg$UpXiSIjSADpVpQYT9tCAED/oHEKZcsQ8AvKoELBFLPI`;

/** More concurrent hashes than cores would not be faster, but use 19 MiB each and block the thread pool. */
export const MAX_CONCURRENT_HASHES = availableParallelism();
/** About twenty seconds: later callers would have given up before their turn. Which caller is refused does not depend on the user name. */
export const MOST_WAITING = 500 * MAX_CONCURRENT_HASHES;
export const hashSemaphore = traced(createSemaphore(MAX_CONCURRENT_HASHES, MOST_WAITING));

/** A span for each hash, with its waiting time. */
function traced(turn: Semaphore): Semaphore {
  const run: <T>(work: () => Promise<T>) => Promise<T> = (work) =>
    inSpan({ name: 'password hash', kind: 'internal' }, (span) => {
      const queuedAt = performance.now();
      return turn(() => {
        span.set({ 'gatehouse.queue.wait': Math.round(performance.now() - queuedAt) });
        return work();
      });
    });
  return Object.assign(run, { isFull: turn.isFull });
}

/** The composed form, regardless of the keyboard (RFC 8265 section 4.2.2, rule 4). */
const composed = (password: string): string => password.normalize('NFC');

/** @returns the PHC string to store, of the library's default variant, Argon2id @throws {Overloaded} */
export const hashPassword = (password: string): Promise<string> => hashSemaphore(() => hash(composed(password), timings.passwordHash));

const isArgon2 = (stored: string): boolean => stored.startsWith('$argon2id$');

/**
 * Compares a password with a stored hash, argon2 or imported.
 * @param stored null for an unknown user or no password: takes the same time and returns false, as for a password that another system has
 * @param begins called when this comparison leaves the queue
 * @throws {Overloaded} for any user
 */
export async function verifyPassword(stored: string | null, password: string, begins: () => void = () => {}): Promise<boolean> {
  const hash = stored === PASSWORD_ELSEWHERE ? null : stored;
  if (hash === null || isArgon2(hash)) {
    const matches = await hashSemaphore(() => {
      begins();
      return verify(hash ?? dummyHash(), composed(password));
    });
    return matches && hash !== null;
  }
  if (await compareImported(hash, password, begins)) return true;
  // With this second hash, a refusal takes at least as long as for an unknown user; answer-time.service.ts makes all refusals equally long. A correct
  // password takes as long too, because it is hashed again.
  await hashSemaphore(() => verify(dummyHash(), composed(password)));
  return false;
}

/** Maximum queue for comparisons with imported hashes. They can take a second each, and run one at a time beside all others. */
export const MOST_IMPORTED_WAITING = 16;
export const importedHashSemaphore = traced(createSemaphore(1, MOST_IMPORTED_WAITING));
/** Running or queued, by stored hash. */
const comparing = new Map<string, { readonly password: string; readonly matches: Promise<boolean> }>();

/**
 * One comparison at a time for each account: of concurrent guesses, the others count as wrong without a comparison.
 * @throws {Overloaded} too many accounts are waiting
 */
async function compareImported(stored: string, password: string, begins: () => void): Promise<boolean> {
  const before = comparing.get(stored);
  if (before !== undefined) {
    begins();
    return before.password === password && before.matches;
  }
  const matches = importedHashSemaphore(() => {
    begins();
    return verifyImportedHash(stored, password);
  }).finally(() => comparing.delete(stored));
  comparing.set(stored, { password, matches });
  return matches;
}

/** Is a comparison with this hash expensive, and queued separately? */
export const isImported = (stored: string | null): boolean => stored !== null && !isArgon2(stored);

/** Should this password be hashed again, because its hash was imported or has other parameters? */
export function isOutdated(stored: string): boolean {
  if (!isArgon2(stored)) return true;
  const { memoryCost, timeCost, parallelism } = parseOptions(stored);
  const today = timings.passwordHash;
  return memoryCost !== today.memoryCost || timeCost !== today.timeCost || parallelism !== today.parallelism;
}
