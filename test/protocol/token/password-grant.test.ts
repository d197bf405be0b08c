import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeJwt } from 'jose';
import { setScope } from '../../support/scopes.ts';
import { type ServiceCalls, startService } from '../../support/service.ts';
import { type JsonAnswer, post, type TestClient, userinfo } from '../servers/relying-party.ts';

const GRANTS = ['password', 'refresh_token'];
const ALL = 'openid profile email offline_access';

const grant = (
  service: ServiceCalls,
  client: TestClient,
  user: { login: string; password: string },
  { serverId = 'built-in', ...more }: Record<string, string> = {},
): Promise<JsonAnswer> =>
  post(service, serverId, 'token', client, { grant_type: 'password', username: user.login, password: user.password, ...more });

const refusedAs = (answer: JsonAnswer) => [answer.status, answer.body.error];

test('the password grant (RFC 6749 section 4.3; decisions, "Token")', async (t) => {
  const service = await startService(t);
  await setScope(service, 'orders', { consent: 'IMPLICIT', default: true });
  await setScope(service, 'payments', { consent: 'REQUIRED', default: true });
  await setScope(service, 'notes', { consent: 'FLEXIBLE' });
  const client = await service.createApp({ grant_types: GRANTS, response_types: [] });
  const asking = await service.createApp({ grant_types: GRANTS, response_types: [], consent_method: 'REQUIRED' });
  const user = await service.createUser({ email: 'ada@example.com', firstName: 'Ada' });

  for (const serverId of ['built-in', 'default']) {
    await t.test(`gives access, ID and refresh token on ${serverId}`, async () => {
      const answer = await grant(service, client, user, { serverId, scope: ALL });
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      assert.equal(answer.headers.get('content-type'), 'application/json;charset=UTF-8');
      assert.equal(answer.headers.get('cache-control'), 'no-store');
      const { access_token, id_token, refresh_token, ...rest } = answer.body;
      assert.deepEqual(rest, { expires_in: 3600, scope: ALL, token_type: 'Bearer' });
      assert.equal(access_token.split('.').length, serverId === 'built-in' ? 1 : 3);
      const claims = decodeJwt(id_token);
      assert.deepEqual([claims.sub, claims.aud, claims.iss, claims.amr], [user.id, client.clientId, service.issuer(serverId), ['pwd']]);
      assert.ok(typeof claims.auth_time === 'number' && typeof claims.at_hash === 'string');
      assert.equal((await userinfo(service, serverId, access_token)).body.email, 'ada@example.com');

      const told = await post(service, serverId, 'introspect', client, { token: access_token });
      assert.deepEqual([told.body.active, told.body.uid, told.body.username, told.body.scope], [true, user.id, user.login, ALL]);
      const refreshed = await post(service, serverId, 'token', client, { grant_type: 'refresh_token', refresh_token });
      assert.equal(refreshed.status, 200, JSON.stringify(refreshed.body));
      assert.equal(decodeJwt(refreshed.body.id_token).auth_time, claims.auth_time);
      const newer = await post(service, serverId, 'introspect', client, { token: refreshed.body.refresh_token });
      assert.deepEqual([newer.body.active, newer.body.sub], [true, user.id]);
      await post(service, serverId, 'revoke', client, { token: access_token });
      assert.deepEqual((await post(service, serverId, 'introspect', client, { token: access_token })).body, { active: false });
    });
  }

  await t.test('takes an e-mail address for the name', async () => {
    assert.equal((await grant(service, client, { ...user, login: 'ADA@example.com' })).status, 200);
  });

  await t.test('refresh token only with offline_access and the grant, ID token only with openid', async () => {
    const { body } = await grant(service, client, user, { scope: 'profile' });
    assert.deepEqual(Object.keys(body).sort(), ['access_token', 'expires_in', 'scope', 'token_type']);
    const once = await service.createApp({ grant_types: ['password'], response_types: [] });
    const answer = await grant(service, once, user, { scope: 'profile offline_access' });
    assert.deepEqual([answer.body.scope, answer.body.refresh_token], ['profile', undefined]);
  });

  await t.test('scope absent: the default ones of the server, else empty; never an error', async () => {
    assert.deepEqual(refusedAs(await grant(service, client, user)), [200, undefined]);
    assert.equal((await grant(service, client, user)).body.scope, '');
    assert.equal((await grant(service, client, user, { serverId: 'default' })).body.scope, 'orders payments');
    assert.equal((await grant(service, asking, user, { serverId: 'default' })).body.scope, 'orders');
  });

  await t.test('a scope that needs consent is for trusted applications only; an unknown one for none', async () => {
    const ask = (app: TestClient, scope: string) => grant(service, app, user, { serverId: 'default', scope });
    assert.equal((await ask(client, 'payments notes')).body.scope, 'payments notes');
    assert.equal((await ask(asking, 'notes')).body.scope, 'notes');
    assert.deepEqual(refusedAs(await ask(asking, 'payments')), [400, 'invalid_scope']);
    assert.deepEqual(refusedAs(await ask(client, 'orders unknown')), [400, 'invalid_scope']);
  });

  await t.test('unknown user, wrong password and locked account get the same answer', async () => {
    const locked = await service.createUser();
    for (let n = 0; n < 10; n += 1) await grant(service, client, { ...locked, password: 'wrong' });
    const answers = await Promise.all([
      grant(service, client, { login: 'nobody', password: 'wrong' }),
      grant(service, client, { ...user, password: 'wrong' }),
      grant(service, client, locked),
    ]);
    for (const { status, body, headers } of answers) {
      assert.deepEqual([status, body, headers.get('retry-after')], [400, answers[0]?.body, null]);
    }
    assert.deepEqual(refusedAs(answers[0] as JsonAnswer), [400, 'invalid_grant']);
  });

  await t.test('an application that does not enable it, and one that proves nothing', async () => {
    const other = await service.createApp({ grant_types: ['client_credentials'], response_types: [] });
    assert.deepEqual(refusedAs(await grant(service, other, user)), [400, 'unauthorized_client']);
    assert.deepEqual(refusedAs(await grant(service, { ...client, clientSecret: 'wrong' }, user)), [401, 'invalid_client']);
  });

  await t.test('a parameter missing or twice', async () => {
    assert.deepEqual(refusedAs(await grant(service, client, { login: '', password: 'x' })), [400, 'invalid_request']);
    assert.deepEqual(refusedAs(await grant(service, client, { login: 'x', password: '' })), [400, 'invalid_request']);
    const authorization = `Basic ${Buffer.from(`${client.clientId}:${client.clientSecret}`).toString('base64')}`;
    const body = new URLSearchParams({ grant_type: 'password', username: user.login, password: user.password });
    body.append('username', 'another');
    const twice = await fetch(`${service.issuer('built-in')}/token`, { method: 'POST', headers: { authorization }, body });
    assert.equal(twice.status, 400);
    assert.equal(((await twice.json()) as { error: string }).error, 'invalid_request');
  });

  await t.test('an application that is not assigned to the user', async () => {
    const closed = await service.createApp({ grant_types: GRANTS, response_types: [], assignment: 'ASSIGNED' });
    assert.deepEqual(refusedAs(await grant(service, closed, user)), [400, 'access_denied']);
    assert.deepEqual(refusedAs(await grant(service, closed, { ...user, password: 'wrong' })), [400, 'invalid_grant']);
    await service.api('PUT', `/apps/${closed.clientId}/users/${user.id}`);
    assert.equal((await grant(service, closed, user)).status, 200);
  });

  await t.test('strange names are refused like wrong ones', async () => {
    for (const login of ['<b>x</b>', '\u202etxt', 'a\u0000b', 'x'.repeat(10_000)]) {
      assert.deepEqual(
        refusedAs(await grant(service, client, { login, password: 'x' })),
        [400, 'invalid_grant'],
        JSON.stringify(login.slice(0, 20)),
      );
    }
  });

  await t.test('discovery names it', async () => {
    const document = (await (await fetch(`${service.issuer('default')}/.well-known/openid-configuration`)).json()) as {
      grant_types_supported: string[];
    };
    assert.ok(document.grant_types_supported.includes('password'));
  });
});
