/** `settings/bots`: a proof of work at sign-up, for a new password, and after failed sign-ins. What counts as one, and that nobody is shut out. Without a browser. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Challenge, solveChallenge } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2';
import { moveClock } from '../../support/clock.ts';
import { onServer } from '../../support/database.ts';
import { startMailServer } from '../../support/mail.ts';
import { eventually } from '../../support/process.ts';
import { startService, startTwo } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';
import { GOOD } from '../users/user-holdings.ts';

const challengeOn = (page: Page): Challenge | undefined => {
  const [, written] = /data-challenge="([^"]*)"/.exec(page.text) ?? [];
  return written === undefined ? undefined : JSON.parse(written.replaceAll('&#34;', '"').replaceAll('&amp;', '&'));
};

async function solved(page: Page): Promise<string> {
  const challenge = challengeOn(page);
  assert.ok(challenge, 'the page has a challenge');
  return JSON.stringify({ challenge, solution: await solveChallenge({ challenge, deriveKey }) });
}

let people = 0;
const signUp = (agent: UserAgent, page: Page, proof = ''): Promise<Page> => {
  people += 1;
  return agent.submit(page, 'sign-up-form', { email: `p${people}@example.com`, password: GOOD, proof });
};
const isHeard = (page: Page): boolean => page.status === 200 && /id="code-form"/.test(page.text);

async function start(t: TestContext, bots: Record<string, string>) {
  const server = await startMailServer(t);
  const service = await startService(t, { env: server.env });
  await service.api('PUT', '/settings/registration', { enabled: true });
  assert.equal((await service.api('PUT', '/settings/bots', bots)).status, 200);
  return service;
}

test('ADAPTIVE: nothing is asked until a network has sent many sign-ups; then a proof is, and each counts once', async (t) => {
  const service = await start(t, {});
  const agent = new UserAgent(service.baseUrl);
  for (let turn = 0; turn < 10; turn += 1) {
    const page = await agent.visit('/signup');
    assert.equal(challengeOn(page), undefined);
    assert.ok(isHeard(await signUp(agent, page)));
  }
  const page = await agent.visit('/signup');
  const refused = await signUp(agent, page);
  assert.equal(refused.status, 429);
  assert.ok(Number(refused.headers.get('retry-after')) > 0);
  assert.match(refused.text, /Submit the form again/);
  assert.match(refused.text, /value="p11@example.com"/, 'nothing typed is lost');
  const proof = await solved(refused);
  assert.ok(isHeard(await signUp(agent, refused, proof)));
  assert.equal((await signUp(agent, page, proof)).status, 429, 'used before');

  await t.test('what is no proof: changed, of another purpose, another secret, expired, or nonsense', async () => {
    const { challenge, solution } = JSON.parse(await solved(await agent.visit('/signup')));
    const { parameters } = challenge;
    const wrong = [
      { challenge, solution: { ...solution, derivedKey: '00'.repeat(32) } },
      { challenge: { ...challenge, parameters: { ...parameters, keyPrefix: '00' } }, solution },
      { challenge: { ...challenge, parameters: { ...parameters, data: { purpose: 'signIn' } } }, solution },
      { challenge: { ...challenge, parameters: { ...parameters, expiresAt: parameters.expiresAt + 60 } }, solution },
      { challenge: { ...challenge, signature: 'ab'.repeat(32) }, solution },
      { challenge, solution: null },
      [],
    ].map((one) => JSON.stringify(one));
    for (const sent of [...wrong, '{', 'x'.repeat(5000)]) assert.equal((await signUp(agent, page, sent)).status, 429, sent.slice(0, 100));
    const late = JSON.stringify({ challenge, solution });
    moveClock(t, 1801);
    // The window of the network is over, too: it is counted again up to its limit.
    for (let turn = 0; turn < 10; turn += 1) assert.ok(isHeard(await signUp(agent, page)));
    assert.equal((await signUp(agent, page, late)).status, 429);
  });

  await t.test('the log says so once', async () => {
    const { body } = await service.api('GET', `/logs?filter=${encodeURIComponent('eventType eq "security.request.blocked"')}`);
    const reasons = body.map(({ outcome }: { outcome: { reason: string } }) => outcome.reason);
    assert.deepEqual(reasons, ['PROOF_OF_WORK_MISSING', 'PROOF_OF_WORK_MISSING'], 'once in each window');
  });
});

test('of one proof sent twenty times at once to two processes, one counts', async (t) => {
  const server = await startMailServer(t);
  const [first, second] = await startTwo(t, server.env);
  await first.api('PUT', '/settings/registration', { enabled: true });
  await first.api('PUT', '/settings/bots', { signUp: 'ALWAYS' });
  const agent = new UserAgent(first.baseUrl);
  const page = await agent.visit('/signup');
  const proof = await solved(page);
  await onServer(first.database.url, (sql) =>
    sql.query(`INSERT INTO failures_by_address (key, points, expire) VALUES ('sign-up:127.0.0.1', 3, $1)`, [Date.now() + 600_000]),
  );
  const there = { ...page, url: new URL(page.url.pathname, second.listensAt) };
  await eventually(
    async () => challengeOn(await new UserAgent(second.listensAt).visit('/signup')) !== undefined,
    'the other process knows the settings',
  );
  const ends = await Promise.all(
    Array.from({ length: 20 }, (_, at) =>
      at % 2 ? signUp(agent.window(), page, proof) : signUp(agent.window(second.listensAt), there, proof),
    ),
  );
  assert.ok(
    ends.every((end) => isHeard(end) || end.status === 429),
    JSON.stringify(ends.map(({ status, url }) => [status, url.href])),
  );
  assert.equal(ends.filter(isHeard).length, 1);
});

test('ALWAYS: the page has the challenge at once; a browser without script is heard a few times, and again when the window is over', async (t) => {
  const service = await start(t, { signUp: 'ALWAYS', passwordReset: 'ALWAYS' });
  const agent = new UserAgent(service.baseUrl);
  const page = await agent.visit('/signup');
  for (let turn = 0; turn < 3; turn += 1) assert.ok(isHeard(await signUp(agent, page)));
  assert.equal((await signUp(agent, page)).status, 429);
  for (let turn = 0; turn < 3; turn += 1) assert.ok(isHeard(await signUp(agent, page, await solved(await agent.visit('/signup')))));
  moveClock(t, 901);
  assert.ok(isHeard(await signUp(agent, page)));

  await t.test('a new password', async () => {
    const form = await agent.visit('/forgot-password');
    const ask = (proof = '') => agent.submit(form, 'forgot-password-form', { username: 'somebody', proof });
    for (let turn = 0; turn < 2; turn += 1) assert.match((await ask()).url.search, /sent/);
    const refused = await ask();
    assert.equal(refused.status, 429);
    assert.match(refused.text, /value="somebody"/);
    assert.match((await ask(await solved(refused))).url.search, /sent/);
  });
});

test('after failed sign-ins the right password needs a proof, no matter of whom; and OFF asks for nothing', async (t) => {
  const service = await start(t, { signIn: 'ADAPTIVE', signUp: 'OFF' });
  const user = await service.createUser();
  const agent = new UserAgent(service.baseUrl);
  const wrong = async (turn: number) =>
    agent.submit(await agent.visit('/signin'), 'sign-in-form', { username: `nobody-${turn}`, password: 'wrong' });
  assert.equal(challengeOn(await agent.visit('/signin')), undefined);
  for (let turn = 0; turn < 20; turn += 1) assert.equal((await wrong(turn)).status, 400);
  const fresh = new UserAgent(service.baseUrl);
  const refused = await fresh.signIn(await fresh.visit('/signin'), user);
  assert.equal(refused.status, 429);
  const done = await fresh.submit(refused, 'sign-in-form', {
    ...{ username: user.login, password: user.password },
    proof: await solved(refused),
  });
  assert.equal(done.url.pathname, '/account');
  await service.api('PUT', '/settings/bots', { signIn: 'OFF', signUp: 'OFF' });
  const other = new UserAgent(service.baseUrl);
  assert.equal((await other.signIn(await other.visit('/signin'), user)).url.pathname, '/account');
  for (let turn = 0; turn < 12; turn += 1) assert.ok(isHeard(await signUp(other, await other.visit('/signup'))));
});
