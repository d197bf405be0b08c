/** `sessions/me`: a browser reads and ends its own session, and no other site's page does (management API, "Resources"; the shape of Okta's Session). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeJwt } from 'jose';
import { receiver, signInAt, told } from '../../protocol/logout/logout-receiver.ts';
import { answerOf, authorizeUrl, createClient, tokensFor, userinfo } from '../../protocol/servers/relying-party.ts';
import { moveClock } from '../../support/clock.ts';
import { onServer } from '../../support/database.ts';
import type { Received } from '../../support/requests.ts';
import { API_TOKEN, type Service, startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';

const ME = '/api/v1/sessions/me';

async function answered(response: Received): Promise<{ status: number; headers: Headers; body: Record<string, unknown> }> {
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? {} : JSON.parse(text) };
}
const ask = async (browser: UserAgent, method = 'GET', headers: Record<string, string> = {}) =>
  answered(await browser.send(ME, { method, headers }));

const isNobody = (answer: { status: number; body: Record<string, unknown> }) =>
  assert.deepEqual([answer.status, answer.body.errorCode], [404, 'E0000007'], JSON.stringify(answer.body));

async function signedIn(service: Service) {
  const user = await service.createUser();
  const browser = new UserAgent(service.baseUrl);
  const page = await browser.submit(await browser.visit('/signin'), 'sign-in-form', { username: user.login, password: user.password });
  assert.equal(page.status, 200, page.text);
  return { user, browser };
}

const events = (service: Service, type: string) =>
  onServer(service.database.url, async (sql) => {
    const { rows } = await sql.query<{ actor: Record<string, unknown>; target: Record<string, unknown>[]; content: string }>(
      'SELECT actor, target, t::text AS content FROM audit_events t WHERE event_type = $1 ORDER BY seq',
      [type],
    );
    return rows;
  });

test('GET sessions/me', async (t) => {
  const service = await startService(t);

  await t.test('tells who is signed in, since when, until when and how, and nothing that opens the session', async () => {
    const before = Date.now();
    const { user, browser } = await signedIn(service);
    const { status, headers, body } = await ask(browser);
    assert.equal(status, 200);
    assert.deepEqual(body, {
      id: body.id,
      userId: user.id,
      login: user.login,
      createdAt: body.createdAt,
      expiresAt: body.expiresAt,
      status: 'ACTIVE',
      lastPasswordVerification: body.createdAt,
      lastFactorVerification: null,
      amr: ['pwd'],
      idp: { id: 'gatehouse', type: 'OKTA' },
      mfaActive: false,
      _links: { self: { href: `${service.baseUrl}${ME}` }, user: { href: `${service.baseUrl}/api/v1/users/${user.id}` } },
    });
    const [created, expires] = [Date.parse(String(body.createdAt)), Date.parse(String(body.expiresAt))];
    assert.ok(created >= before - 1000 && created <= Date.now() && expires > Date.now());
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.match(headers.get('x-rate-limit-limit') ?? '', /^\d+$/);
    const cookie = browser.cookie('gatehouse-session') ?? '';
    assert.ok(cookie.length > 10 && !JSON.stringify(body).includes(cookie));
    const stored = await onServer(service.database.url, (sql) =>
      sql.query<{ content: string }>('SELECT p::text AS content FROM oidc_payload p'),
    );
    assert.ok(!stored.rows.some(({ content }) => content.includes(String(body.id))), 'the id is derived, and stored nowhere');
    assert.equal((await ask(browser)).body.id, body.id, 'and the same each time');
    assert.notEqual((await ask((await signedIn(service)).browser)).body.id, body.id, 'each session has its own');
  });

  await t.test('knows a session that began at an application, too', async () => {
    const [user, browser] = [await service.createUser(), new UserAgent(service.baseUrl)];
    await tokensFor(service, browser, user, await createClient(service), { serverId: 'default' });
    assert.equal((await ask(browser)).body.userId, user.id);
  });

  await t.test('is 404 E0000007 without a session: no cookie, a foreign one, one without its signature, an API token', async () => {
    isNobody(await ask(new UserAgent(service.baseUrl)));
    const { browser } = await signedIn(service);
    const value = browser.cookie('gatehouse-session') ?? '';
    const send = async (headers: Record<string, string>) => answered(await fetch(`${service.baseUrl}${ME}`, { headers }));
    isNobody(await send({ cookie: `gatehouse-session=${value}` }));
    isNobody(await send({ cookie: `gatehouse-session=${value}; gatehouse-session.sig=AAAAAAAAAAAAAAAAAAAAAAAAAAA` }));
    isNobody(await send({ cookie: `gatehouse-session=${'x'.repeat(3000)}` }));
    isNobody(await send({ authorization: `SSWS ${API_TOKEN}` }));
  });

  await t.test('is 404 once the session has expired', async (t) => {
    const { browser } = await signedIn(service);
    const { body } = await ask(browser);
    moveClock(t, (Date.parse(String(body.expiresAt)) - Date.now()) / 1000 + 1);
    isNobody(await ask(browser));
  });

  await t.test('is 404 once the user is deactivated', async () => {
    const { user, browser } = await signedIn(service);
    assert.ok((await service.api('POST', `/users/${user.id}/lifecycle/deactivate`)).status < 300);
    isNobody(await ask(browser));
  });

  await t.test('keeps a login as it is: markup, right-to-left', async () => {
    for (const login of ['<img src=x onerror=alert(1)>', 'مريم']) {
      const user = await service.createUser({ login });
      const browser = new UserAgent(service.baseUrl);
      await browser.submit(await browser.visit('/signin'), 'sign-in-form', { username: login, password: user.password });
      const { headers, body } = await ask(browser);
      assert.deepEqual([body.login, headers.get('x-content-type-options')], [login, 'nosniff']);
    }
  });
});

test('a page of another site is answered neither with the session nor by its end', async (t) => {
  const service = await startService(t);
  const { browser } = await signedIn(service);
  for (const headers of [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: `${service.baseUrl}.evil.example`, 'sec-fetch-site': 'same-origin' },
    { origin: service.baseUrl.replace('localhost', '127.0.0.1') },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ]) {
    for (const method of ['GET', 'DELETE']) {
      const answer = await ask(browser, method, headers);
      assert.deepEqual([answer.status, answer.body.errorCode], [403, 'E0000006'], `${method} ${JSON.stringify(headers)}`);
      assert.deepEqual([answer.headers.get('access-control-allow-origin'), answer.headers.getSetCookie()], [null, []]);
    }
  }
  const stranger = await ask(new UserAgent(service.baseUrl), 'GET', { 'sec-fetch-site': 'cross-site' });
  assert.equal(stranger.status, 403, 'so that it cannot tell either whether somebody is signed in');
  assert.equal((await ask(browser, 'OPTIONS', { origin: 'https://evil.example', 'access-control-request-method': 'DELETE' })).status, 405);
  const own = { origin: service.baseUrl, 'sec-fetch-site': 'same-origin' };
  assert.equal((await ask(browser, 'GET', own)).status, 200);
  assert.equal((await ask(browser, 'GET', { 'sec-fetch-site': 'none' })).status, 200, 'typed into the address bar');
  assert.equal((await ask(browser, 'DELETE', own)).status, 204);
});

test('DELETE sessions/me', async (t) => {
  const service = await startService(t, { env: { ALLOW_PRIVATE_NETWORK: 'true' }, sendsOutbox: true });

  await t.test('ends the session like a logout: everywhere, the cookie too, and its applications are told; tokens live on', async (t) => {
    const endpoint = await receiver(t);
    const [one, other] = [await told(service, endpoint.uri), await told(service, endpoint.uri)];
    const user = await service.createUser();
    const { browser, sids } = await signInAt(service, user, [
      ['built-in', one],
      ['default', other],
    ]);
    const { body: tokens } = await tokensFor(service, browser, user, one);
    const second = (await signInAt(service, user, [['default', one]])).browser;

    const copy = browser.window();
    const ended = await ask(browser, 'DELETE');
    assert.deepEqual([ended.status, ended.body], [204, {}]);
    assert.equal(browser.cookie('gatehouse-session'), undefined, 'the browser has forgotten it');
    isNobody(await ask(browser));
    isNobody(await ask(copy));
    const silent = await copy.visit(authorizeUrl(service, 'default', { client_id: other.clientId, prompt: 'none' }));
    assert.equal(answerOf(silent).error, 'login_required');
    const came = await endpoint.received(2);
    assert.deepEqual(came.map((token) => decodeJwt(token).sid).sort(), [...sids].sort());
    assert.equal((await userinfo(service, 'built-in', tokens.access_token)).status, 200);
    assert.equal((await ask(second)).status, 200, 'the session in another browser is another one');
  });

  await t.test('is recorded once, in the user’s name, of twenty at once; without a session it is 404', async () => {
    const { user, browser } = await signedIn(service);
    const windows = Array.from({ length: 20 }, () => browser.window());
    const answers = await Promise.all(windows.map((window) => ask(window, 'DELETE')));
    assert.ok(answers.some(({ status }) => status === 204));
    for (const { status } of answers) assert.ok(status === 204 || status === 404, String(status));
    isNobody(await ask(browser, 'DELETE'));
    const told = (await events(service, 'user.session.end')).filter(({ actor }) => actor.id === user.id);
    const facts = { id: user.id, type: 'User', displayName: user.login };
    assert.deepEqual(
      told.map(({ actor, target }) => [actor, target]),
      [[facts, [facts]]],
    );
    assert.ok(!told[0]?.content.includes(browser.cookie('gatehouse-session') ?? '-'));
  });
});

test('on https, where the cookie goes along cross-site, it is cleared as it was set', async (t) => {
  const service = await startService(t, { env: { BASE_URL: 'https://id.example' } });
  const user = await service.createUser();
  const { clientId } = await createClient(service);
  const authn = await fetch(`${service.listensAt}/api/v1/authn`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: user.login, password: user.password }),
  });
  const { sessionToken } = (await authn.json()) as { sessionToken: string };
  const { pathname, search } = authorizeUrl(service, 'built-in', { client_id: clientId, sessionToken });
  const browser = new UserAgent(service.listensAt);
  const cookies = (await browser.send(pathname + search)).headers.getSetCookie();
  assert.ok(
    cookies.some((cookie) => /^__Host-gatehouse-session=.*; path=\/; .*samesite=none; secure/i.test(cookie)),
    cookies.join('\n'),
  );

  assert.equal((await ask(browser, 'DELETE', { origin: service.listensAt })).status, 403, 'its own pages are those of the public address');
  assert.equal((await ask(browser)).body.userId, user.id);
  const ended = await ask(browser, 'DELETE', { origin: 'https://id.example', 'sec-fetch-site': 'same-origin' });
  assert.equal(ended.status, 204);
  const cleared = ended.headers.getSetCookie().filter((cookie) => cookie.startsWith('__Host-gatehouse-session=;'));
  assert.equal(cleared.length, 1);
  assert.match(cleared[0] ?? '', /path=\/; expires=Thu, 01 Jan 1970 .*samesite=none; secure; httponly/i);
});
