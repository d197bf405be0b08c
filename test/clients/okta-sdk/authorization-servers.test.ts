/** Authorization servers and their keys by Okta's SDK: each operation that is here, with every field that it shows (management API, "authorizationServers"). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuthorizationServer } from '@okta/okta-sdk-nodejs';
import { startService } from '../../support/service.ts';
import { all, oktaClient, refusal, requestsOf, shown, timed } from './client.ts';

test('authorization servers by the official Okta SDK (issue 7)', async (t) => {
  const service = await startService(t);
  const okta = oktaClient(service);
  const servers = okta.authorizationServerApi;

  const create = async (name: string, more: Partial<AuthorizationServer> = {}): Promise<AuthorizationServer & { id: string }> => {
    const server = await servers.createAuthorizationServer({
      authorizationServer: { name, audiences: ['api://things'], description: 'For things', ...more },
    });
    return { ...server, id: String(server.id) };
  };
  /** Of an inactive one the SDK has no name for `activate`. */
  const linksOf = (id: string, status: 'ACTIVE' | 'INACTIVE') => {
    const href = `${service.baseUrl}/api/v1/authorizationServers/${id}`;
    const hints = { allow: ['POST'] };
    const metadata = (name: string) => ({ name, href: `${service.issuer(id)}/.well-known/${name}` });
    return {
      self: { href },
      ...(status === 'ACTIVE' && { deactivate: { href: `${href}/lifecycle/deactivate`, hints } }),
      rotateKey: { href: `${href}/credentials/lifecycle/keyRotate`, hints },
      scopes: { href: `${href}/scopes` },
      claims: { href: `${href}/claims` },
      policies: { href: `${href}/policies` },
      metadata: [metadata('oauth-authorization-server'), metadata('openid-configuration')],
    };
  };
  const discoveryOf = async (id: string): Promise<number> => (await fetch(`${service.issuer(id)}/.well-known/openid-configuration`)).status;

  await t.test('creates, reads, replaces, deactivates and deletes one', async () => {
    const server = await create('<b>Things</b>');
    const { id } = server;
    const { created, lastUpdated, rest } = timed(server, 'created', 'lastUpdated');
    assert.match(id, /^aus\w{17}$/);
    assert.equal(created, lastUpdated);
    const { kid, lastRotated, nextRotation } = (rest.credentials as { signing: Record<string, string> }).signing ?? {};
    assert.match(String(kid), /^[\w-]{43}$/);
    assert.ok(Math.abs(Date.parse(created) - Date.parse(String(lastRotated))) < 60_000);
    assert.ok(Date.parse(String(nextRotation)) > Date.now());
    assert.deepEqual(rest, {
      id,
      name: '<b>Things</b>',
      description: 'For things',
      audiences: ['api://things'],
      issuer: service.issuer(id),
      issuerMode: 'ORG_URL',
      status: 'ACTIVE',
      credentials: { signing: { kid, rotationMode: 'AUTO', lastRotated, nextRotation } },
      _links: linksOf(id, 'ACTIVE'),
    });
    assert.deepEqual(shown(await servers.getAuthorizationServer({ authServerId: id })), shown(server));
    assert.equal(await discoveryOf(id), 200, 'it is live');

    const whole = await servers.getAuthorizationServer({ authServerId: id });
    whole.description = 'For other things';
    whole.audiences = ['api://other'];
    const replaced = await servers.replaceAuthorizationServer({ authServerId: id, authorizationServer: whole });
    const after = timed(replaced, 'created', 'lastUpdated');
    assert.deepEqual([after.created, after.rest], [created, { ...rest, description: 'For other things', audiences: ['api://other'] }]);
    assert.ok(after.lastUpdated > lastUpdated);
    assert.deepEqual(shown(await servers.getAuthorizationServer({ authServerId: id })), shown(replaced), 'the SDK remembers nothing older');

    assert.equal(await servers.deactivateAuthorizationServer({ authServerId: id }), undefined);
    const inactive = shown(await servers.getAuthorizationServer({ authServerId: id }));
    assert.deepEqual([inactive.status, inactive._links], ['INACTIVE', linksOf(id, 'INACTIVE')]);
    assert.equal(await discoveryOf(id), 404);
    assert.equal(await servers.activateAuthorizationServer({ authServerId: id }), undefined);
    assert.equal((await servers.getAuthorizationServer({ authServerId: id })).status, 'ACTIVE');
    assert.equal(await discoveryOf(id), 200);

    await servers.deactivateAuthorizationServer({ authServerId: id });
    assert.equal(await servers.deleteAuthorizationServer({ authServerId: id }), undefined);
    assert.deepEqual(await refusal(servers.getAuthorizationServer({ authServerId: id })), [
      404,
      'E0000007',
      `Not found: Resource not found: ${id} (AuthorizationServer)`,
      [],
    ]);
    assert.equal(await discoveryOf(id), 404);
  });

  await t.test('lists them in pages, the service’s own two first', async () => {
    const names = Array.from({ length: 5 }, (_, turn) => `Listed ${turn}`);
    for (const name of names) await create(name);
    const requests = requestsOf(okta);
    const listed = await all(servers.listAuthorizationServers({ limit: 3 }));
    assert.deepEqual(listed.map(({ id }) => id).slice(0, 2), ['built-in', 'default']);
    assert.deepEqual(listed.map(({ name }) => name).slice(2), names);
    assert.equal(requests.length, 3);
    assert.deepEqual(shown(listed[1]), shown(await servers.getAuthorizationServer({ authServerId: 'default' })), 'as each one is read');
    assert.deepEqual(
      (await all(servers.listAuthorizationServers({ q: 'Listed 3' }))).map(({ name }) => name),
      ['Listed 3'],
    );
  });

  await t.test('shows its signing keys and rotates them', async () => {
    const { id: authServerId, credentials } = await create('Rotated');
    const kid = String(credentials?.signing?.kid);
    const [active, next, ...others] = await all(servers.listAuthorizationServerKeys({ authServerId }));
    assert.deepEqual([active?.kid, active?.status, next?.status, others], [kid, 'ACTIVE', 'NEXT', []]);
    const described = shown(active);
    assert.match(String(described.n), /^[\w-]{342}$/);
    assert.deepEqual(described, { kid, status: 'ACTIVE', kty: 'RSA', alg: 'RS256', use: 'sig', n: described.n, e: 'AQAB' });
    assert.deepEqual(shown(await servers.getAuthorizationServerKey({ authServerId, keyId: kid })), described);

    const rotated = await all(servers.rotateAuthorizationServerKeys({ authServerId, use: { use: 'sig' } }));
    assert.deepEqual(
      rotated.map((key) => [key.kid === next?.kid, key.kid === kid, key.status]),
      [
        [true, false, 'ACTIVE'],
        [false, false, 'NEXT'],
        [false, true, 'RETIRED'],
      ],
    );
    assert.equal(
      (await oktaClient(service).authorizationServerApi.getAuthorizationServer({ authServerId })).credentials?.signing?.kid,
      next?.kid,
    );
    assert.deepEqual((await refusal(servers.getAuthorizationServerKey({ authServerId, keyId: 'unknown' }))).slice(0, 2), [404, 'E0000007']);
  });

  await t.test('rotates the keys by itself, or by call alone', async () => {
    const manual = await create('By call', { credentials: { signing: { use: 'sig', rotationMode: 'MANUAL' } } });
    assert.deepEqual([manual.credentials?.signing?.rotationMode, manual.credentials?.signing?.nextRotation], ['MANUAL', null]);
    const authServerId = manual.id;
    const whole = await servers.getAuthorizationServer({ authServerId });
    assert.ok(whole.credentials?.signing !== undefined);
    whole.credentials.signing.rotationMode = 'AUTO';
    const signing = shown((await servers.replaceAuthorizationServer({ authServerId, authorizationServer: whole })).credentials?.signing);
    assert.equal(signing.rotationMode, 'AUTO');
    assert.ok(Date.parse(String(signing.nextRotation)) > Date.now());
  });

  await t.test('is refused as the SDK expects it', async () => {
    await create('Taken');
    assert.deepEqual((await refusal(create('Taken'))).slice(0, 2), [409, 'E0000014']);
    assert.deepEqual((await refusal(create('', { audiences: [] }))).slice(0, 3), [400, 'E0000001', 'Api validation failed']);
    assert.deepEqual((await refusal(create('x', { audiences: ['api://a', 'api://b'] })))[3], ['audiences: must have at most 1 elements']);
    // What answers carry may be sent and is ignored; what no answer carries is refused by its name.
    assert.equal((await create('Dynamic', { issuerMode: 'DYNAMIC' })).issuerMode, 'ORG_URL');
    assert.deepEqual((await refusal(create('x', { jwks_uri: 'https://api.example/keys' })))[3], [
      'jwks_uri: is not a field of this resource',
    ]);
    assert.deepEqual((await refusal(servers.deactivateAuthorizationServer({ authServerId: 'built-in' }))).slice(0, 2), [403, 'E0000038']);
    assert.deepEqual((await refusal(servers.deleteAuthorizationServer({ authServerId: 'built-in' }))).slice(0, 2), [403, 'E0000038']);
  });
});
