/** How long the refusals of wrong passwords take, compared with each other. */
import assert from 'node:assert/strict';
import { pbkdf2Sync, randomBytes } from 'node:crypto';
import type { TestContext } from 'node:test';
import { hash as bcrypt } from '@node-rs/bcrypt';
import type { Service } from '../../support/service.ts';

export const ATTEMPTS = 5;
/** Of as many attempts each. */
const ROUNDS = 6;

/** As Okta's API takes it. */
export async function bcryptHash(workFactor: number) {
  const [, , , rest = ''] = (await bcrypt('right password', workFactor)).split('$');
  return { algorithm: 'BCRYPT', workFactor, salt: rest.slice(0, 22), value: rest.slice(22) };
}

export function pbkdf2Hash(iterationCount: number) {
  const salt = randomBytes(16);
  const value = pbkdf2Sync('right password', salt, iterationCount, 32, 'sha256').toString('base64');
  return { algorithm: 'PBKDF2', digestAlgorithm: 'SHA256_HMAC', iterationCount, keySize: 32, salt: salt.toString('base64'), value };
}

export async function imported(service: Service, login: string, hash: object): Promise<string> {
  const { status, body } = await service.api('POST', '/users', { profile: { login }, credentials: { password: { hash } } });
  assert.ok(status < 300, JSON.stringify(body));
  return login;
}

/** Milliseconds of a refusal. */
export async function refusal(service: Service, username: string, password: string): Promise<number> {
  const begun = performance.now();
  const answer = await fetch(`${service.baseUrl}/api/v1/authn`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password }),
  });
  await answer.arrayBuffer();
  assert.equal(answer.status, 401);
  return performance.now() - begun;
}

interface Attempt {
  readonly login: string;
  readonly password: string;
}

/**
 * The same time for all of them. What the machine does besides only ever adds to a time, so the shortest of several are compared; where they still differ, more
 * are taken, for a difference of the service itself stays however many there are.
 * @param least the part of the longest that the shortest takes
 */
export async function assertEven(t: TestContext, service: Service, attempts: readonly Attempt[], least: number): Promise<number[]> {
  const shortest = attempts.map(() => Number.POSITIVE_INFINITY);
  const isEven = () => Math.min(...shortest) > least * Math.max(...shortest);
  for (let round = 0; round < ROUNDS && !(round > 0 && isEven()); round += 1) {
    for (let turn = 0; turn < ATTEMPTS; turn += 1) {
      for (const [index, { login, password }] of attempts.entries()) {
        shortest[index] = Math.min(shortest[index] ?? 0, await refusal(service, login, password));
      }
    }
  }
  const told = attempts.map(({ login, password }, index) => `${login}, ${password}: ${Math.round(shortest[index] ?? 0)} ms`).join('; ');
  t.diagnostic(told);
  assert.ok(isEven(), told);
  return shortest;
}
