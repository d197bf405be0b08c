/** What introspection tells of each kind of token, to whom, and nothing but `active` of any that is not usable (RFC 7662 section 2.2). */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { decodeJwt } from 'jose';
import { moveClock } from '../../support/clock.ts';
import { ONE_FACTOR } from '../../support/factors.ts';
import { startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { createClient, post, type TestClient, tokensFor } from '../servers/relying-party.ts';

const SCOPE = 'openid profile offline_access';
const INACTIVE = { active: false };
const SERVERS = ['built-in', 'default'] as const;

async function issued(t: TestContext, serverId: string) {
  const service = await startService(t);
  const user = await service.createUser({ firstName: 'Ada' });
  const client = await createClient(service);
  const before = Math.floor(Date.now() / 1000);
  const { body: tokens } = await tokensFor(service, new UserAgent(service.baseUrl), user, client, { serverId, scope: SCOPE });
  const machine = await service.createApp({ application_type: 'service' });
  const { body: machines } = await post(service, serverId, 'token', machine, { grant_type: 'client_credentials', scope: 'profile' });
  const introspect = async (token: string, by: TestClient = client, more: Record<string, string> = {}, at: string = serverId) => {
    const { status, headers, body } = await post(service, at, 'introspect', by, { token, ...more });
    assert.deepEqual(
      [status, headers.get('content-type'), headers.get('cache-control')],
      [200, 'application/json;charset=UTF-8', 'no-store'],
      JSON.stringify(body),
    );
    return body;
  };
  return { service, user, client, before, tokens, machine, machineToken: String(machines.access_token), introspect };
}

/** The times of a token, issued now and for so long, and its identifier, taken out of what is told of it. */
function timed(told: Record<string, unknown>, before: number, lifetime: number): Record<string, unknown> {
  const { exp, iat, nbf, jti, ...rest } = told;
  assert.ok(Number.isInteger(exp) && Number.isInteger(iat) && Number.isInteger(nbf), JSON.stringify(told));
  assert.ok(Number(iat) >= before && Number(iat) <= Date.now() / 1000, `iat ${iat}`);
  assert.equal(nbf, iat);
  assert.equal(Number(exp) - Number(iat), lifetime);
  return jti === undefined ? rest : { ...rest, jti: typeof jti };
}

for (const serverId of SERVERS) {
  test(`every field of the introspection result, of access, refresh and ID tokens: ${serverId} server (RFC 7662 section 2.2)`, async (t) => {
    const { service, user, client, before, tokens, machine, machineToken, introspect } = await issued(t, serverId);
    const iss = service.issuer(serverId);
    const aud = serverId === 'built-in' ? iss : 'api://default';

    const access = await introspect(tokens.access_token);
    assert.deepEqual(timed(access, before, 3600), {
      active: true,
      token_type: 'Bearer',
      scope: SCOPE,
      client_id: client.clientId,
      username: user.login,
      sub: user.id,
      aud,
      iss,
      uid: user.id,
      jti: 'string',
      acr: ONE_FACTOR,
      auth_time: decodeJwt(tokens.id_token).auth_time,
    });
    const refresh = await introspect(tokens.refresh_token);
    assert.match(refresh.device_id, /^[A-Za-z0-9_-]{22}$/);
    assert.deepEqual(timed({ ...refresh, device_id: 'some' }, before, 30 * 86_400), {
      active: true,
      token_type: 'Bearer',
      scope: SCOPE,
      client_id: client.clientId,
      username: user.login,
      sub: user.id,
      aud: refresh.aud,
      iss,
      jti: 'string',
      device_id: 'some',
    });
    const id = await introspect(tokens.id_token);
    const claims = decodeJwt(tokens.id_token);
    assert.match(String(claims.jti), /^[0-9A-Za-z]{22}$/);
    assert.deepEqual(
      timed(id, before, 3600),
      timed({ ...claims, active: true, client_id: client.clientId, username: user.login, nbf: claims.iat }, before, 3600),
    );
    assert.deepEqual([id.sub, id.aud, id.iss, id.uid, id.device_id], [user.id, client.clientId, iss, undefined, undefined]);
    assert.equal(id.name, 'Ada', 'other claims of the token appear too');

    const own = await introspect(machineToken, machine);
    assert.deepEqual(timed(own, before, 3600), {
      active: true,
      token_type: 'Bearer',
      scope: 'profile',
      client_id: machine.clientId,
      sub: machine.clientId,
      aud,
      iss,
      jti: 'string',
    });

    const values = [tokens.access_token, tokens.refresh_token, tokens.id_token, machineToken];
    const scopeless = await post(service, serverId, 'token', machine, { grant_type: 'client_credentials' });
    assert.equal(scopeless.body.scope, '');
    assert.equal((await introspect(scopeless.body.access_token)).scope, '', 'present, though empty');

    const identifiers = [access.jti, refresh.jti, own.jti, id.jti];
    assert.equal(new Set(identifiers).size, identifiers.length, 'each token has its own jti');
    for (const jti of identifiers) assert.ok(!values.includes(jti), 'a jti is not the token itself');
    for (const told of [access, refresh, id, own]) {
      for (const value of values) assert.ok(!JSON.stringify(told).includes(value), 'no answer repeats a token');
    }
    assert.equal((await introspect(tokens.access_token)).jti, access.jti, 'the identifier stays');
  });

  test(`who may ask: confidential applications about any token unless set to their own, public ones about their own: ${serverId} server`, async (t) => {
    const { service, user, tokens, machineToken, introspect } = await issued(t, serverId);
    const resourceServer = await createClient(service);
    const narrowed = await createClient(service, { introspect_any: false });
    const spa = await createClient(service, {}, { token_endpoint_auth_method: 'none' });
    const { body: spaTokens } = await tokensFor(service, new UserAgent(service.baseUrl), user, spa, { serverId, scope: SCOPE });
    for (const token of [tokens.access_token, tokens.refresh_token, tokens.id_token, machineToken]) {
      assert.equal((await introspect(token, resourceServer)).active, true);
      for (const other of [narrowed, spa]) assert.deepEqual(await introspect(token, other), INACTIVE);
    }
    for (const name of ['access_token', 'refresh_token', 'id_token']) {
      assert.equal((await introspect(spaTokens[name], spa)).client_id, spa.clientId, name);
      assert.deepEqual(await introspect(spaTokens[name], narrowed), INACTIVE, name);
      const url = `${service.issuer(serverId)}/introspect?client_id=${spa.clientId}`;
      const byQuery = await fetch(url, { method: 'POST', body: new URLSearchParams({ token: spaTokens[name] }) });
      assert.equal(((await byQuery.json()) as { active: boolean }).active, true, `${name}, client_id in the query`);
      const foreign = await fetch(url, { method: 'POST', body: new URLSearchParams({ token: tokens[name] }) });
      assert.deepEqual(await foreign.json(), INACTIVE, `another’s ${name}, client_id in the query`);
    }
  });

  test(`only active=false of what is invalid, changed, revoked, expired or another server’s: ${serverId} server (RFC 7662 section 2.2)`, async (t) => {
    const { service, client, tokens, machineToken, machine, introspect } = await issued(t, serverId);
    const elsewhere = serverId === 'built-in' ? 'default' : 'built-in';
    const all = [tokens.access_token, tokens.refresh_token, tokens.id_token, machineToken];
    for (const token of all) {
      assert.deepEqual(await introspect(token, client, {}, elsewhere), INACTIVE, 'of another server');
      for (const hint of ['access_token', 'refresh_token', 'id_token']) {
        assert.deepEqual(await introspect(token, client, { token_type_hint: hint }, elsewhere), INACTIVE, `of another server, as ${hint}`);
      }
      const changed = `${token.slice(0, 30)}${token[30] === 'A' ? 'B' : 'A'}${token.slice(31)}`;
      assert.deepEqual(await introspect(changed), INACTIVE, 'changed in one character');
      assert.deepEqual(await introspect(token.slice(0, -2)), INACTIVE, 'cut short');
    }
    for (const token of ['nonsense', 'a.b.c', '\u0000', '<b>', 'x'.repeat(10_000)]) assert.deepEqual(await introspect(token), INACTIVE);
    const [head, , signature] = String(tokens.id_token).split('.');
    const claims = decodeJwt(tokens.id_token);
    const forged = `${head}.${Buffer.from(JSON.stringify({ ...claims, sub: 'other' })).toString('base64url')}.${signature}`;
    assert.deepEqual(await introspect(forged), INACTIVE, 'an ID token with other claims');

    await post(service, serverId, 'revoke', machine, { token: machineToken });
    assert.deepEqual(await introspect(machineToken), INACTIVE, 'revoked');
    moveClock(t, 3600);
    assert.deepEqual([await introspect(tokens.access_token), await introspect(tokens.id_token)], [INACTIVE, INACTIVE], 'expired');
    assert.equal((await introspect(tokens.refresh_token)).active, true);
    moveClock(t, 30 * 86_400);
    assert.deepEqual(await introspect(tokens.refresh_token), INACTIVE, 'the refresh token, after 30 days');
  });
}
