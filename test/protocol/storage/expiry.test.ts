/** Every kind of row that the protocol keeps: made over HTTP, with the lifetime of its kind, and swept within two hours after it. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { LIFETIMES } from '../../../config/defaults.ts';
import { removeExpired } from '../../../src/features/expiry/expiry.service.ts';
import { openDatabase } from '../../../src/platform/database/database.ts';
import { MODEL_NAMES, MODELS, type ModelName } from '../../../src/protocol/storage/protocol-state.store.ts';
import { afterwards } from '../../support/afterwards.ts';
import { moveClock, stopClock } from '../../support/clock.ts';
import { now } from '../../support/issuer.ts';
import { type Service, startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { request, SETTINGS } from '../ciba/sign-in-requests.ts';
import { authorizeUrl, CALLBACK, createClient, post, tokensFor } from '../servers/relying-party.ts';

/** Rows are swept by the hour in which they end. */
const SWEPT_WITHIN = 2 * 3600;
const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code';
const BY_JWT = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const ASSERTION_LIVES = 300;

/** What is answered by a user is kept longer than it can be used: the sign-in that it began may go on, and a device learns that its code has expired. */
const KEPT = LIFETIMES.interaction;
/** Proofs and assertions of clients whose clocks are wrong are accepted after their end, and remembered as long. */
const TOLERATED = 10 + 300;

/** Seconds from now at which the rows of each kind end. */
const LIVES: Readonly<Record<ModelName, number>> = {
  Session: LIFETIMES.sessionIdle,
  AuthorizationCode: LIFETIMES.authorizationCode,
  AccessToken: LIFETIMES.accessToken,
  RefreshToken: LIFETIMES.refreshTokenWindow,
  ClientCredentials: LIFETIMES.accessToken,
  Interaction: LIFETIMES.unansweredInteraction,
  ReplayDetection: ASSERTION_LIVES + TOLERATED,
  SessionToken: LIFETIMES.sessionToken,
  PushedAuthorizationRequest: 60 + KEPT,
  DeviceCode: LIFETIMES.deviceCode + KEPT,
  BackchannelAuthenticationRequest: LIFETIMES.signInRequest + KEPT,
};

/** Makes a row of each kind, as clients and users do. */
async function makeAll(service: Service): Promise<void> {
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
}

async function begun(t: TestContext) {
  const service = await startService(t);
  const database = await openDatabase({ connection: service.database.connection, onError: () => {} });
  afterwards(t, () => database.close());
  stopClock(t);
  const rows = async () => {
    const columns = 'id, model, extract(epoch FROM expires_at)::float8 AS expires';
    const { rows: found } = await database.pool.query(`SELECT ${columns} FROM oidc_payload ORDER BY expires_at, id`);
    return found as { readonly id: string; readonly model: number; readonly expires: number }[];
  };
  return { service, database, rows };
}

test('every kind of row ends after the lifetime of its kind, and is swept within two hours after', async (t) => {
  const { service, database, rows } = await begun(t);
  const start = now();
  await makeAll(service);
  const made = await rows();
  assert.deepEqual(new Set(made.map(({ model }) => model)), new Set(Object.values(MODELS)), 'a kind that this test does not make');
  for (const { model, expires } of made) {
    const name = MODEL_NAMES.get(model) ?? assert.fail();
    assert.equal(Math.round(expires - start), LIVES[name], name);
  }

  for (const end of new Set(made.map(({ expires }) => expires))) {
    for (const moment of [end - 1, end + SWEPT_WITHIN]) {
      if (moment > now()) moveClock(t, moment - now());
      await removeExpired(database, 100);
      const left = new Set((await rows()).map(({ id }) => id));
      for (const { id, model, expires } of made) {
        const what = `${MODEL_NAMES.get(model)} ${now() - expires} s after its end`;
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
  await makeAll(service);
  const made = await rows();
  moveClock(t, LIFETIMES.refreshToken + SWEPT_WITHIN);
  assert.equal(await removeExpired(database, 3), 3);
  const left = await rows();
  assert.equal(left.length, made.length - 3);
  const hours = (some: typeof made) => some.map(({ expires }) => Math.ceil(expires / 3600)).sort((one, other) => one - other);
  assert.deepEqual(hours(left), hours(made).slice(3));
});
