/** Every kind of row that the protocol keeps, and every client that comes by itself: made over HTTP, with the lifetime of its kind, and swept within two hours after it. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { pino } from 'pino';
import { LIFETIMES } from '../../../config/defaults.ts';
import { removeExpired, sweep } from '../../../src/features/expiry/expiry.service.ts';
import { openDatabase } from '../../../src/platform/database/database.ts';
import type { Services } from '../../../src/platform/database/dependencies.ts';
import { MODEL_NAMES, MODELS, type ModelName } from '../../../src/protocol/storage/protocol-state.store.ts';
import { afterwards } from '../../support/afterwards.ts';
import { moveClock, stopClock } from '../../support/clock.ts';
import { documentHost } from '../../support/https-host.ts';
import { now, startIssuer } from '../../support/issuer.ts';
import { type Service, startService } from '../../support/service.ts';
import { trustProvider } from '../../support/trusted-provider.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { request, SETTINGS } from '../ciba/sign-in-requests.ts';
import { answerOf, authorizeUrl, CALLBACK, challengeOf, createClient, post, tokensFor, verifier } from '../servers/relying-party.ts';

/** Rows are swept by the hour in which they end. */
const SWEPT_WITHIN = 2 * 3600;
const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code';
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const BY_JWT = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const DAY = 86_400;

/** What is answered by a user is kept longer than it can be used: the sign-in that it began may go on, and a device learns that its code has expired. */
const KEPT = LIFETIMES.interaction;
/** Assertions of clients whose clocks are wrong are accepted after their end, and remembered as long; so are proofs, which are good for five minutes. */
const [TOLERATED, PROOF_LIVES] = [300, 300];
const ASSERTION_LIVES = 300;
const PROVIDER_ASSERTION_LIVES = 500;
const REGISTRATION_TOKEN_LIVES = 5 * 3600;

/** Seconds from now at which the rows of each kind end. */
const LIVES: Readonly<Record<ModelName | 'registration token' | 'registered client' | 'introduced client', readonly number[]>> = {
  Session: [LIFETIMES.sessionIdle],
  AuthorizationCode: [LIFETIMES.authorizationCode],
  AccessToken: [LIFETIMES.accessToken],
  RefreshToken: [LIFETIMES.refreshTokenWindow],
  ClientCredentials: [LIFETIMES.accessToken],
  Interaction: [LIFETIMES.unansweredInteraction],
  ReplayDetection: [ASSERTION_LIVES + 10 + TOLERATED, PROOF_LIVES + TOLERATED, PROVIDER_ASSERTION_LIVES],
  SessionToken: [LIFETIMES.sessionToken],
  PushedAuthorizationRequest: [60 + KEPT],
  DeviceCode: [LIFETIMES.deviceCode + KEPT],
  BackchannelAuthenticationRequest: [LIFETIMES.signInRequest + KEPT],
  'registration token': [REGISTRATION_TOKEN_LIVES],
  'registered client': [10 * DAY],
  'introduced client': [90 * DAY],
};

/** Everything of these kinds that has an end. */
const ROWS = `SELECT id, model::text AS kind, extract(epoch FROM expires_at)::float8 AS expires, NULL::float8 AS created FROM oidc_payload
  UNION ALL SELECT id, 'registration token', extract(epoch FROM expires_at)::float8, NULL FROM registration_tokens WHERE expires_at IS NOT NULL
  UNION ALL SELECT id, lower(origin) || ' client', extract(epoch FROM expires_at)::float8, extract(epoch FROM created)::float8
    FROM applications WHERE expires_at IS NOT NULL
  ORDER BY expires, id`;

interface Row {
  readonly id: string;
  readonly kind: keyof typeof LIVES;
  readonly expires: number;
  /** By the database's clock, which does not stop with the test's; null: by the clock of the test. */
  readonly created: number | null;
}

/** Makes a row of each kind, as clients and users do. */
async function makeAll(t: TestContext, service: Service): Promise<void> {
  const [user, owner] = [await service.createUser(), await createClient(service)];
  const browser = new UserAgent(service.baseUrl);
  assert.equal((await tokensFor(service, browser, user, owner)).status, 200);
  await browser.visit(authorizeUrl(service, 'built-in', { client_id: owner.clientId }));
  await new UserAgent(service.baseUrl).visit(authorizeUrl(service, 'built-in', { client_id: owner.clientId }));
  const signedIn = await service.api('POST', '/authn', { username: user.login, password: user.password });
  assert.ok(signedIn.body.sessionToken, JSON.stringify(signedIn.body));

  const parameters = { client_id: owner.clientId, response_type: 'code', redirect_uri: CALLBACK, scope: 'openid', state: 'some-state' };
  assert.equal((await post(service, 'built-in', 'par', owner, parameters)).status, 201);
  const device = await createClient(service, { application_type: 'native', grant_types: [DEVICE], response_types: [], redirect_uris: [] });
  const asked = await post(service, 'built-in', 'device_authorization', device, { client_id: device.clientId, scope: 'openid' });
  assert.equal(asked.status, 200);
  const caller = await createClient(service, SETTINGS);
  assert.equal((await request(service, caller, { login_hint: user.login })).status, 200);

  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const jwks = { keys: [{ ...(await exportJWK(publicKey)), use: 'sig' }] };
  const { clientId } = await service.createApp({ application_type: 'service', jwks }, { token_endpoint_auth_method: 'private_key_jwt' });
  const claims = { iss: clientId, sub: clientId, aud: service.issuer('built-in'), jti: randomUUID(), exp: now() + ASSERTION_LIVES };
  const assertion = await new SignJWT(claims).setProtectedHeader({ alg: 'ES256' }).setIssuedAt().sign(privateKey);
  const form = { grant_type: 'client_credentials', client_assertion: assertion, client_assertion_type: BY_JWT };
  assert.equal((await post(service, 'built-in', 'token', { clientId, clientSecret: undefined }, form)).status, 200);
  await makeClients(t, service, browser);
  await makeReplayed(t, service);
}

