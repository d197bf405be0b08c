/**
 * Do sign-up, the code by e-mail and the forgotten password tell who has an account (OWASP ASVS 5.0 V6.3.8, CWE-208)? 300 known and 300 unknown addresses at each
 * page, in turns: the same text, and a time by which nobody can tell them apart.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { area, median } from '../support/answer-times.ts';
import { dataDirectory, type RunningService, runService } from '../support/process.ts';
import { UserAgent } from '../support/user-agent.ts';

const EACH = 300;
/** How far from a coin a guess may be; the standard error of 300 samples is 0.024. */
const FAR = 0.1;
/** Milliseconds between the medians: less than this no network lets through. */
const NEAR = 0.5;

interface Sample {
  readonly text: string;
  readonly milliseconds: number;
}

type Door = (address: string) => Promise<Sample>;

/** What differs from one visit to the next. */
const withoutNames = (text: string, address: string): string =>
  text.replaceAll(address, 'ADDRESS').replace(/(name="csrf" value|href|action)="[^"]*"/g, '');

async function timed(agent: UserAgent, path: string, fields: Record<string, string>, address: string): Promise<Sample> {
  const begun = performance.now();
  const init = { method: 'POST', headers: { origin: agent.origin }, body: new URLSearchParams(fields), redirect: 'manual' as const };
  const response = await agent.send(path, init);
  const text = await response.text();
  const milliseconds = performance.now() - begun;
  const next = response.headers.get('location');
  const shown = next === null ? text : (await agent.visit(next)).text;
  return { text: `${response.status} ${withoutNames(shown, address)}`, milliseconds };
}

const csrfIn = (text: string): string => /name="csrf" value="([^"]*)"/.exec(text)?.[1] ?? '';

/** Each door with a browser of its own for each address, as strangers come. */
function doorsOf({ baseUrl }: RunningService): Record<string, Door> {
  const begin = async (path: string) => {
    const agent = new UserAgent(baseUrl);
    return { agent, csrf: csrfIn((await agent.visit(path)).text) };
  };
  const password = 'a password of somebody new';
  return {
    async 'sign-up'(email) {
      const { agent, csrf } = await begin('/signup');
      return timed(agent, '/signup', { csrf, email, password }, email);
    },
    async 'request of a code'(username) {
      const { agent, csrf } = await begin('/signin');
      return timed(agent, '/signin', { csrf, username, method: 'email' }, username);
    },
    async 'page of the code'(username) {
      const { agent } = await begin('/signin');
      const page = await agent.submit(await agent.visit('/signin'), 'sign-in-form', { username, method: 'email' });
      return timed(agent, '/signin/code', { csrf: csrfIn(page.text), code: '1' }, username);
    },
    async 'forgotten password'(username) {
      const { agent, csrf } = await begin('/forgot-password');
      return timed(agent, '/forgot-password', { csrf, username }, username);
    },
  };
}

async function measure(t: TestContext, name: string, door: Door, addresses: readonly string[]): Promise<string[]> {
  const known: number[] = [];
  const unknown: number[] = [];
  const texts = new Set<string>();
  // In turns, in another order each time: whatever else the machine does meets both alike. The first few warm up.
  for (let round = -5; round < EACH; round += 1) {
    const turns: (readonly [number[], string])[] = [
      [known, addresses[Math.max(0, round)] ?? ''],
      [unknown, `${crypto.randomUUID()}@example.com`],
    ];
    for (const [samples, address] of round % 2 === 0 ? turns : turns.reverse()) {
      const { text, milliseconds } = await door(address);
      texts.add(text);
      if (round >= 0) samples.push(milliseconds);
    }
  }
  const [guess, apart] = [area(known, unknown), median(known) - median(unknown)];
  t.diagnostic(`${name}: known ${median(known).toFixed(2)} ms, unknown ${median(unknown).toFixed(2)} ms, area ${guess.toFixed(3)}`);
  assert.equal(texts.size, 1, `${name}: the text is the same`);
  return Math.abs(guess - 0.5) > FAR && Math.abs(apart) > NEAR ? [name] : [];
}

test('300 known and 300 unknown addresses at each page: the same text and time', async (t) => {
  const service = await runService(t, { DATA_DIR: dataDirectory(t), RATE_LIMITS: 'off', LOG_LEVEL: 'fatal' });
  await service.api('PUT', '/settings/registration', { enabled: true });
  await service.api('PUT', '/settings/sign-in', { methods: ['password', 'passkey', 'email'] });
  const addresses: string[] = [];
  for (let n = 0; n < EACH; n += 1) {
    const email = `${crypto.randomUUID()}@example.com`;
    await service.createUser({ login: email, email });
    addresses.push(email);
  }
  const told: string[] = [];
  for (const [name, door] of Object.entries(doorsOf(service))) told.push(...(await measure(t, name, door, addresses)));
  assert.deepEqual(told, []);
});
