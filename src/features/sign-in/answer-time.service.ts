/**
 * Delays refusals of passwords while imported hashes that cost more than our own, or passwords verified by an inline hook, exist: each refusal takes
 * as long as the most expensive comparison, so timing does not distinguish unknown, imported and other users (OWASP Authentication Cheat Sheet,
 * "Authentication and Error Messages"). Correct passwords are never delayed. Waiting costs no computation; without such passwords there is no delay.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { timings } from '../../platform/clock/timings.ts';
import type { Database } from '../../platform/database/database.ts';
import { PASSWORD_IMPORT } from '../inline-hooks/inline-hooks.resource.ts';
import { findActiveHookOf } from '../inline-hooks/inline-hooks.store.ts';
import { verifyImportedHash } from '../passwords/imported-passwords.service.ts';
import { type DearestHashes, findDearestImported, type ScryptCost } from '../passwords/password-history.store.ts';
import { verifyPassword } from '../passwords/passwords.service.ts';

/** Milliseconds until the stored hashes are checked again in the background, to notice imports by other processes. */
const LOOK_AGAIN = 10_000;
/** … and after which the comparison with the same ones is measured again. */
const MEASURE_AGAIN = 60_000;

interface Measured {
  readonly hashes: readonly string[];
  /** Milliseconds that a comparison with the dearest of them takes. */
  readonly longest: number;
  readonly at: number;
}

interface Known {
  /** Milliseconds that a refusal takes at most, where the password is compared once. */
  readonly longest: number;
  readonly at: number;
}

const measured = new WeakMap<Database, Measured>();
const known = new WeakMap<Database, Known>();
const looking = new WeakMap<Database, Promise<Known>>();

/** Takes note of an imported hash, right after it was stored: it may be the dearest, and the next answer is held back as long as it takes. */
export function noteImported(database: Database): void {
  known.delete(database);
  looking.delete(database);
}

/** Waits until a comparison that began at that moment of `performance.now()` could have been the dearest. */
export async function untilEven(database: Database, password: string, begun: number): Promise<void> {
  const { longest } = await current(database);
  // Typed in another composition, it is compared twice.
  const comparisons = password === password.normalize('NFC') ? 1 : 2;
  const rest = begun + longest * comparisons - performance.now();
  if (rest > 0) await wait(rest);
}

async function current(database: Database): Promise<Known> {
  const found = known.get(database);
  if (found !== undefined && performance.now() - found.at < LOOK_AGAIN) return found;
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
  const dearest = await findDearestImported(database.knex);
  const hashes = costlyHashes(dearest);
  const before = measured.get(database);
  if (before === undefined || at - before.at >= MEASURE_AGAIN || before.hashes.join() !== hashes.join()) {
    let longest = 0;
    for (const hash of hashes) longest = Math.max(longest, await timeOf(hash));
    measured.set(database, { hashes, longest, at });
  }
  const compared = (measured.get(database)?.longest ?? 0) * timings.comparisonMargin;
  return { longest: Math.max(compared, await timeOfHook(database, dearest)), at };
}

const SALT = 'c2FsdCBvZiBub2JvZHkgaGVyZQ==';
const KEY_BYTES = 32;

/** Hashes of nothing, as dear as the dearest of each kind. */
function costlyHashes({ bcrypt, sha1, sha256, sha512, scrypt, firebase, argon2 }: DearestHashes): string[] {
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

/** @returns milliseconds that a refusal with an inline hook takes; 0 without one */
async function timeOfHook(database: Database, { elsewhere }: DearestHashes): Promise<number> {
  if (!elsewhere || (await findActiveHookOf(database.knex, PASSWORD_IMPORT)) === undefined) return 0;
  const begun = performance.now();
  await verifyPassword(null, 'a password of nobody');
  return timings.inlineHook + (performance.now() - begun) * timings.comparisonMargin;
}

/** @returns milliseconds that a wrong password takes, as busy as the machine is now; 0 where it cannot be compared with the hash at all */
async function timeOf(hash: string): Promise<number> {
  const begun = performance.now();
  try {
    await verifyImportedHash(hash, 'a password of nobody');
  } catch {
    // One such hash must not end the sign-ins of everybody else.
    return 0;
  }
  const imported = performance.now() - begun;
  let own = performance.now();
  await verifyPassword(null, 'a password of nobody', () => {
    own = performance.now();
  });
  return imported + performance.now() - own;
}
