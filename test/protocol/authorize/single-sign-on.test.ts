/**
 * One sign-in for several applications at several authorization servers (OpenID Connect Core section 3.1.2.3): what they share, the session, and what
 * they do not: tokens, consents, and what one of them asks for.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { decodeJwt } from 'jose';
import { serviceWithConsents } from '../../support/consents.ts';
import { type Service, startService } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';
import {
  answerOf,
  authorizeUrl,
  CALLBACK,
  challengeOf,
  createClient,
  post,
  SIGNED_OUT,
  type TestClient,
  tokensFor,
  userinfo,
  verifier,
} from '../servers/relying-party.ts';

const SERVERS = ['built-in', 'default', 'shop'];

async function withShop(t: TestContext, start: (t: TestContext) => Promise<Service> = startService): Promise<Service> {
  const service = await start(t);
  const created = await service.api('POST', '/authorizationServers', {
    id: 'shop',
    name: 'Shop',
    description: '',
    audiences: ['https://shop.example'],
  });
  assert.equal(created.status, 201, JSON.stringify(created.body));
  return service;
}

const isSignInPage = (page: Page): boolean => page.text.includes('id="sign-in-form"');
const isActive = async (service: Service, serverId: string, client: TestClient, token: string): Promise<boolean> =>
  (await post(service, serverId, 'introspect', client, { token })).body.active;

test('one sign-in serves every application at every server: the same subject and time, tokens of their own', async (t) => {
  const service = await withShop(t);
  const user = await service.createUser();
  const [mail, calendar] = [await createClient(service), await createClient(service)];
  for (const begunAt of SERVERS) {
    const browser = new UserAgent(service.baseUrl);
    await browser.signIn(await browser.visit(authorizeUrl(service, begunAt, { client_id: mail.clientId })), user);
    const idTokens = [];
    const accessTokens = [];
    for (const client of [mail, calendar]) {
      for (const serverId of SERVERS) {
        const { status, body } = await tokensFor(service, browser, { login: 'nobody', password: 'is asked' }, client, { serverId });
        assert.equal(status, 200, JSON.stringify(body));
        const claims = decodeJwt(body.id_token);
        assert.deepEqual([claims.iss, claims.aud], [service.issuer(serverId), client.clientId]);
        idTokens.push(claims);
        accessTokens.push({ serverId, client, token: String(body.access_token) });
      }
    }
    assert.deepEqual(new Set(idTokens.map(({ sub }) => sub)), new Set([user.id]));
    assert.equal(new Set(idTokens.map(({ auth_time: time }) => time)).size, 1, 'one authentication');

    for (const { serverId, client, token } of accessTokens) {
      for (const asked of SERVERS)
        assert.equal(await isActive(service, asked, client, token), asked === serverId, `${serverId} at ${asked}`);
      assert.equal((await userinfo(service, serverId, token)).status, 200);
    }
  }
});

test('another browser is not signed in, and another user’s sign-in changes nothing for the first', async (t) => {
  const service = await withShop(t);
  const [ada, grace] = [await service.createUser(), await service.createUser()];
  const client = await createClient(service);
  const [adas, graces] = [new UserAgent(service.baseUrl), new UserAgent(service.baseUrl)];
  await tokensFor(service, adas, ada, client);
  assert(isSignInPage(await graces.visit(authorizeUrl(service, 'default', { client_id: client.clientId }))));
  await tokensFor(service, graces, grace, client, { serverId: 'default' });
  for (const [browser, user] of [
    [adas, ada],
    [graces, grace],
  ] as const) {
    for (const serverId of SERVERS) {
      const { body } = await tokensFor(service, browser, user, client, { serverId });
      assert.equal(decodeJwt(body.id_token).sub, user.id);
    }
  }
});

test('an application at two servers at once keeps both sets of tokens: refreshing and revoking at one leaves the other alone', async (t) => {
  const service = await withShop(t);
  const user = await service.createUser();
  const client = await createClient(service);
  const browser = new UserAgent(service.baseUrl);
  await browser.signIn(await browser.visit(authorizeUrl(service, 'built-in', { client_id: client.clientId })), user);

  // Both at the same moment, in two tabs.
  const [here, there] = await Promise.all(['default', 'shop'].map((serverId) => tokensFor(service, browser, user, client, { serverId })));
  assert(here !== undefined && there !== undefined);
  assert.deepEqual([here.status, there.status], [200, 200]);
  const refresh = (serverId: string, token: string) =>
    post(service, serverId, 'token', client, { grant_type: 'refresh_token', refresh_token: token });

  const crossed = await refresh('shop', here.body.refresh_token);
  assert.deepEqual([crossed.status, crossed.body.error], [400, 'invalid_grant'], 'a token is handled where it was issued');
  assert.equal((await userinfo(service, 'shop', here.body.access_token)).status, 401);
  assert.equal((await post(service, 'shop', 'revoke', client, { token: here.body.refresh_token })).status, 200);
  assert.equal(await isActive(service, 'default', client, here.body.refresh_token), true, 'the other server has revoked nothing');

  const renewed = await refresh('default', here.body.refresh_token);
  assert.equal(renewed.status, 200);
  await post(service, 'default', 'revoke', client, { token: renewed.body.refresh_token });
  assert.equal(await isActive(service, 'default', client, renewed.body.refresh_token), false);
  assert.equal(await isActive(service, 'shop', client, there.body.refresh_token), true);
  assert.equal((await refresh('shop', there.body.refresh_token)).status, 200);
});

test('an application at two servers is consented to at each: allowed, remembered and revoked by itself', async (t) => {
  const service = await withShop(t, serviceWithConsents);
  const user = await service.createUser();
  const client = await createClient(service, { consent_method: 'REQUIRED' });
  const browser = new UserAgent(service.baseUrl);
  const request = (serverId: string, prompt?: string) => {
    const code_challenge = challengeOf(proof);
    return browser.visit(authorizeUrl(service, serverId, { client_id: client.clientId, scope: 'openid email', prompt, code_challenge }));
  };
  const proof = verifier();
  const redeem = (serverId: string, page: Page) =>
    post(service, serverId, 'token', client, {
      grant_type: 'authorization_code',
      code: answerOf(page).code ?? '',
      redirect_uri: CALLBACK,
      code_verifier: proof,
    });

  const asked = await browser.signIn(await request('built-in'), user);
  const allowedHere = await redeem('built-in', await browser.submit(asked, 'consent', { decision: 'allow' }));
  assert.equal(allowedHere.status, 200, JSON.stringify(allowedHere.body));
  assert.equal(answerOf(await request('default', 'none')).error, 'consent_required', 'the other server was not consented to');
  const denied = await browser.submit(await request('default'), 'consent', { decision: 'deny' });
  assert.equal(answerOf(denied).error, 'access_denied');
  assert.ok(answerOf(await request('built-in', 'none')).code, 'a refusal there changes nothing here');
  const allowedThere = await redeem('default', await browser.submit(await request('default'), 'consent', { decision: 'allow' }));
  assert.equal(allowedThere.status, 200);

  const grants = (await service.api('GET', `/users/${user.id}/grants`)).body as { id: string; issuer: string; scopeId: string }[];
  const issuers = new Set(grants.map(({ issuer }) => issuer));
  assert.deepEqual(issuers, new Set([service.issuer('built-in'), service.issuer('default')]));
  for (const { id, issuer } of grants) {
    if (issuer === service.issuer('built-in')) assert.equal((await service.api('DELETE', `/users/${user.id}/grants/${id}`)).status, 204);
  }
  assert.equal(answerOf(await request('built-in', 'none')).error, 'consent_required');
  assert.equal(await isActive(service, 'built-in', client, allowedHere.body.access_token), false, 'with the consent go its tokens');
  assert.ok(answerOf(await request('default', 'none')).code);
  assert.equal(await isActive(service, 'default', client, allowedThere.body.access_token), true);
});

test('a logout at one server ends the session on all, for all applications, and no token (RP-Initiated Logout section 2)', async (t) => {
  const service = await withShop(t);
  const user = await service.createUser();
  const [mail, calendar] = [await createClient(service), await createClient(service)];
  for (const endedAt of SERVERS) {
    const browser = new UserAgent(service.baseUrl);
    const given = [];
    for (const serverId of SERVERS) {
      for (const client of [mail, calendar]) {
        const { body } = await tokensFor(service, browser, user, client, { serverId });
        given.push({ serverId, client, idToken: String(body.id_token), token: String(body.access_token) });
      }
    }
    const hint = given.find(({ serverId, client }) => serverId === endedAt && client === mail)?.idToken ?? '';
    const query = new URLSearchParams({ id_token_hint: hint, post_logout_redirect_uri: SIGNED_OUT });
    assert.equal((await browser.visit(`${service.issuer(endedAt)}/logout?${query}`)).url.href, SIGNED_OUT);
    for (const { serverId, client, token } of given) {
      const silent = await browser.visit(authorizeUrl(service, serverId, { client_id: client.clientId, prompt: 'none' }));
      assert.equal(answerOf(silent).error, 'login_required', `${serverId} after ${endedAt}`);
      assert.equal(await isActive(service, serverId, client, token), true);
    }
  }
});

test('prompt=login at one application asks there alone; the others go on with the session, also while the page waits', async (t) => {
  const service = await withShop(t);
  const user = await service.createUser();
  const [mail, calendar] = [await createClient(service), await createClient(service)];
  const browser = new UserAgent(service.baseUrl);
  const before = await tokensFor(service, browser, user, mail);
  const silent = async (client: TestClient, serverId: string) =>
    answerOf(await browser.visit(authorizeUrl(service, serverId, { client_id: client.clientId, prompt: 'none' })));

  const asked = await browser.visit(authorizeUrl(service, 'shop', { client_id: calendar.clientId, prompt: 'login' }));
  assert(isSignInPage(asked));
  for (const serverId of SERVERS) for (const client of [mail, calendar]) assert.ok((await silent(client, serverId)).code, serverId);
  const failed = await browser.signIn(asked, { ...user, password: 'wrong' });
  assert(isSignInPage(failed));
  assert.ok((await silent(mail, 'built-in')).code, 'a wrong password ends no session');

  assert.ok(answerOf(await browser.signIn(failed, user)).code);
  for (const serverId of SERVERS) for (const client of [mail, calendar]) assert.ok((await silent(client, serverId)).code, serverId);
  assert.equal(await isActive(service, 'built-in', mail, before.body.access_token), true);
  const after = await tokensFor(service, browser, user, mail);
  assert.equal(decodeJwt(after.body.id_token).sub, user.id);
});

test('two applications that begin before anyone is signed in need one sign-in, at whichever of them it happens', async (t) => {
  const service = await withShop(t);
  const user = await service.createUser();
  const [mail, calendar] = [await createClient(service), await createClient(service)];
  const browser = new UserAgent(service.baseUrl);
  const first = await browser.visit(authorizeUrl(service, 'built-in', { client_id: mail.clientId }));
  const second = await browser.visit(authorizeUrl(service, 'shop', { client_id: calendar.clientId }));
  assert(isSignInPage(first) && isSignInPage(second));
  assert.ok(answerOf(await browser.signIn(second, user)).code);
  const again = await browser.visit(authorizeUrl(service, 'built-in', { client_id: mail.clientId }));
  assert.ok(answerOf(again).code, 'the first only has to come again');
});
