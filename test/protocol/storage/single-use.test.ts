/** Codes and refresh tokens over HTTP: used once, by the one they were given to, in their time; a second use ends what the first was given. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { afterwards } from '../../support/afterwards.ts';
import { moveClock, stopClock } from '../../support/clock.ts';
import { startedDatabase } from '../../support/database.ts';
import { type Service, STARTED, startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import {
  answerOf,
  authorizeUrl,
  CALLBACK,
  challengeOf,
  createClient,
  type JsonAnswer,
  post,
  type TestClient,
  tokensFor,
  userinfo,
  verifier,
} from '../servers/relying-party.ts';

const SCOPE = 'openid profile offline_access';
const times = <T>(count: number, act: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => act(index)));

/** A service with a user who has signed in on a browser for an application. */
async function signedIn(t: TestContext, settings: Record<string, unknown> = {}, service?: Service) {
  const own = service ?? (await startService(t));
  const [user, client] = [await own.createUser(), await createClient(own, settings)];
  const browser = new UserAgent(own.baseUrl);
  const tokens = await tokensFor(own, browser, user, client, { scope: SCOPE });
  assert.equal(tokens.status, 200, JSON.stringify(tokens.body));
  return { service: own, client, tokens: tokens.body, browser };
}

/** What exchanges a fresh code; @param browser signed in */
async function freshCode(service: Service, browser: UserAgent, { clientId }: TestClient): Promise<Record<string, string>> {
  const proof = verifier();
  const url = authorizeUrl(service, 'built-in', { client_id: clientId, scope: SCOPE, code_challenge: challengeOf(proof) });
  const { code = '' } = answerOf(await browser.visit(url));
  assert.notEqual(code, '');
  return { grant_type: 'authorization_code', code, redirect_uri: CALLBACK, code_verifier: proof };
}

const refresh = (service: Service, client: TestClient, token: string): Promise<JsonAnswer> =>
  post(service, 'built-in', 'token', client, { grant_type: 'refresh_token', refresh_token: token });
const isActive = async (service: Service, client: TestClient, token: string): Promise<boolean> =>
  (await post(service, 'built-in', 'introspect', client, { token })).body.active;

function assertRefused({ status, body }: JsonAnswer, message?: string): void {
  assert.deepEqual([status, body.error], [400, 'invalid_grant'], message);
}

/** @returns the one answer that is a success; every other one is a plain refusal */
function theOnlyWinner(answers: readonly JsonAnswer[]): JsonAnswer {
  const [winner, ...more] = answers.filter(({ status }) => status === 200);
  assert.ok(winner);
  assert.equal(more.length, 0);
  for (const answer of answers) if (answer !== winner) assertRefused(answer);
  return winner;
}

for (const processes of [1, 2]) {
  test(`one of fifty parallel exchanges of a code at ${processes} process(es) succeeds, and loses what it was given (RFC 6749 section 4.1.2)`, async (t) => {
    const beside = { database: await startedDatabase(), secretKey: STARTED.SECRET_KEY };
    afterwards(t, () => beside.database.drop());
    const service = await startService(t, { beside });
    const services = [service, ...(await times(processes - 1, () => startService(t, { beside })))];
    const { client, browser } = await signedIn(t, {}, service);
    const form = await freshCode(service, browser, client);
    const { body } = theOnlyWinner(
      await times(50, (index) => post(services[index % processes] ?? service, 'built-in', 'token', client, form)),
    );
    assert.equal(await isActive(service, client, body.access_token), false);
    assert.equal(await isActive(service, client, body.refresh_token), false);
    assertRefused(await refresh(service, client, body.refresh_token));
  });
}

test('a code used again later ends the tokens of its first use (RFC 6749 section 4.1.2)', async (t) => {
  const { service, client, browser } = await signedIn(t);
  const form = await freshCode(service, browser, client);
  const { body } = await post(service, 'built-in', 'token', client, form);
  const { body: rotated } = await refresh(service, client, body.refresh_token);
  assert.equal(await isActive(service, client, rotated.access_token), true);
  assertRefused(await post(service, 'built-in', 'token', client, form));
  for (const token of [body.access_token, rotated.access_token, rotated.refresh_token]) {
    assert.equal(await isActive(service, client, token), false);
  }
});

test('a code lives for 300 seconds (RFC 6749 section 4.1.2)', async (t) => {
  stopClock(t);
  const { service, client, browser } = await signedIn(t);
  const [early, late] = [await freshCode(service, browser, client), await freshCode(service, browser, client)];
  moveClock(t, 295);
  assert.equal((await post(service, 'built-in', 'token', client, early)).status, 200);
  moveClock(t, 5);
  assertRefused(await post(service, 'built-in', 'token', client, late));
});

