/** What an application's changes mean to its tokens and its sign-ins, on the whole service: deletion, deactivation, rotated secrets (RFC 6749 section 2.3.1; RFC 7662 section 2.2). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { exportJWK, generateKeyPair, importJWK, SignJWT } from 'jose';
import { onServer } from '../../support/database.ts';
import { eventually } from '../../support/process.ts';
import { setScope } from '../../support/scopes.ts';
import { type Service, startService, startTwo } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import {
  answerOf,
  authorizeUrl,
  CALLBACK,
  challengeOf,
  createClient,
  post,
  type TestClient,
  tokensFor,
  userinfo,
  verifier,
} from './relying-party.ts';

const SECRET = 'a secret that stays the same for both of them';

/** As soon as another process is told: by itself it would look again in ten minutes (support/short-waits.ts). */
async function soon<T>(expected: T, read: () => Promise<T>): Promise<void> {
  await eventually(async () => JSON.stringify(await read()) === JSON.stringify(expected), `${JSON.stringify(expected)} is found`);
}

/** Everything that an application can hold, on a server. */
async function everythingFor(service: Service, client: TestClient, serverId: string) {
  const user = await service.createUser();
  const browser = new UserAgent(service.baseUrl);
  const { body } = await tokensFor(service, browser, user, client, { serverId });
  const proof = verifier();
  const page = await browser.visit(
    authorizeUrl(service, serverId, { client_id: client.clientId, code_challenge: challengeOf(proof), scope: 'openid offline_access' }),
  );
  const { code = '' } = answerOf(page);
  assert.ok(body.access_token && body.refresh_token && body.id_token && code);
  return { user, browser, ...body, exchange: { grant_type: 'authorization_code', code, redirect_uri: CALLBACK, code_verifier: proof } };
}

type Everything = Awaited<ReturnType<typeof everythingFor>>;

const introspected = (service: Service, serverId: string, asker: TestClient, { access_token, refresh_token, id_token }: Everything) =>
  Promise.all(
    [access_token, refresh_token, id_token].map(async (token) => (await post(service, serverId, 'introspect', asker, { token })).body),
  );
const INACTIVE = [{ active: false }, { active: false }, { active: false }];
const activity = async (...given: Parameters<typeof introspected>) => (await introspected(...given)).map(({ active }) => active);

async function nextSecond(): Promise<void> {
  const now = Math.floor(Date.now() / 1000);
  while (Math.floor(Date.now() / 1000) === now) await delay(20);
}

for (const serverId of ['built-in', 'default']) {
  test(`a deleted application's tokens are inactive at once, in every process, and for one that takes its id: ${serverId} server`, async (t) => {
    const [service, other] = await startTwo(t);
    const asker = await createClient(service);
    const client = await createClient(service, {}, { client_id: 'phoenix', client_secret: SECRET });
    const held = await everythingFor(service, client, serverId);
    for (const process of [service, other]) assert.deepEqual(await activity(process, serverId, asker, held), [true, true, true]);
    // Kept aside, to be there again as after a process that died right after the deletion.
    await onServer(service.database.url, (sql) => sql.query(`CREATE TABLE kept AS SELECT * FROM oidc_payload WHERE client_id = 'phoenix'`));

    assert.equal((await service.api('DELETE', '/apps/phoenix')).status, 204);
    assert.deepEqual(await introspected(service, serverId, asker, held), INACTIVE);
    await soon(INACTIVE, () => introspected(other, serverId, asker, held));
    for (const process of [service, other]) {
      const me = await userinfo(process, serverId, held.access_token);
      assert.deepEqual([me.status, me.body.error], [401, 'invalid_token']);
      for (const form of [{ grant_type: 'refresh_token', refresh_token: held.refresh_token }, held.exchange]) {
        const refused = await post(process, serverId, 'token', client, form);
        assert.deepEqual([refused.status, refused.body.error], [401, 'invalid_client']);
      }
    }
    const { rows } = await onServer(service.database.url, (sql) => sql.query(`SELECT id FROM oidc_payload WHERE client_id = 'phoenix'`));
    assert.deepEqual(rows, []);
    const page = await held.browser.visit(authorizeUrl(service, serverId, { client_id: 'phoenix' }));
    assert.deepEqual([page.status, page.text.includes('id="error-code">invalid_client<')], [400, true]);

    await onServer(service.database.url, (sql) => sql.query('INSERT INTO oidc_payload SELECT * FROM kept'));
    // An ID token has no row: it shows its age by its `iat`, in whole seconds.
    await nextSecond();
    const reborn = await createClient(service, {}, { client_id: 'phoenix', client_secret: SECRET });
    for (const process of [service, other]) {
      await soon([false, false, false], () => activity(process, serverId, reborn, held));
      assert.equal((await userinfo(process, serverId, held.access_token)).status, 401);
      for (const form of [{ grant_type: 'refresh_token', refresh_token: held.refresh_token }, held.exchange]) {
        const refused = await post(process, serverId, 'token', reborn, form);
        assert.deepEqual([refused.status, refused.body.error], [400, 'invalid_grant']);
      }
    }
    const fresh = await tokensFor(service, held.browser, held.user, reborn, { serverId });
    assert.equal((await post(other, serverId, 'introspect', asker, { token: fresh.body.access_token })).body.active, true);
  });
}

