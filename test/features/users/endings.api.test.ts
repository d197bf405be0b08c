/** What ends for a user, seen by applications and browsers of the whole service. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  authorizeUrl,
  challengeOf,
  createClient,
  post,
  type TestClient,
  tokensFor,
  verifier,
} from '../../protocol/servers/relying-party.ts';
import { serviceWithConsents } from '../../support/consents.ts';
import { onServer } from '../../support/database.ts';
import { type Service, startService } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';

interface Tokens {
  access_token: string;
  refresh_token: string;
}

async function signedIn(service: Service) {
  const user = await service.createUser();
  const client = await createClient(service);
  const browser = new UserAgent(service.baseUrl);
  const { body } = await tokensFor(service, browser, user, client);
  return { user, client, browser, tokens: body as Tokens };
}

const live = async (service: Service, client: TestClient, { access_token, refresh_token }: Tokens, serverId = 'built-in') =>
  Promise.all(
    [access_token, refresh_token].map(async (token) => (await post(service, serverId, 'introspect', client, { token })).body.active),
  );

/** Does the browser come to an application without signing in? */
async function isSignedIn(service: Service, browser: UserAgent, { clientId }: TestClient): Promise<boolean> {
  const url = authorizeUrl(service, 'built-in', { client_id: clientId, code_challenge: challengeOf(verifier()), prompt: 'none' });
  return (await browser.visit(url)).url.searchParams.has('code');
}

const rowsOf = (service: Service, userId: string) =>
  onServer(service.database.url, async (sql) => {
    const { rows } = await sql.query('SELECT 1 FROM oidc_payload WHERE account_id = $1', [userId]);
    return rows.length;
  });

for (const [leave, comeBack] of [
  ['deactivate', 'activate'],
  ['suspend', 'unsuspend'],
] as const) {
  test(`${leave} ends browser sessions and tokens at once and for good, also after ${comeBack}`, async (t) => {
    const service = await startService(t);
    const { user, client, browser, tokens } = await signedIn(service);
    assert.deepEqual([await live(service, client, tokens), await isSignedIn(service, browser, client)], [[true, true], true]);
    assert.equal((await service.api('POST', `/users/${user.id}/lifecycle/${leave}`)).status, 200);
    assert.deepEqual([await live(service, client, tokens), await isSignedIn(service, browser, client)], [[false, false], false]);
    assert.equal(await rowsOf(service, user.id), 0);
    assert.equal((await service.api('POST', `/users/${user.id}/lifecycle/${comeBack}`)).status, 200);
    assert.deepEqual([await live(service, client, tokens), await isSignedIn(service, browser, client)], [[false, false], false]);
    const refresh = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token };
    assert.equal((await post(service, 'built-in', 'token', client, refresh)).body.error, 'invalid_grant');
    assert.equal((await tokensFor(service, browser, user, client)).status, 200);
  });
}

test('what was being written while a user was suspended does not come back to life with him', async (t) => {
  const service = await startService(t);
  const { user, client, browser, tokens } = await signedIn(service);
  const saved = await onServer(service.database.url, async (sql) => (await sql.query('SELECT * FROM oidc_payload')).rows);
  await service.api('POST', `/users/${user.id}/lifecycle/suspend`);
  // A request that was under way writes after everything was ended.
  await onServer(service.database.url, async (sql) => {
    for (const row of saved) {
      const columns = Object.keys(row);
      const values = columns.map((_, index) => `$${index + 1}`);
      await sql.query(`INSERT INTO oidc_payload (${columns}) VALUES (${values}) ON CONFLICT DO NOTHING`, Object.values(row));
    }
  });
  assert.deepEqual([await live(service, client, tokens), await isSignedIn(service, browser, client)], [[false, false], false]);
  await service.api('POST', `/users/${user.id}/lifecycle/unsuspend`);
  assert.deepEqual([await live(service, client, tokens), await isSignedIn(service, browser, client)], [[false, false], false]);
});

test('while tokens are refreshed and codes exchanged, a suspension leaves nothing behind', async (t) => {
  const service = await startService(t);
  const { user, client, tokens } = await signedIn(service);
  const refresh = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token };
  const busy = Array.from({ length: 20 }, () => post(service, 'built-in', 'token', client, refresh));
  await service.api('POST', `/users/${user.id}/lifecycle/suspend`);
  const answers = await Promise.all(busy);
  await service.api('POST', `/users/${user.id}/lifecycle/unsuspend`);
  for (const { status, body } of answers) if (status === 200) assert.deepEqual(await live(service, client, body), [false, false]);
});

test('a deleted user’s tokens and sessions are nobody’s', async (t) => {
  const service = await startService(t);
  const { user, client, browser, tokens } = await signedIn(service);
  for (const _ of [1, 2]) assert.equal((await service.api('DELETE', `/users/${user.id}`)).status, 204);
  assert.deepEqual([await live(service, client, tokens), await isSignedIn(service, browser, client)], [[false, false], false]);
  assert.equal(await rowsOf(service, user.id), 0);
});

