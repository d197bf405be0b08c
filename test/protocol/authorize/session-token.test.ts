/** Sign-in by API: `POST /api/v1/authn` and the authorize endpoint's `sessionToken` ("Authorize" and management API, "authn"). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { moveClock, stopClock } from '../../support/clock.ts';
import { onServer } from '../../support/database.ts';
import { type Answer, startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { answerOf, authorizeUrl, CALLBACK, createClient, post } from '../servers/relying-party.ts';

test('sign-in by API', async (t) => {
  const service = await startService(t);
  const client = await createClient(service);
  const user = await service.createUser({ firstName: 'Ada', lastName: 'Lovelace', locale: 'en_GB', zoneinfo: 'Europe/London' });
  const authn = async (body: unknown): Promise<Pick<Answer, 'status' | 'body'>> => {
    const answer = await fetch(`${service.listensAt}/api/v1/authn`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: answer.status, body: await answer.json() };
  };
  const tokenOf = async ({ login, password } = user): Promise<string> => {
    const { status, body } = await authn({ username: login, password });
    assert.equal(status, 200, JSON.stringify(body));
    return body.sessionToken;
  };
  const url = (parameters: Record<string, string | undefined>, serverId = 'built-in') =>
    authorizeUrl(service, serverId, { client_id: client.clientId, ...parameters });
  const visit = (parameters: Record<string, string | undefined>, browser = new UserAgent(service.baseUrl)) =>
    browser.visit(url(parameters));
  const idTokenOf = async (code: string) => {
    const { body } = await post(service, 'built-in', 'token', client, { grant_type: 'authorization_code', code, redirect_uri: CALLBACK });
    return JSON.parse(Buffer.from(body.id_token.split('.')[1], 'base64url').toString());
  };
  const asksToSignIn = (page: Awaited<ReturnType<typeof visit>>) => assert.match(page.text, /id="sign-in-form"/);

  await t.test('answers a right password with the documented fields, without an API token', async (t) => {
    stopClock(t);
    const { status, body } = await authn({ username: user.login.toUpperCase(), password: user.password });
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body).sort(), ['_embedded', 'expiresAt', 'sessionToken', 'status']);
    assert.equal(body.status, 'SUCCESS');
    const ahead = Date.parse(body.expiresAt) - Date.now();
    assert.ok(ahead > 295_000 && ahead <= 300_000, body.expiresAt);
    const { passwordChanged, ...rest } = body._embedded.user;
    assert.match(passwordChanged, /^\d{4}-/);
    const profile = { login: user.login, firstName: 'Ada', lastName: 'Lovelace', locale: 'en_GB', timeZone: 'Europe/London' };
    assert.deepEqual(rest, { id: user.id, profile });
  });

  await t.test('tells no reason of a refusal: 401 E0000004', async () => {
    const { login: staged, id } = await service.createUser();
    await service.api('POST', `/users/${id}/lifecycle/suspend`);
    const bodies = [];
    for (const [username, password] of [
      [user.login, 'wrong'],
      ['nobody', user.password],
      [staged, user.password],
      ['a\u0000b', 'x'],
    ]) {
      const { status, body } = await authn({ username, password });
      assert.deepEqual([status, body.errorCode], [401, 'E0000004']);
      bodies.push({ ...body, errorId: '' });
    }
    assert.equal(new Set(bodies.map((body) => JSON.stringify(body))).size, 1);
    for (const body of [{}, { username: 'x' }, { username: 1, password: 'x' }, { username: 'x', password: 'y', nonsense: 1 }]) {
      assert.deepEqual([(await authn(body)).status, (await authn(body)).body.errorCode], [400, 'E0000001']);
    }
  });

  for (const prompt of [undefined, 'none', 'login']) {
    await t.test(`signs the browser in without a page, with prompt ${prompt}`, async () => {
      const browser = new UserAgent(service.baseUrl);
      const before = Math.floor(Date.now() / 1000);
      const page = await visit({ prompt, sessionToken: await tokenOf() }, browser);
      const { code } = answerOf(page);
      assert.ok(code, page.text);
      const claims = await idTokenOf(code);
      assert.deepEqual([claims.sub, claims.amr], [user.id, ['pwd']]);
      assert.ok(claims.auth_time >= before && claims.auth_time <= before + 30);
      assert.ok(!page.url.href.includes('sessionToken'));
      assert.ok(answerOf(await visit({ prompt: 'none' }, browser)).code, 'and the session stays');
    });
  }

  await t.test('is the fresh authentication that prompt=login asks for, also where somebody is signed in', async () => {
    const browser = new UserAgent(service.baseUrl);
    await browser.signIn(await visit({}, browser), user);
    assert.ok(answerOf(await visit({ prompt: 'login', sessionToken: await tokenOf() }, browser)).code);
    const other = await service.createUser();
    const { code } = answerOf(await visit({ prompt: 'none', sessionToken: await tokenOf(other) }, browser));
    assert.equal((await idTokenOf(code ?? '')).sub, other.id, 'another user takes the place of the one before');
    assert.equal((await idTokenOf(answerOf(await visit({ prompt: 'none' }, browser)).code ?? '')).sub, other.id);
    const { rows } = await onServer(service.database.url, (sql) =>
      sql.query('SELECT count(*)::int AS n FROM oidc_payload WHERE model = 1 AND account_id = $1', [user.id]),
    );
    assert.ok(rows[0].n >= 1);
  });

  await t.test('is good for one use, of twenty at once for one', async () => {
    const sessionToken = await tokenOf();
    const answers = await Promise.all(Array.from({ length: 20 }, () => visit({ prompt: 'none', sessionToken })));
    const outcomes = answers.map((page) => (answerOf(page).code === undefined ? answerOf(page).error : 'code')).sort();
    assert.deepEqual(outcomes, ['code', ...Array(19).fill('login_required')]);
  });

  await t.test('used, unknown or expired: login_required with prompt=none, else the sign-in page, whoever is signed in', async (t) => {
    const browser = new UserAgent(service.baseUrl);
    const used = await tokenOf();
    assert.ok(answerOf(await visit({ sessionToken: used }, browser)).code);
    for (const sessionToken of [used, 'nonsense', 'x'.repeat(2000)]) {
      asksToSignIn(await visit({ sessionToken }, browser));
      asksToSignIn(await visit({ sessionToken, prompt: 'consent' }));
      assert.deepEqual([answerOf(await visit({ sessionToken, prompt: 'none' }, browser)).error], ['login_required']);
    }
    const late = await tokenOf();
    moveClock(t, 301);
    assert.equal(answerOf(await visit({ sessionToken: late, prompt: 'none' })).error, 'login_required');
  });

  await t.test('dies with its user, and is not used up by a request that is refused', async () => {
    const { id, ...gone } = await service.createUser();
    const dead = await tokenOf({ id, ...gone });
    await service.api('POST', `/users/${id}/lifecycle/suspend`);
    await service.api('POST', `/users/${id}/lifecycle/unsuspend`);
    assert.equal(answerOf(await visit({ sessionToken: dead, prompt: 'none' })).error, 'login_required');
    const sessionToken = await tokenOf();
    assert.equal(answerOf(await visit({ sessionToken, prompt: 'none', scope: 'openid nonsense' })).error, 'invalid_scope');
    assert.equal((await visit({ sessionToken, redirect_uri: 'https://evil.example/' })).status, 400);
    assert.ok(answerOf(await visit({ sessionToken, prompt: 'none' })).code);
  });

  await t.test('its value is stored nowhere', async () => {
    const sessionToken = await tokenOf();
    asksToSignIn(await visit({ sessionToken: 'nonsense-that-was-sent' }));
    const { rows } = await onServer(service.database.url, (sql) =>
      sql.query(`SELECT 1 FROM oidc_payload p WHERE p::text LIKE $1 OR p::text LIKE '%nonsense-that-was-sent%'`, [`%${sessionToken}%`]),
    );
    assert.equal(rows.length, 0);
  });
});
