/**
 * Everything that counts once, presented at the same moment to two processes of the real command on one database: one of them takes it. Writes are held
 * back until both processes wait with one, so that each has found the value unused before any use of it is written.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterwards } from '../../support/afterwards.ts';
import { onServer, startedDatabase } from '../../support/database.ts';
import { now, startIssuer } from '../../support/issuer.ts';
import { eventually, runService } from '../../support/process.ts';
import { type ServiceCalls, STARTED } from '../../support/service.ts';
import { trustProvider } from '../../support/trusted-provider.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { poll, request, reviewed, SETTINGS, signedIn } from '../ciba/sign-in-requests.ts';
import { answerOf, authorizeUrl, CALLBACK, createClient, post, tokensFor } from '../servers/relying-party.ts';

const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code';
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const BY_JWT = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** What came of one use: it was taken, or the error. */
type Use = (at: ServiceCalls) => Promise<'taken' | string>;
type Prepare = (service: ServiceCalls, t: TestContext) => Promise<Use>;

const outcomeOf = ({ status, body }: { status: number; body: { error?: string } }): string =>
  status === 200 ? 'taken' : `${status} ${body.error}`;

async function keyPair() {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  return { jwk: await exportJWK(publicKey), privateKey };
}

/** What is used once, and what the second is answered. */
const KINDS: Readonly<Record<string, { readonly refused: string; readonly prepare: Prepare }>> = {
  'an authorization code': {
    refused: '400 invalid_grant',
    async prepare(service) {
      const [user, owner] = [await service.createUser(), await createClient(service)];
      const browser = new UserAgent(service.baseUrl);
      const arrived = await browser.signIn(await browser.visit(authorizeUrl(service, 'built-in', { client_id: owner.clientId })), user);
      const form = { grant_type: 'authorization_code', code: answerOf(arrived).code ?? assert.fail(), redirect_uri: CALLBACK };
      return async (at) => outcomeOf(await post(at, 'built-in', 'token', owner, form));
    },
  },
  'a refresh token': {
    refused: '400 invalid_grant',
    async prepare(service) {
      const [user, owner] = [await service.createUser(), await createClient(service, { refresh_token: { leeway: 0 } })];
      const { body } = await tokensFor(service, new UserAgent(service.baseUrl), user, owner);
      const form = { grant_type: 'refresh_token', refresh_token: body.refresh_token };
      return async (at) => outcomeOf(await post(at, 'built-in', 'token', owner, form));
    },
  },
  'a pushed request': {
    refused: 'invalid_request_uri',
    async prepare(service) {
      const [user, owner] = [await service.createUser(), await createClient(service)];
      const browser = new UserAgent(service.baseUrl);
      await browser.signIn(await browser.visit(authorizeUrl(service, 'built-in', { client_id: owner.clientId })), user);
      const parameters = { response_type: 'code', redirect_uri: CALLBACK, scope: 'openid', state: 'some-state' };
      const { body } = await post(service, 'built-in', 'par', owner, { client_id: owner.clientId, ...parameters });
      const query = new URLSearchParams({ client_id: owner.clientId, request_uri: body.request_uri });
      return async (at) => {
        const answer = await browser.window(at.listensAt).send(`/oauth/v1/authorize?${query}`);
        const text = await answer.text();
        const { code, error } = answerOf({ url: new URL(answer.headers.get('location') ?? 'x:') });
        return code === undefined ? (error ?? /invalid_request_uri/.exec(text)?.[0] ?? text) : 'taken';
      };
    },
  },
  'a device code': {
    refused: '400 invalid_grant',
    async prepare(service) {
      const settings = { application_type: 'native', grant_types: [DEVICE], response_types: [], redirect_uris: [] };
      const [user, device] = [await service.createUser(), await createClient(service, settings)];
      const { body } = await post(service, 'built-in', 'device_authorization', device, { client_id: device.clientId, scope: 'openid' });
      const browser = new UserAgent(service.baseUrl);
      const page = await browser.visit(`/activate?user_code=${body.user_code}`);
      const done = await browser.signIn(await browser.submit(page, 'device-form', { confirm: 'yes' }), user);
      assert.match(done.text, /Device connected/);
      return async (at) => outcomeOf(await post(at, 'built-in', 'token', device, { grant_type: DEVICE, device_code: body.device_code }));
    },
  },
  'an auth_req_id': {
    refused: '400 invalid_grant',
    async prepare(service) {
      const [user, owner] = [await service.createUser(), await createClient(service, SETTINGS)];
      const { body } = await request(service, owner, { login_hint: user.login });
      const browser = await signedIn(service, user);
      await browser.submit(await reviewed(browser), 'request-form', { confirm: 'yes' });
      return async (at) => outcomeOf(await poll(at, owner, body.auth_req_id));
    },
  },
  'a DPoP proof': {
    refused: '400 invalid_grant',
    async prepare(service) {
      const { clientId, clientSecret } = await service.createApp({ application_type: 'service', dpop_bound_access_tokens: true });
      const { jwk, privateKey } = await keyPair();
      const proof = await new SignJWT({ htm: 'POST', htu: `${service.issuer('built-in')}/token`, jti: randomUUID(), iat: now() })
        .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk })
        .sign(privateKey);
      const authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
      return async (at) => {
        const body = new URLSearchParams({ grant_type: 'client_credentials' });
        const answer = await fetch(`${at.issuer('built-in')}/token`, { method: 'POST', headers: { authorization, dpop: proof }, body });
        return outcomeOf({ status: answer.status, body: (await answer.json()) as { error?: string } });
      };
    },
  },
  'an assertion of an identity provider': {
    refused: '400 invalid_grant',
    async prepare(service, t) {
      const partner = await startIssuer(t);
      await trustProvider(service, partner.issuer, 'ada');
      const app = await service.createApp({ application_type: 'service', grant_types: [JWT_BEARER] });
      const assertion = await partner.sign({ sub: 'ada', aud: service.issuer('default') });
      return async (at) => outcomeOf(await post(at, 'default', 'token', app, { grant_type: JWT_BEARER, assertion }));
    },
  },
  'an assertion of an application': {
    refused: '401 invalid_client',
    async prepare(service) {
      const { jwk, privateKey } = await keyPair();
      const settings = { application_type: 'service', jwks: { keys: [{ ...jwk, use: 'sig' }] } };
      const { clientId } = await service.createApp(settings, { token_endpoint_auth_method: 'private_key_jwt' });
      const assertion = await new SignJWT({ jti: randomUUID() })
        .setProtectedHeader({ alg: 'ES256' })
        .setIssuer(clientId)
        .setSubject(clientId)
        .setAudience(service.issuer('built-in'))
        .setIssuedAt()
        .setExpirationTime('1 min')
        .sign(privateKey);
      const form = { grant_type: 'client_credentials', client_assertion: assertion, client_assertion_type: BY_JWT };
      return async (at) => outcomeOf(await post(at, 'built-in', 'token', { clientId, clientSecret: undefined }, form));
    },
  },
  'an initial access token': {
    refused: '401 invalid_token',
    async prepare(service) {
      const server = '/authorizationServers/default';
      assert.equal((await service.api('PUT', server, { name: 'Default', registration: { mode: 'TOKEN' } })).status, 200);
      const { body } = await service.api('POST', `${server}/registrationTokens`, { name: 'Partner' });
      const headers = { authorization: `Bearer ${body.token}`, 'content-type': 'application/json' };
      const metadata = JSON.stringify({ client_name: 'Robot', redirect_uris: [CALLBACK] });
      return async (at) => {
        const answer = await fetch(`${at.issuer('default')}/register`, { method: 'POST', headers, body: metadata });
        const said = (await answer.json()) as { error?: string };
        return answer.status === 201 ? 'taken' : `${answer.status} ${said.error}`;
      };
    },
  },
};

