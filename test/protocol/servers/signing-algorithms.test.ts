/** PS256 and EdDSA beside RS256 and ES256: the keys of a server, what an application chooses among them, and their end (RFC 7518 section 3.1, RFC 8037). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLocalJWKSet, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from 'jose';
import * as client from 'openid-client';
import { enter } from '../../pages/console/administrators.ts';
import { type Service, startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { createClient, tokensFor } from './relying-party.ts';

interface Key {
  readonly kid: string;
  readonly alg: string;
  readonly status: string;
}

const PATH = '/authorizationServers/default';
const jwks = async (service: Service): Promise<JSONWebKeySet> =>
  (await fetch(`${service.issuer('default')}/keys`)).json() as Promise<JSONWebKeySet>;
const keysOf = async (service: Service, alg: string): Promise<Key[]> =>
  ((await service.api('GET', `${PATH}/credentials/keys`)).body as Key[]).filter((key) => key.alg === alg);
const states = (keys: readonly Key[]): string[] => keys.map(({ status }) => status);

async function change(service: Service, settings: Record<string, unknown>): Promise<void> {
  const { body: before } = await service.api('GET', PATH);
  const { status, body } = await service.api('PUT', PATH, { name: before.name, ...settings });
  assert.equal(status, 200, JSON.stringify(body));
}

test('a server that has them signs with PS256 and EdDSA what an application chooses; openid-client verifies it; each is rotated; without them the application gets the server’s own', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  await change(service, { additionalSigningAlgs: ['PS256', 'EdDSA'] });
  assert.deepEqual((await service.api('GET', PATH)).body.additionalSigningAlgs, ['PS256', 'EdDSA']);
  const kept = await service.api('PUT', PATH, { name: 'Default' });
  assert.deepEqual(kept.body.additionalSigningAlgs, ['PS256', 'EdDSA'], 'a change that says nothing keeps them');

  const chosen = new Map<string, Awaited<ReturnType<typeof createClient>>>();
  for (const alg of ['PS256', 'EdDSA']) {
    const settings = { id_token_signed_response_alg: alg, userinfo_signed_response_alg: alg, introspection_signed_response_alg: alg };
    const owner = await createClient(service, settings);
    chosen.set(alg, owner);
    const execute = [client.allowInsecureRequests, client.enableNonRepudiationChecks];
    const authentication = client.ClientSecretBasic(owner.clientSecret ?? '');
    const config = await client.discovery(new URL(service.issuer('default')), owner.clientId, settings, authentication, { execute });
    assert.ok(config.serverMetadata().id_token_signing_alg_values_supported?.includes(alg));
    const tokens = (await tokensFor(service, new UserAgent(service.baseUrl), user, owner, { serverId: 'default' })).body;
    const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token);
    assert.equal(decodeProtectedHeader(refreshed.id_token ?? '').alg, alg);
    assert.equal((await client.fetchUserInfo(config, refreshed.access_token, user.id)).sub, user.id);
    assert.equal((await client.tokenIntrospection(config, refreshed.access_token)).active, true);
    const { protectedHeader } = await jwtVerify(tokens.id_token, createLocalJWKSet(await jwks(service)));
    assert.equal(protectedHeader.alg, alg);
    assert.equal(decodeProtectedHeader(tokens.access_token).alg, 'RS256', 'of access tokens the server decides');

    assert.deepEqual(states(await keysOf(service, alg)).slice(0, 2), ['ACTIVE', 'NEXT']);
    await service.api('POST', `${PATH}/credentials/lifecycle/keyRotate`, { use: 'sig' });
    assert.deepEqual(states(await keysOf(service, alg)).slice(0, 3), ['ACTIVE', 'NEXT', 'RETIRED']);
    await jwtVerify(tokens.id_token, createLocalJWKSet(await jwks(service)));
  }

  await change(service, { signingAlg: 'EdDSA', additionalSigningAlgs: [] });
  assert.deepEqual(new Set(states(await keysOf(service, 'PS256'))), new Set(['RETIRED']), 'none signs, and none is announced');
  assert.deepEqual(states(await keysOf(service, 'EdDSA')).slice(0, 2), ['ACTIVE', 'NEXT'], 'its own algorithm');
  const discovery = await (await fetch(`${service.issuer('default')}/.well-known/openid-configuration`)).json();
  const { id_token_signing_alg_values_supported: announced } = discovery as { id_token_signing_alg_values_supported: string[] };
  assert.deepEqual(announced.toSorted(), ['ES256', 'EdDSA', 'RS256'], 'a retired key announces nothing');
  const owner = chosen.get('PS256') ?? assert.fail();
  const { body } = await tokensFor(service, new UserAgent(service.baseUrl), user, owner, { serverId: 'default' });
  assert.equal(decodeProtectedHeader(body.id_token).alg, 'EdDSA', 'the server has no key for PS256 any more');
  assert.equal(decodeProtectedHeader(body.access_token).alg, 'EdDSA');
  await jwtVerify(body.access_token, createLocalJWKSet(await jwks(service)));
  const told = await fetch(`${service.issuer('default')}/userinfo`, { headers: { authorization: `Bearer ${body.access_token}` } });
  assert.equal(told.status, 200, 'the token verifies here, too');
  await change(service, { signingAlg: 'RS256', additionalSigningAlgs: ['PS256'] });
  assert.deepEqual(states(await keysOf(service, 'PS256')).slice(0, 2), ['ACTIVE', 'NEXT'], 'new keys');

  const { status } = await service.api('PUT', PATH, { name: 'Default', additionalSigningAlgs: ['RS512'] });
  assert.equal(status, 400);
  const { body: events } = await service.api('GET', `/logs?filter=${encodeURIComponent('eventType eq "oauth2.as.updated"')}`);
  assert.match(JSON.stringify(events), /additionalSigningAlgs/);
});

for (const signingAlg of ['PS256', 'EdDSA']) {
  test(`the console signs its administrators in where the built-in server signs with ${signingAlg}`, async (t) => {
    const service = await startService(t);
    const { body: before } = await service.api('GET', '/authorizationServers/built-in');
    const { status, body } = await service.api('PUT', '/authorizationServers/built-in', { ...before, signingAlg });
    assert.equal(status, 200, JSON.stringify(body));
    const { agent } = await enter(service);
    assert.equal((await agent.visit('/admin/api/servers/built-in/keys')).status, 200);
  });
}
