/** Second factors by API: `authn` with MFA_REQUIRED, `authn/factors/{id}/verify`, `users/{id}/factors` (management API, "Resources"). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, authorizeUrl, CALLBACK, createClient, post } from '../../protocol/servers/relying-party.ts';
import { moveClock, stopClock } from '../../support/clock.ts';
import { codeOf, type Enrolled, enrolledUser, wrongCode } from '../../support/factors.ts';
import { type Answer, callsTo, startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';

test('second factors by API', async (t) => {
  const service = await startService(t);
  const client = await createClient(service);
  const call = async (path: string, body: unknown): Promise<Pick<Answer, 'status' | 'body'>> => {
    const answer = await fetch(`${service.listensAt}/api/v1${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: answer.status, body: await answer.json() };
  };
  const authn = ({ login, password }: { login: string; password: string }) => call('/authn', { username: login, password });
  const verify = (factorId: string, stateToken: string, passCode: string) =>
    call(`/authn/factors/${factorId}/verify`, { stateToken, passCode });
  const begin = async (user: Enrolled) => {
    const { status, body } = await authn(user);
    assert.deepEqual([status, body.status], [200, 'MFA_REQUIRED']);
    return { stateToken: body.stateToken as string, factorId: body._embedded.factors[0].id as string, body };
  };

  await t.test('authn asks who has a factor for it, in the shape of Okta', async (t) => {
    stopClock(t);
    const user = await enrolledUser(service, { firstName: 'Ada' });
    const { body, factorId } = await begin(user);
    assert.deepEqual(Object.keys(body).sort(), ['_embedded', 'expiresAt', 'stateToken', 'status']);
    const ahead = Date.parse(body.expiresAt) - Date.now();
    assert.ok(ahead > 590_000 && ahead <= 600_000, body.expiresAt);
    assert.equal(body._embedded.user.profile.firstName, 'Ada');
    assert.deepEqual(body._embedded.factors, [
      {
        id: factorId,
        factorType: 'token:software:totp',
        provider: 'GOOGLE',
        vendorName: 'GOOGLE',
        profile: { credentialId: user.login, authenticatorName: 'Authenticator app' },
        _links: { verify: { href: `${service.baseUrl}/api/v1/authn/factors/${factorId}/verify`, hints: { allow: ['POST'] } } },
      },
    ]);
  });

  await t.test('a right code gives a session token; its session tells both factors', async () => {
    const user = await enrolledUser(service);
    const { factorId, stateToken } = await begin(user);
    const { status, body } = await verify(factorId, stateToken, codeOf(user.secret, 1));
    assert.deepEqual([status, body.status, body._embedded.user.id], [200, 'SUCCESS', user.id]);
    const url = authorizeUrl(service, 'built-in', { client_id: client.clientId, sessionToken: body.sessionToken, prompt: 'none' });
    const { code = '' } = answerOf(await new UserAgent(service.baseUrl).visit(url));
    const tokens = await post(service, 'built-in', 'token', client, { grant_type: 'authorization_code', code, redirect_uri: CALLBACK });
    assert.deepEqual(JSON.parse(Buffer.from(tokens.body.id_token.split('.')[1], 'base64url').toString()).amr, ['pwd', 'otp', 'mfa']);
    assert.equal((await verify(factorId, stateToken, codeOf(user.secret, 1))).status, 401, 'the state token is used up');
  });

  await t.test('a wrong code: 403 E0000068; the fifth ends the state token: 401 E0000011', async () => {
    const user = await enrolledUser(service);
    const { factorId, stateToken } = await begin(user);
    for (let turn = 0; turn < 5; turn += 1) {
      const { status, body } = await verify(factorId, stateToken, wrongCode(user.secret));
      assert.deepEqual([status, body.errorCode], [403, 'E0000068'], `${turn}`);
    }
    const { status, body } = await verify(factorId, stateToken, codeOf(user.secret, 1));
    assert.deepEqual([status, body.errorCode], [401, 'E0000011']);
  });

  await t.test('nothing but the right token, factor and code counts', async (t) => {
    const user = await enrolledUser(service);
    const other = await enrolledUser(service);
    const { factorId, stateToken } = await begin(user);
    const foreign = await begin(other);
    assert.equal((await verify(factorId, 'unknown', codeOf(user.secret, 1))).status, 401);
    assert.equal((await verify(foreign.factorId, stateToken, codeOf(user.secret, 1))).status, 404, "another user's factor");
    assert.equal((await verify(factorId, stateToken, codeOf(other.secret, 1))).status, 403, "another user's code");
    assert.equal((await verify(factorId, stateToken, user.recoveryCodes[0] ?? '')).status, 403, 'recovery codes are for the page');
    assert.equal((await verify('a\u0000b', stateToken, '123456')).status >= 400, true);
    assert.equal((await call(`/authn/factors/${factorId}/verify`, { stateToken })).status, 400);
    assert.equal((await call(`/authn/factors/${factorId}/verify`, { stateToken, passCode: '1', more: 1 })).status, 400);
    moveClock(t, 601);
    assert.equal((await verify(factorId, stateToken, codeOf(user.secret))).status, 401);
  });

  await t.test('twenty uses of one code at once, with twenty state tokens or with one: one succeeds', async (t) => {
    for (const tokens of [20, 1]) {
      const user = await enrolledUser(service);
      moveClock(t, 90);
      const begun = await Promise.all(Array.from({ length: tokens }, () => begin(user)));
      const passCode = codeOf(user.secret);
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, turn) => {
          const { factorId = '', stateToken = '' } = begun[turn % tokens] ?? {};
          return verify(factorId, stateToken, passCode);
        }),
      );
      assert.equal(answers.filter(({ status }) => status === 200).length, 1, `${tokens}`);
    }
  });

  await t.test('a wrong password is answered as ever, factor or not', async () => {
    const user = await enrolledUser(service);
    const { status, body } = await authn({ ...user, password: 'wrong' });
    const unknown = await authn({ login: 'nobody-at-all', password: 'wrong' });
    assert.deepEqual([status, { ...body, errorId: '' }], [401, { ...unknown.body, errorId: '' }]);
  });

  await t.test('users/{id}/factors: listed and read without secrets, by id or login', async () => {
    const user = await enrolledUser(service);
    const { status, body } = await service.api('GET', `/users/${user.login}/factors`);
    assert.equal(status, 200);
    const [factor] = body;
    assert.deepEqual(Object.keys(factor).sort(), [
      '_links',
      'created',
      'factorType',
      'id',
      'lastUpdated',
      'profile',
      'provider',
      'status',
      'vendorName',
    ]);
    assert.deepEqual((await service.api('GET', `/users/${user.id}/factors/${factor.id}`)).body, factor);
    assert.equal((await service.api('GET', `/users/${user.id}/factors/unknown`)).status, 404);
    assert.equal((await service.api('GET', '/users/unknown/factors')).status, 404);
    const other = await enrolledUser(service);
    assert.equal((await service.api('GET', `/users/${other.id}/factors/${factor.id}`)).status, 404);
    assert.equal((await service.api('DELETE', `/users/${other.id}/factors/${factor.id}`)).status, 404);
    assert.deepEqual((await service.api('GET', `/users/${(await service.createUser()).id}/factors`)).body, []);
  });

  for (const what of ['one factor', 'all factors', 'reset_factors'] as const) {
    await t.test(`a lost factor is reset (${what}): with it go the recovery codes and what waits for it; the session goes on`, async () => {
      const user = await enrolledUser(service);
      const browser = new UserAgent(service.baseUrl);
      const url = (prompt?: string) => authorizeUrl(service, 'built-in', { client_id: client.clientId, prompt });
      const page = await browser.signIn(await browser.visit(url()), user);
      assert.ok(answerOf(await browser.submit(page, 'factor-form', { passCode: codeOf(user.secret, 1) })).code);
      const { factorId, stateToken } = await begin(user);
      const [method, path, status] = {
        'one factor': ['DELETE', `factors/${factorId}`, 204],
        'all factors': ['DELETE', 'factors', 204],
        reset_factors: ['POST', 'lifecycle/reset_factors', 200],
      }[what] as [string, string, number];
      assert.equal((await service.api(method, `/users/${user.login}/${path}`)).status, status);
      assert.deepEqual((await service.api('GET', `/users/${user.id}/factors`)).body, []);
      assert.equal((await verify(factorId, stateToken, codeOf(user.secret, 1))).status, 401);
      assert.equal((await authn(user)).body.status, 'SUCCESS');
      assert.ok(answerOf(await browser.visit(url('none'))).code);
      const type = what === 'one factor' ? 'user.mfa.factor.deactivate' : 'user.mfa.factor.reset_all';
      const { body: events } = await service.api('GET', `/logs?filter=${encodeURIComponent(`eventType eq "${type}"`)}&limit=200`);
      const event = events.find(({ target }: { target: { id: string }[] }) => target[0]?.id === user.id);
      assert.deepEqual([event.debugContext.before.factors.length, event.debugContext.before.recoveryCodes], [1, 10]);
      assert.deepEqual(event.debugContext.after, { factors: [], recoveryCodes: 0 });
      assert.equal(event.actor.displayName, 'admin');
    });
  }

  await t.test('the reset of a factor ends the lock of its codes', async () => {
    const user = await enrolledUser(service);
    for (let turn = 0; turn < 2; turn += 1) {
      const { factorId, stateToken } = await begin(user);
      for (let wrong = 0; wrong < 5; wrong += 1) await verify(factorId, stateToken, wrongCode(user.secret));
    }
    const locked = await begin(user);
    assert.equal((await verify(locked.factorId, locked.stateToken, codeOf(user.secret, 1))).body.errorCode, 'E0000068');
    const password = 'another password of his';
    await service.api('POST', `/users/${user.id}`, { credentials: { password: { value: password } } });
    const changed = await begin({ ...user, password });
    const still = await verify(changed.factorId, changed.stateToken, codeOf(user.secret, 1));
    assert.equal(still.body.errorCode, 'E0000068', 'another password ends no lock of codes: who has the password could guess on');
    await service.api('DELETE', `/users/${user.id}/factors/${locked.factorId}`);
    assert.equal((await authn({ ...user, password })).body.status, 'SUCCESS');
  });
});

test('failures of codes count for the address: 429 (E0000047)', async (t) => {
  const service = await startService(t);
  const calls = callsTo(service.baseUrl, service.listensAt);
  const users = await Promise.all(Array.from({ length: 4 }, () => enrolledUser(calls)));
  const send = async (path: string, body: unknown) => {
    const answer = await fetch(`${service.listensAt}/api/v1${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    // biome-ignore lint/suspicious/noExplicitAny: asserted below
    return { status: answer.status, body: (await answer.json()) as any };
  };
  const statuses: number[] = [];
  for (let round = 0; round < 30 && !statuses.includes(429); round += 1) {
    const user = users[round % users.length] ?? users[0];
    if (user === undefined) break;
    const { status, body } = await send('/authn', { username: user.login, password: user.password });
    if (status !== 200) {
      statuses.push(status);
      break;
    }
    for (let turn = 0; turn < 5; turn += 1) {
      const path = `/authn/factors/${body._embedded.factors[0].id}/verify`;
      statuses.push((await send(path, { stateToken: body.stateToken, passCode: wrongCode(user.secret) })).status);
    }
  }
  assert.ok(statuses.filter((status) => status === 403).length >= 99);
  assert.equal(statuses.at(-1), 429);
});