test('a deactivated application is no client while it is inactive, and its tokens are active again with it', async (t) => {
  const [service, other] = await startTwo(t);
  const asker = await createClient(service);
  const client = await createClient(service);
  const held = await everythingFor(service, client, 'default');
  const set = async (step: string) => assert.equal((await service.api('POST', `/apps/${client.clientId}/lifecycle/${step}`)).status, 204);

  await set('deactivate');
  assert.deepEqual(await introspected(service, 'default', asker, held), INACTIVE);
  await soon(INACTIVE, () => introspected(other, 'default', asker, held));
  for (const process of [service, other]) {
    assert.equal((await userinfo(process, 'default', held.access_token)).status, 401);
    const refused = await post(process, 'default', 'token', client, { grant_type: 'refresh_token', refresh_token: held.refresh_token });
    assert.deepEqual([refused.status, refused.body.error], [401, 'invalid_client']);
  }
  const page = await held.browser.visit(authorizeUrl(service, 'default', { client_id: client.clientId }));
  assert.deepEqual([page.status, page.text.includes('id="error-code">invalid_client<')], [400, true]);

  await set('activate');
  for (const process of [service, other]) {
    await soon([true, true, true], () => activity(process, 'default', asker, held));
    assert.equal((await userinfo(process, 'default', held.access_token)).status, 200);
  }
  assert.equal((await post(service, 'default', 'token', client, held.exchange)).status, 200);
});

test('a sign-in and a consent under way end on the error page when their application is deleted', async (t) => {
  const service = await startService(t);
  await setScope(service, 'email', { consent: 'REQUIRED' });
  const user = await service.createUser();
  const asking = async () => {
    const client = await createClient(service, { consent_method: 'REQUIRED' });
    const browser = new UserAgent(service.baseUrl);
    const page = await browser.visit(authorizeUrl(service, 'default', { client_id: client.clientId, scope: 'openid email' }));
    return { client, browser, page };
  };
  const signIn = await asking();
  await service.api('DELETE', `/apps/${signIn.client.clientId}`);
  const afterSignIn = await signIn.browser.signIn(signIn.page, user);
  assert.deepEqual([afterSignIn.status, afterSignIn.text.includes('id="error-code">interaction_expired<')], [410, true]);

  const consent = await asking();
  const consentPage = await consent.browser.signIn(consent.page, user);
  assert.match(consentPage.text, /<form id="consent"/);
  await service.api('DELETE', `/apps/${consent.client.clientId}`);
  const afterConsent = await consent.browser.submit(consentPage, 'consent', { decision: 'allow' });
  assert.deepEqual([afterConsent.status, afterConsent.text.includes('id="error-code">interaction_expired<')], [410, true]);
});

