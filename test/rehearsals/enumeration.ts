/**
 * Does the time of an answer tell who has an account (OWASP ASVS 5.0 V6.3.8, CWE-208)? Hundreds of samples of each door for each kind of user, in turns, and how often one who
 * has measured one of each would guess right (the area under the ROC curve, Mann and Whitney's U): 0.5 is a coin. Run by hand, for it needs minutes and a machine with nothing beside it:
 *
 *     npx tsc && SAMPLES=300 node --test dist/test/rehearsals/enumeration.js
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createClient, post } from '../protocol/servers/relying-party.ts';
import { area, median } from '../support/answer-times.ts';
import { enrolledUser } from '../support/factors.ts';
import { dataDirectory, type RunningService, runService } from '../support/process.ts';
import { UserAgent } from '../support/user-agent.ts';

const SAMPLES = Number(process.env.SAMPLES ?? 300);
/** How far from a coin a guess may be; the standard error of 300 samples is 0.024. */
const FAR = 0.1;
/** Milliseconds between the medians: less than this no network lets through. */
const NEAR = 0.5;
const WRONG = 'a password that is nobody’s';
/** Nobody is locked by so few. */
const TRIES_OF_ONE = 8;

type Door = (login: string, password: string) => Promise<unknown>;

async function doorsOf(service: RunningService): Promise<Record<string, Door>> {
  const client = await createClient(service, { grant_types: ['authorization_code', 'password'] });
  const browser = new UserAgent(service.baseUrl);
  const formAt = async (path: string) => /name="csrf" value="([^"]*)"/.exec((await browser.visit(path)).text)?.[1] ?? '';
  const [signIn, forgot] = [await formAt('/signin'), await formAt('/forgot-password')];
  const submit = async (path: string, fields: Record<string, string>) => {
    const headers = { origin: service.baseUrl };
    await (await browser.send(path, { method: 'POST', headers, body: new URLSearchParams(fields) })).text();
  };
  const json = { 'content-type': 'application/json' };
  return {
    'sign-in page': (username, password) => submit('/signin', { csrf: signIn, username, password }),
    'authn of the API': async (username, password) =>
      (
        await fetch(`${service.baseUrl}/api/v1/authn`, { method: 'POST', headers: json, body: JSON.stringify({ username, password }) })
      ).text(),
    'password grant': (username, password) => post(service, 'default', 'token', client, { grant_type: 'password', username, password }),
    'forgotten password': (username) => submit('/forgot-password', { csrf: forgot, username }),
  };
}

/** Of each kind of user whoever is next. */
async function kindsOf(service: RunningService): Promise<Record<string, () => Promise<readonly [login: string, password: string]>>> {
  /** A few tries with one, then another one. */
  const each = (make: () => Promise<{ login: string }>, tries = TRIES_OF_ONE) => {
    let [left, login] = [0, ''];
    return async (): Promise<readonly [string, string]> => {
      if (left === 0) [left, login] = [tries, (await make()).login];
      left -= 1;
      return [login, WRONG];
    };
  };
  const inState = (step: string) => async () => {
    const user = await service.createUser({ email: `${crypto.randomUUID()}@example.com` });
    await service.api('POST', `/users/${user.id}/lifecycle/${step}`);
    return user;
  };
  const staged = async () => {
    const login = crypto.randomUUID();
    await service.api('POST', '/users?activate=false', { profile: { login } });
    return { login };
  };
  const passwords = new Map<string, string>();
  const locked = async () => {
    const user = await service.createUser();
    passwords.set(user.login, user.password);
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: user.login, password: WRONG }),
    };
    await Promise.all(Array.from({ length: 10 }, () => fetch(`${service.baseUrl}/api/v1/authn`, init)));
    return user;
  };
  const lockedRight = each(locked);
  return {
    unknown: async () => [crypto.randomUUID(), WRONG],
    'unknown, again': async () => [crypto.randomUUID(), WRONG],
    'there is one': each(() => service.createUser()),
    'with a second factor': each(() => enrolledUser(service), TRIES_OF_ONE),
    suspended: each(inState('suspend'), 60),
    deactivated: each(inState('deactivate'), 60),
    'without a password': each(staged, 60),
    'locked, wrong password': each(locked),
    'locked, right password': async () => {
      const [login] = await lockedRight();
      return [login, passwords.get(login) ?? ''];
    },
  };
}

async function measure(t: TestContext, name: string, door: Door, kinds: Awaited<ReturnType<typeof kindsOf>>): Promise<string[]> {
  const samples = new Map<string, number[]>(Object.keys(kinds).map((kind) => [kind, []]));
  // In turns, in another order each time: whatever else the machine does meets all alike.
  for (let round = 0; round < SAMPLES + 5; round += 1) {
    const order = Object.entries(kinds).sort(() => Math.random() - 0.5);
    for (const [kind, next] of order) {
      const [login, password] = await next();
      const begun = performance.now();
      await door(login, password);
      if (round >= 5) samples.get(kind)?.push(performance.now() - begun);
    }
  }
  const unknown = samples.get('unknown') ?? [];
  const told: string[] = [];
  for (const [kind, values] of samples) {
    if (kind === 'unknown') continue;
    const [guess, apart] = [area(values, unknown), median(values) - median(unknown)];
    t.diagnostic(
      `${name}, ${kind}: median ${median(values).toFixed(2)} ms (${apart >= 0 ? '+' : ''}${apart.toFixed(2)}), area ${guess.toFixed(3)}`,
    );
    if (Math.abs(guess - 0.5) > FAR && Math.abs(apart) > NEAR) told.push(`${name}: ${kind}`);
  }
  return told;
}

test('the time of an answer tells nobody who has an account', async (t) => {
  const service = await runService(t, { DATA_DIR: dataDirectory(t), RATE_LIMITS: 'off', LOG_LEVEL: 'fatal' });
  const kinds = await kindsOf(service);
  const told: string[] = [];
  for (const [name, door] of Object.entries(await doorsOf(service))) told.push(...(await measure(t, name, door, kinds)));
  assert.deepEqual(told, []);
});