/** The processes, as PostgreSQL knows them. */
const NAMES = ['first', 'second'];
const WAITING = `SELECT DISTINCT application_name FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock' AND application_name = ANY ($1)`;

/** Reads pass; writes wait until each process has one. */
const racing = <T>(url: string, act: () => Promise<T>): Promise<T> =>
  onServer(url, async (holder) => {
    await holder.query('BEGIN');
    await holder.query('LOCK TABLE oidc_payload, registration_tokens IN SHARE MODE');
    const done = act();
    const isRacing = () => onServer(url, async (watcher) => (await watcher.query(WAITING, [NAMES])).rowCount === NAMES.length);
    await eventually(isRacing, 'both processes wait with a write');
    await holder.query('COMMIT');
    return done;
  });

test('of twenty uses at once at two processes one is taken', async (t) => {
  const database = await startedDatabase();
  afterwards(t, () => database.drop());
  const env = { ...STARTED, ALLOW_PRIVATE_NETWORK: 'true', RATE_LIMITS: 'off' };
  const [urlOfFirst = '', urlOfSecond = ''] = NAMES.map((name) => {
    const url = new URL(database.url);
    url.searchParams.set('application_name', name);
    return url.href;
  });
  const first = await runService(t, { ...env, DATABASE_URL: urlOfFirst });
  const second = await runService(t, { ...env, DATABASE_URL: urlOfSecond, BASE_URL: first.baseUrl });
  assert.notEqual(first.child.pid, second.child.pid);
  for (const [kind, { refused, prepare }] of Object.entries(KINDS)) {
    await t.test(kind, async () => {
      const use = await prepare(first, t);
      const uses = () => Promise.all(Array.from({ length: 20 }, (_, n) => use(n % 2 === 0 ? first : second)));
      const outcomes = await racing(database.url, uses);
      assert.deepEqual(outcomes.sort(), [...Array(19).fill(refused), 'taken'].sort());
      for (const at of [first, second]) assert.equal(await use(at), refused, 'and none later');
    });
  }
});