test('an application that takes the id of a deleted one has to ask for consent again', async (t) => {
  const service = await startService(t);
  await setScope(service, 'email', { consent: 'REQUIRED' });
  const user = await service.createUser();
  const browser = new UserAgent(service.baseUrl);
  const register = () => createClient(service, { consent_method: 'REQUIRED' }, { client_id: 'asker' });
  const request = () => browser.visit(authorizeUrl(service, 'default', { client_id: 'asker', scope: 'openid email' }));
  await register();
  const consentPage = await browser.signIn(await request(), user);
  const allowed = await browser.submit(consentPage, 'consent', { decision: 'allow' });
  assert.ok(answerOf(allowed).code);
  assert.ok(answerOf(await request()).code, 'remembered');
  await service.api('DELETE', '/apps/asker');
  await register();
  assert.match((await request()).text, /<form id="consent"/);
});

test('an application that takes the id of a deleted one has no part in the sessions of before, and is not told of their end (Back-Channel Logout 1.0 section 2.3)', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const browser = new UserAgent(service.baseUrl);
  const register = () => createClient(service, { backchannel_logout_uri: 'https://app.example/logout' }, { client_id: 'listener' });
  const toldOf = async () => {
    await service.api('DELETE', `/users/${user.id}/sessions`);
    const outbox = `SELECT count(*)::int AS n FROM outbox WHERE kind = 'backchannel-logout'`;
    return onServer(service.database.url, async (client) => (await client.query(outbox)).rows[0].n);
  };
  const former = await register();
  for (const serverId of ['built-in', 'default']) await tokensFor(service, browser, user, former, { serverId });
  await service.api('DELETE', '/apps/listener');
  const again = await register();
  assert.equal(await toldOf(), 0);
  await tokensFor(service, browser, user, again);
  assert.equal(await toldOf(), 1, 'of its own');
});

/** Presents a secret by basic, post, or signs with it (OpenID Connect Core section 9). @returns the status, and the error if any */
async function present(service: Service, clientId: string, secret: string, method: 'basic' | 'post' | 'jwt') {
  const form = { grant_type: 'client_credentials' };
  const send = async (client: TestClient, extra: Record<string, string> = {}) => {
    const { status, body } = await post(service, 'default', 'token', client, { ...form, ...extra });
    return `${status} ${body.error ?? 'token'}`;
  };
  if (method === 'basic') return send({ clientId, clientSecret: secret });
  if (method === 'post') return send({ clientId, clientSecret: undefined }, { client_secret: secret });
  const assertion = await new SignJWT({ jti: verifier() })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer(clientId)
    .setSubject(clientId)
    .setAudience(service.issuer('default').replace(service.listensAt, service.baseUrl))
    .setIssuedAt()
    .setExpirationTime('1m')
    .sign(new TextEncoder().encode(secret));
  const type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
  return send({ clientId, clientSecret: undefined }, { client_assertion_type: type, client_assertion: assertion });
}

const RIGHT = '200 token';
const WRONG = '401 invalid_client';

test('two secrets are valid at once by basic and post, until one is deleted: no request is refused while they are rotated', async (t) => {
  const [service, other] = await startTwo(t);
  for (const method of ['basic', 'post'] as const) {
    const credentials = { token_endpoint_auth_method: `client_secret_${method}` };
    const { clientId, clientSecret: old = '' } = await service.createApp({ application_type: 'service' }, credentials);
    assert.equal(await present(other, clientId, old, method), RIGHT);
    const { body: made } = await service.api('POST', `/apps/${clientId}/credentials/secrets`);
    const young = made.client_secret;
    assert.deepEqual([await present(service, clientId, old, method), await present(service, clientId, young, method)], [RIGHT, RIGHT]);
    await soon([RIGHT, RIGHT], () => Promise.all([old, young].map((secret) => present(other, clientId, secret, method))));

    const { body: secrets } = await service.api('GET', `/apps/${clientId}/credentials/secrets`);
    assert.equal((await service.api('DELETE', `/apps/${clientId}/credentials/secrets/${secrets[0].id}`)).status, 204);
    assert.deepEqual([await present(service, clientId, old, method), await present(service, clientId, young, method)], [WRONG, RIGHT]);
    await soon(WRONG, () => present(other, clientId, old, method));
    assert.equal(await present(other, clientId, young, method), RIGHT);
  }
});