/** Clients that register or introduce themselves at the default server. */
async function makeClients(t: TestContext, service: Service, browser: UserAgent): Promise<void> {
  const server = '/authorizationServers/default';
  const settings = { registration: { mode: 'OPEN', expiresAfterDays: 10 }, clientIdMetadata: { enabled: true } };
  assert.equal((await service.api('PUT', server, { name: 'Default', ...settings })).status, 200);
  const expiresAt = new Date((now() + REGISTRATION_TOKEN_LIVES) * 1000).toISOString();
  assert.equal((await service.api('POST', `${server}/registrationTokens`, { name: 'Partner', expiresAt })).status, 201);
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ redirect_uris: [CALLBACK] });
  assert.equal((await fetch(`${service.issuer('default')}/register`, { method: 'POST', headers, body })).status, 201);

  const id = (await documentHost(t)).publish('/agent.json');
  const asked = await browser.visit(authorizeUrl(service, 'default', { client_id: id, code_challenge: challengeOf(verifier()) }));
  assert.ok(answerOf(await browser.submit(asked, 'consent', { decision: 'allow' })).code, asked.text);
}

/** A DPoP proof, and an assertion of an identity provider. */
async function makeReplayed(t: TestContext, service: Service): Promise<void> {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const machine = await service.createApp({ application_type: 'service', grant_types: ['client_credentials', JWT_BEARER] });
  const proof = await new SignJWT({ htm: 'POST', htu: `${service.issuer('built-in')}/token`, jti: randomUUID(), iat: now() })
    .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk: await exportJWK(publicKey) })
    .sign(privateKey);
  const authorization = `Basic ${btoa(`${machine.clientId}:${machine.clientSecret}`)}`;
  const init = { method: 'POST', headers: { authorization, dpop: proof }, body: new URLSearchParams({ grant_type: 'client_credentials' }) };
  assert.equal((await fetch(`${service.issuer('built-in')}/token`, init)).status, 200);
  const partner = await startIssuer(t);
  await trustProvider(service, partner.issuer, 'ada');
  const claims = { sub: 'ada', aud: service.issuer('default'), exp: now() + PROVIDER_ASSERTION_LIVES };
  const form = { grant_type: JWT_BEARER, assertion: await partner.sign(claims) };
  assert.equal((await post(service, 'default', 'token', machine, form)).status, 200);
}

async function begun(t: TestContext) {
  const service = await startService(t, { env: { ALLOW_PRIVATE_NETWORK: 'true' } });
  const database = await openDatabase({ connection: service.database.connection, onError: () => {} });
  afterwards(t, () => database.close());
  stopClock(t);
  const rows = async (): Promise<Row[]> =>
    (await database.pool.query<Row>(ROWS)).rows.map((row) => ({ ...row, kind: MODEL_NAMES.get(Number(row.kind)) ?? row.kind }));
  const notifications = { publish: async () => {}, announce: () => {} };
  return { service, database, rows, services: { database, notifications, log: pino({ level: 'silent' }) } as unknown as Services };
}

test('every kind of row ends after the lifetime of its kind, and is swept within two hours after', async (t) => {
  const { service, database, rows, services } = await begun(t);
  const start = now();
  await makeAll(t, service);
  const made = await rows();
  const lives = Object.keys(LIVES).map((kind) => {
    const seen = made.filter((row) => row.kind === kind).map(({ expires, created }) => Math.round(expires - (created ?? start)));
    return [kind, [...new Set(seen)].sort((one, other) => one - other)];
  });
  const expected = Object.entries(LIVES).map(([kind, seconds]) => [kind, seconds.toSorted((one, other) => one - other)]);
  assert.deepEqual(Object.fromEntries(lives), Object.fromEntries(expected));
  assert.deepEqual(new Set(made.map(({ kind }) => kind)), new Set(Object.keys(LIVES)), 'a kind that this test does not know');

  for (const end of new Set(made.map(({ expires }) => expires))) {
    for (const moment of [end - 1, end + SWEPT_WITHIN]) {
      if (moment > now()) moveClock(t, moment - now());
      await sweep(services);
      const left = new Set((await rows()).map(({ id }) => id));
      for (const { id, kind, expires } of made) {
        const what = `${kind} ${now() - expires} s after its end`;
        if (expires > now()) assert.ok(left.has(id), what);
        if (expires + SWEPT_WITHIN <= now()) assert.ok(!left.has(id), what);
      }
    }
  }
  assert.deepEqual(await rows(), []);
  const { rows: parts } = await database.pool.query('SELECT * FROM browser_session_clients');
  assert.deepEqual(parts, []);
});

test('a sweep removes no more rows than its limit, the oldest first, of whatever kind', async (t) => {
  const { service, database, rows } = await begun(t);
  await makeAll(t, service);
  const stored = async () => (await rows()).filter(({ kind }) => kind in MODELS);
  const made = await stored();
  moveClock(t, LIFETIMES.refreshToken + SWEPT_WITHIN);
  assert.equal(await removeExpired(database, 3), 3);
  const left = await stored();
  assert.equal(left.length, made.length - 3);
  const hours = (some: typeof made) => some.map(({ expires }) => Math.ceil(expires / 3600)).sort((one, other) => one - other);
  assert.deepEqual(hours(left), hours(made).slice(3));
});