for (const serverId of ['built-in', 'default']) {
  test(`an access token ends after 3600 seconds, at introspection and userinfo in the same second: ${serverId} (RFC 7662 section 2.2)`, async (t) => {
    stopClock(t);
    const service = await startService(t);
    const [user, client] = [await service.createUser(), await createClient(service)];
    const { body } = await tokensFor(service, new UserAgent(service.baseUrl), user, client, { serverId, scope: SCOPE });
    assert.equal(body.expires_in, 3600);
    const introspect = async () => (await post(service, serverId, 'introspect', client, { token: body.access_token })).body;
    const { exp, iat } = await introspect();
    assert.equal(exp - iat, 3600);

    moveClock(t, exp - 1 - Date.now() / 1000);
    assert.deepEqual([(await introspect()).active, (await userinfo(service, serverId, body.access_token)).status], [true, 200]);
    moveClock(t, exp - Date.now() / 1000);
    assert.deepEqual([await introspect(), (await userinfo(service, serverId, body.access_token)).status], [{ active: false }, 401]);
  });
}

test('a refresh token without leeway: one of twenty parallel uses succeeds, and its family ends (RFC 9700 section 4.14.2)', async (t) => {
  const { service, client, tokens } = await signedIn(t, { refresh_token: { leeway: 0 } });
  const { body } = theOnlyWinner(await times(20, () => refresh(service, client, tokens.refresh_token)));
  for (const token of [tokens.access_token, body.access_token, body.refresh_token]) {
    assert.equal(await isActive(service, client, token), false);
  }
});

for (const [what, end] of [
  ['used', (service: Service, client: TestClient, successor: string) => refresh(service, client, successor)],
  [
    'revoked',
    (service: Service, client: TestClient, successor: string) => post(service, 'built-in', 'revoke', client, { token: successor }),
  ],
] as const) {
  test(`once the successor was ${what}, its predecessor is dead within the leeway, and its use ends the family (RFC 9700 section 4.14.2)`, async (t) => {
    stopClock(t);
    const { service, client, tokens } = await signedIn(t);
    const { body: successor } = await refresh(service, client, tokens.refresh_token);
    const next = await end(service, client, successor.refresh_token);
    assert.equal(next.status, 200);
    assert.equal(await isActive(service, client, tokens.refresh_token), false);
    assert.equal(await isActive(service, client, successor.access_token), true);
    assertRefused(await refresh(service, client, tokens.refresh_token));
    const given = [
      tokens.access_token,
      successor.access_token,
      ...(what === 'used' ? [next.body.access_token, next.body.refresh_token] : []),
    ];
    for (const token of given) assert.equal(await isActive(service, client, token), false);
  });
}

test('the use of a successor that was replaced ends the family: two hold the tokens of one (RFC 9700 section 4.14.2)', async (t) => {
  stopClock(t);
  const { service, client, tokens } = await signedIn(t);
  const first = await refresh(service, client, tokens.refresh_token);
  const second = await refresh(service, client, tokens.refresh_token);
  assertRefused(await refresh(service, client, first.body.refresh_token));
  for (const token of [second.body.access_token, second.body.refresh_token]) assert.equal(await isActive(service, client, token), false);
});

test('a refresh token used again within its leeway of 10 seconds yields another successor in place of the first; after it, the family ends (RFC 9700 section 4.14.2)', async (t) => {
  stopClock(t);
  const { service, client, tokens } = await signedIn(t);
  const first = await refresh(service, client, tokens.refresh_token);
  moveClock(t, 8);
  const second = await refresh(service, client, tokens.refresh_token);
  assert.deepEqual([first.status, second.status], [200, 200]);
  assert.notEqual(first.body.refresh_token, second.body.refresh_token);
  assert.equal(await isActive(service, client, first.body.refresh_token), false, 'the first one ended');
  assert.equal(await isActive(service, client, second.body.refresh_token), true);

  moveClock(t, 3);
  assertRefused(await refresh(service, client, tokens.refresh_token), 'the leeway counts from the first use');
  for (const { body } of [first, second]) {
    assert.equal(await isActive(service, client, body.access_token), false);
    assertRefused(await refresh(service, client, body.refresh_token));
  }
});

test('a refresh token that does not rotate stays, and each use begins its time anew (RFC 6749 section 6)', async (t) => {
  const { service, client, tokens } = await signedIn(t, { refresh_token: { rotation_type: 'STATIC' } });
  const expiry = async () => (await post(service, 'built-in', 'introspect', client, { token: tokens.refresh_token })).body.exp;
  const before = await expiry();
  moveClock(t, 86_400);
  const { status, body } = await refresh(service, client, tokens.refresh_token);
  assert.deepEqual([status, body.refresh_token], [200, tokens.refresh_token]);
  const slid = (await expiry()) - before;
  assert.ok(slid >= 86_400 && slid < 86_410, `slid by ${slid} seconds`);
});

test('a refresh token that does not rotate is dead after its revocation, however many uses were under way (RFC 7009 section 2.1)', async (t) => {
  const { service, client, tokens } = await signedIn(t, { refresh_token: { rotation_type: 'STATIC' } });
  const uses = times(20, () => refresh(service, client, tokens.refresh_token));
  const revoked = await post(service, 'built-in', 'revoke', client, { token: tokens.refresh_token });
  assert.equal(revoked.status, 200);
  for (const answer of await uses) if (answer.status !== 200) assertRefused(answer);
  assertRefused(await refresh(service, client, tokens.refresh_token));
  assert.equal(await isActive(service, client, tokens.refresh_token), false);
});