test('with client_secret_jwt the newest secret signs, and no other', async (t) => {
  const service = await startService(t);
  const credentials = { token_endpoint_auth_method: 'client_secret_jwt' };
  const { clientId, clientSecret: old = '' } = await service.createApp({ application_type: 'service' }, credentials);
  assert.equal(await present(service, clientId, old, 'jwt'), RIGHT);
  const { body: made } = await service.api('POST', `/apps/${clientId}/credentials/secrets`);
  assert.deepEqual(
    [await present(service, clientId, old, 'jwt'), await present(service, clientId, made.client_secret, 'jwt')],
    [WRONG, RIGHT],
  );
  await service.api('DELETE', `/apps/${clientId}/credentials/secrets/${made.id}`);
  assert.deepEqual(
    [await present(service, clientId, old, 'jwt'), await present(service, clientId, made.client_secret, 'jwt')],
    [RIGHT, WRONG],
  );
});

test('an application signs its assertions by the algorithm that it has chosen, and by no other', async (t) => {
  const service = await startService(t);
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
  const jwks = { keys: [await exportJWK(publicKey)] };
  const credentials = { token_endpoint_auth_method: 'private_key_jwt', token_endpoint_auth_signing_alg: 'PS256' };
  const { clientId } = await service.createApp({ application_type: 'service', jwks }, credentials);
  const { credentials: shown } = (await service.api('GET', `/apps/${clientId}`)).body;
  assert.equal(shown.oauthClient.token_endpoint_auth_signing_alg, 'PS256');
  const answerTo = async (alg: string) => {
    const assertion = await new SignJWT({ iss: clientId, sub: clientId, aud: service.issuer('default'), jti: alg })
      .setProtectedHeader({ alg })
      .setIssuedAt()
      .setExpirationTime('1m')
      .sign(await importJWK(await exportJWK(privateKey), alg));
    const form = {
      grant_type: 'client_credentials',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: assertion,
    };
    const answer = await fetch(`${service.issuer('default')}/token`, { method: 'POST', body: new URLSearchParams(form) });
    return [answer.status, ((await answer.json()) as { error?: string }).error];
  };
  assert.deepEqual(
    [await answerTo('RS256'), await answerTo('PS256')],
    [
      [401, 'invalid_client'],
      [200, undefined],
    ],
  );
});

test('a secret that a changed method took away is worth nothing, and a new one is made when it is needed again', async (t) => {
  const service = await startService(t);
  const { clientId, clientSecret: old } = await createClient(service);
  const put = async (token_endpoint_auth_method: string) => {
    const body = {
      label: 'x',
      credentials: { oauthClient: { token_endpoint_auth_method } },
      settings: { oauthClient: { redirect_uris: [CALLBACK] } },
    };
    const answer = await service.api('PUT', `/apps/${clientId}`, body);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body.credentials.oauthClient.client_secret;
  };
  const statusWith = async (clientSecret: string | undefined) => {
    const answer = await post(service, 'default', 'introspect', { clientId, clientSecret }, { token: 'x' });
    return answer.status;
  };
  assert.equal(await put('none'), undefined);
  assert.deepEqual([await statusWith(old), await statusWith(undefined)], [401, 200]);
  const young = await put('client_secret_basic');
  assert.deepEqual([await statusWith(old), await statusWith(young), await statusWith(undefined)], [401, 200, 401]);
});