test('DELETE sessions ends the browser sessions; tokens too with oauthTokens=true, and nobody else’s', async (t) => {
  const service = await startService(t);
  const { user, client, browser, tokens } = await signedIn(service);
  const bystander = await signedIn(service);
  assert.equal((await service.api('DELETE', `/users/${user.id}/sessions`)).status, 204);
  assert.deepEqual([await live(service, client, tokens), await isSignedIn(service, browser, client)], [[true, true], false]);
  assert.equal((await service.api('DELETE', `/users/${user.id}/sessions?oauthTokens=true`)).status, 204);
  assert.deepEqual(await live(service, client, tokens), [false, false]);
  assert.equal((await service.api('DELETE', `/users/${user.id}/sessions?oauthTokens=1`)).status, 400);
  assert.deepEqual(await live(service, bystander.client, bystander.tokens), [true, true]);
  assert.equal(await isSignedIn(service, bystander.browser, bystander.client), true);
});

test('a password set by an administrator ends the browser sessions and the tokens', async (t) => {
  const service = await startService(t);
  const { user, client, browser, tokens } = await signedIn(service);
  await service.api('POST', `/users/${user.id}`, { profile: { nickName: 'Ada' } });
  assert.equal(await isSignedIn(service, browser, client), true);
  await service.api('POST', `/users/${user.id}`, { credentials: { password: { value: 'a new password' } } });
  assert.deepEqual([await live(service, client, tokens), await isSignedIn(service, browser, client)], [[false, false], false]);
});

test('grants: listed and read as Okta shows them; a revoked one ends that application’s tokens of that server, and is asked for again', async (t) => {
  const service = await serviceWithConsents(t);
  const user = await service.createUser({ email: 'ada@example.com' });
  const browser = new UserAgent(service.baseUrl);
  const consenting = await createClient(service, { consent_method: 'REQUIRED' });
  const trusted = await createClient(service);
  const scope = 'openid email phone offline_access';

  async function withConsent(serverId: string): Promise<Tokens> {
    const proof = verifier();
    const url = authorizeUrl(service, serverId, { client_id: consenting.clientId, scope, code_challenge: challengeOf(proof) });
    let page: Page = await browser.visit(url);
    if (page.text.includes('id="sign-in-form"')) page = await browser.signIn(page, user);
    page = await browser.submit(page, 'consent', { decision: 'allow', scope: 'phone' });
    const form = { grant_type: 'authorization_code', code: page.url.searchParams.get('code') ?? '', code_verifier: proof };
    return (await post(service, serverId, 'token', consenting, { ...form, redirect_uri: 'https://app.example/callback' })).body;
  }
  const [first, second] = [await withConsent('built-in'), await withConsent('default')];
  const { body: third } = await tokensFor(service, browser, user, trusted);

  const path = `/users/${user.id}/grants`;
  const { body: grants } = await service.api('GET', path);
  assert.deepEqual(grants.map((grant: Record<string, string>) => [grant.issuer, grant.scopeId]).sort(), [
    [service.issuer('built-in'), 'email'],
    [service.issuer('built-in'), 'phone'],
    [service.issuer('default'), 'email'],
    [service.issuer('default'), 'phone'],
  ]);
  const [grant] = grants.filter(({ issuer }: { issuer: string }) => issuer === service.issuer('built-in'));
  const api = `${service.baseUrl}/api/v1`;
  assert.deepEqual(grant, {
    id: grant.id,
    status: 'ACTIVE',
    created: grant.created,
    lastUpdated: grant.created,
    issuer: service.issuer('built-in'),
    clientId: consenting.clientId,
    userId: user.id,
    scopeId: grant.scopeId,
    _links: {
      self: { href: `${api}${path}/${grant.id}` },
      app: { href: `${api}/apps/${consenting.clientId}` },
      user: { href: `${api}/users/${user.id}` },
      authorizationServer: { href: `${api}/authorizationServers/built-in` },
    },
  });
  assert.deepEqual((await service.api('GET', `${path}/${grant.id}`)).body, grant);

  const stranger = await service.createUser();
  for (const method of ['GET', 'DELETE']) {
    assert.equal((await service.api(method, `/users/${stranger.id}/grants/${grant.id}`)).status, 404);
    assert.equal((await service.api(method, `${path}/gra_nothing`)).status, 404);
  }
  const state = async () => [
    await live(service, consenting, first),
    await live(service, consenting, second, 'default'),
    await live(service, trusted, third),
  ];
  assert.equal((await service.api('DELETE', `/users/${stranger.id}/grants`)).status, 204);
  const alive = [true, true];
  const dead = [false, false];
  assert.deepEqual(await state(), [alive, alive, alive]);

  assert.equal((await service.api('DELETE', `${path}/${grant.id}`)).status, 204);
  assert.deepEqual(await state(), [dead, alive, alive]);
  assert.equal((await service.api('DELETE', `${path}/${grant.id}`)).status, 404);
  assert.equal((await service.api('GET', path)).body.length, 3);
  const asked = await browser.visit(
    authorizeUrl(service, 'built-in', {
      client_id: consenting.clientId,
      scope: `openid ${grant.scopeId}`,
      code_challenge: challengeOf(verifier()),
    }),
  );
  assert.match(asked.text, /id="consent"/);

  assert.equal((await service.api('DELETE', path)).status, 204);
  assert.deepEqual(await state(), [dead, dead, alive]);
  assert.deepEqual((await service.api('GET', path)).body, []);
  const events = await onServer(service.database.url, async (sql) => {
    const { rows } = await sql.query(
      `SELECT debug_context FROM audit_events WHERE event_type = 'app.oauth2.as.consent.revoke' ORDER BY seq`,
    );
    return rows.map(({ debug_context }) => debug_context.before.scope);
  });
  assert.deepEqual([events[0], events.length], [grant.scopeId, 4]);
});
