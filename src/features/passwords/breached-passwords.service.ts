/**
 * Checks passwords against breaches with a range server (k-anonymity: NIST SP 800-63B section 3.1.1.2; the API of Pwned Passwords). It gets the first
 * five hexadecimal digits of the password's SHA-1 and returns the endings of all matching digests. On any error the password is accepted: an external
 * server must not prevent a new password.
 */
import { hash } from 'node:crypto';
import { BREACHED_RANGES } from '../../../config/defaults.ts';
import { timings } from '../../platform/clock/timings.ts';
import type { Config } from '../../platform/config/config.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { createOutbound, type Outbound } from '../../platform/http/outbound.ts';
import { type PasswordPolicy, rangeContains } from './password.policy.ts';

/** `failed`: the server did not respond in time, or not with a range; the password is accepted. */
export type BreachOutcome = 'found' | 'clean' | 'failed';

type Parts = Pick<Services, 'config' | 'database' | 'log'>;

/** By pool: services within a transaction have a different database object, but the process's pool. */
const counters = new WeakMap<Services['database']['pool'], (outcome: BreachOutcome) => void>();

/** Starts counting lookups of this process. */
export function countBreachLookups({ database }: Pick<Services, 'database'>, count: (outcome: BreachOutcome) => void): void {
  counters.set(database.pool, count);
}

const clients = new WeakMap<Config, Outbound>();

function clientOf(config: Config): Outbound {
  const known = clients.get(config);
  if (known !== undefined) return known;
  const made = createOutbound(config);
  clients.set(config, made);
  return made;
}

/** Number of sent digits: each prefix matches about 2,000 passwords of the list. */
const PREFIX = 5;

/** @returns whether the password is known from a breach; false if that is not checked, or cannot be determined */
export async function isBreached(parts: Parts, password: string, policy: PasswordPolicy): Promise<boolean> {
  if (policy.breached === 'OFF') return false;
  const outcome = await lookUp(parts, password, policy.breachedRangeUrl ?? BREACHED_RANGES);
  counters.get(parts.database.pool)?.(outcome);
  return outcome === 'found';
}

async function lookUp({ config, log }: Parts, password: string, address: string): Promise<BreachOutcome> {
  const digest = hash('sha1', password.normalize('NFC'), 'hex').toUpperCase();
  try {
    const range = await readRange(clientOf(config), address, digest.slice(0, PREFIX));
    return rangeContains(range, digest.slice(PREFIX)) ? 'found' : 'clean';
  } catch (error) {
    // Without the URL, which contains the start of the digest.
    log.warn(
      { reason: error instanceof Error ? error.name : 'unknown' },
      'the breached-password server did not respond; accepted a password without the check',
    );
    return 'failed';
  }
}

/** The range that tests request: it says nothing about any user's password. */
const TEST_RANGE = '00000';

/** Tests the server. @throws if it does not respond with a range, with the reason */
export async function tryRangeServer(config: Config, { breachedRangeUrl }: Pick<PasswordPolicy, 'breachedRangeUrl'>): Promise<void> {
  await readRange(clientOf(config), breachedRangeUrl ?? BREACHED_RANGES, TEST_RANGE);
}

/** @throws if the status is not 200, or the response is late or not a list of digests */
async function readRange(outbound: Outbound, address: string, prefix: string): Promise<string> {
  const signal = AbortSignal.timeout(timings.breachedPasswords);
  // With padding, the size of the response does not reveal the range.
  const response = await outbound(`${address}${prefix}`, { headers: { 'add-padding': 'true', accept: 'text/plain' }, signal });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`the server of breached passwords answered ${response.status}`);
  }
  const text = await response.text();
  if (!/^[0-9A-Fa-f]{35}:\d+\s/.test(`${text}\n`))
    throw new Error('the server of breached passwords answered with something else than a range');
  return text;
}
