/**
 * Delays refusals of passwords while there are imported hashes that cost more than our own, or passwords that an inline hook verifies: each refusal
 * takes as long as the most expensive comparison, so that timing does not distinguish unknown, imported and other users (OWASP Authentication Cheat
 * Sheet, "Authentication and Error Messages"). Correct passwords are never delayed. Waiting uses no CPU; without such passwords there is no delay.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { timings } from '../../platform/clock/timings.ts';
import type { Database } from '../../platform/database/database.ts';
import { PASSWORD_IMPORT } from '../inline-hooks/inline-hooks.resource.ts';
import { findActiveHookOf } from '../inline-hooks/inline-hooks.store.ts';
import { verifyImportedHash } from '../passwords/imported-passwords.service.ts';
import { type CostliestHashes, findCostliestHashes, type ScryptCost } from '../passwords/password-history.store.ts';
import { verifyPassword } from '../passwords/passwords.service.ts';

/** Milliseconds until the stored hashes are checked again in the background, to notice imports by other processes. */
const CACHED_MS = 10_000;
/** Milliseconds until the comparison with the same hashes is measured again. */
const MEASURE_AGAIN = 60_000;

interface Measured {
  readonly hashes: readonly string[];
  /** Milliseconds of a comparison with the most expensive one. */
  readonly longest: number;
  readonly at: number;
}

interface Known {
  /** Maximum milliseconds of a refusal in which the password is compared once. */
  readonly longest: number;
  readonly at: number;
}

const measured = new WeakMap<Database, Measured>();
const known = new WeakMap<Database, Known>();
const looking = new WeakMap<Database, Promise<Known>>();

/** Call after an imported hash was stored: it may be the most expensive one, and the next refusal takes as long. */
export function noteImported(database: Database): void {
  known.delete(database);
  looking.delete(database);
}

/** Waits until a comparison that began at that time (`performance.now()`) could have been the most expensive one. */
export async function waitForEqualTime(database: Database, password: string, begun: number): Promise<void> {
  const { longest } = await current(database);
  // A password that is not in the composed form is compared twice.
  const comparisons = password === password.normalize('NFC') ? 1 : 2;
  const rest = begun + longest * comparisons - performance.now();
  if (rest > 0) await wait(rest);
}

async function current(database: Database): Promise<Known> {
  const found = known.get(database);
  if (found !== undefined && performance.now() - found.at < CACHED_MS) return found;
  const next = looking.get(database) ?? begin(database);
  if (found === undefined) return next;
  // Use the old value until the new one is available.
  next.catch(() => undefined);
  return found;
}

function begin(database: Database): Promise<Known> {
  const next: Promise<Known> = look(database)
    .then((found) => {
      // Discard a lookup that started before an import.
      if (looking.get(database) === next) known.set(database, found);
      return found;
    })
    .finally(() => {
      if (looking.get(database) === next) looking.delete(database);
    });
  looking.set(database, next);
  return next;
}

async function look(database: Database): Promise<Known> {
  const at = performance.now();
  const costliest = await findCostliestHashes(database.knex);
  const hashes = costlyHashes(costliest);
  const before = measured.get(database);
  if (before === undefined || at - before.at >= MEASURE_AGAIN || before.hashes.join() !== hashes.join()) {
    let longest = 0;
    for (const hash of hashes) longest = Math.max(longest, await timeOf(hash));
    measured.set(database, { hashes, longest, at });
  }
  const compared = (measured.get(database)?.longest ?? 0) * timings.comparisonMargin;
  return { longest: Math.max(compared, await timeOfHook(database, costliest)), at };
}

const SALT = 'c2FsdCBvZiBub2JvZHkgaGVyZQ==';
const KEY_BYTES = 32;

/** Random hashes with the highest cost of each kind. */
function costlyHashes({ bcrypt, sha1, sha256, sha512, scrypt, firebase, argon2 }: CostliestHashes): string[] {
  const pbkdf2 = { sha1: [sha1, 20], sha256: [sha256, 32], sha512: [sha512, 64] } as const;
  const like = (cost: ScryptCost) => `ln=${cost[1]},r=${cost[2]},p=${cost[3]}$${SALT}$${zeros(KEY_BYTES)}`;
  return [
    ...(bcrypt === null ? [] : [`$2b$${String(bcrypt).padStart(2, '0')}$abcdefghijklmnopqrstuu${'a'.repeat(30)}a`]),
    ...Object.entries(pbkdf2).flatMap(([digest, [iterations, size]]) =>
      iterations === null ? [] : [`$pbkdf2-${digest}$i=${iterations}$${SALT}$${zeros(size)}`],
    ),
    ...(scrypt === null ? [] : [`$scrypt$${like(scrypt)}`]),
    ...(firebase === null ? [] : [`$firebase-scrypt$${like(firebase)}`]),
    ...(argon2 === null
      ? []
      : [`$foreign-argon2id$v=19$m=${argon2[1]},t=${argon2[2]},p=${argon2[3]}$${unpadded(SALT)}$${unpadded(zeros(KEY_BYTES))}`]),
  ];
}

const zeros = (size: number): string => Buffer.alloc(size).toString('base64');
const unpadded = (base64: string): string => base64.replace(/=+$/, '');

/** @returns milliseconds of a refusal with an inline hook; 0 without one */
async function timeOfHook(database: Database, { elsewhere }: CostliestHashes): Promise<number> {
  if (!elsewhere || (await findActiveHookOf(database.knex, PASSWORD_IMPORT)) === undefined) return 0;
  const begun = performance.now();
  await verifyPassword(null, 'a password of nobody');
  return timings.inlineHook + (performance.now() - begun) * timings.comparisonMargin;
}

/** @returns milliseconds of a comparison with a wrong password, at the machine's current load; 0 if it cannot be compared */
async function timeOf(hash: string): Promise<number> {
  const begun = performance.now();
  try {
    await verifyImportedHash(hash, 'a password of nobody');
  } catch {
    // One invalid hash must not break the sign-ins of other users.
    return 0;
  }
  const imported = performance.now() - begun;
  let own = performance.now();
  await verifyPassword(null, 'a password of nobody', () => {
    own = performance.now();
  });
  return imported + performance.now() - own;
}
