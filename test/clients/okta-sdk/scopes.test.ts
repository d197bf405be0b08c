/** Scopes of an authorization server by Okta's SDK: each operation, with every field (management API, "authorizationServers/{id}/scopes"). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from '../../support/service.ts';
import { all, oktaClient, refusal, requestsOf, shown } from './client.ts';

test('scopes by the official Okta SDK (issue 7)', async (t) => {
  const service = await startService(t);
  const okta = oktaClient(service);
  const servers = okta.authorizationServerApi;
  const authServerId = 'default';
  const href = `${service.baseUrl}/api/v1/authorizationServers/default/scopes`;

  await t.test('creates, reads, replaces and deletes one', async () => {
    const settings = {
      name: 'things:read',
      displayName: 'See <i>things</i>',
      description: 'All of them',
      consent: 'REQUIRED',
      _default: false,
      optional: true,
      metadataPublish: 'NO_CLIENTS',
    } as const;
    const scope = await servers.createOAuth2Scope({ authServerId, oAuth2Scope: settings });
    const scopeId = String(scope.id);
    assert.match(scopeId, /^scp_\w{20}$/);
    assert.deepEqual(shown(scope), { ...settings, id: scopeId, system: false, _links: { self: { href: `${href}/${scopeId}` } } });
    assert.deepEqual(shown(await servers.getOAuth2Scope({ authServerId, scopeId })), shown(scope));

    const whole = await servers.getOAuth2Scope({ authServerId, scopeId });
    whole.consent = 'FLEXIBLE';
    whole._default = true;
    whole.metadataPublish = 'ALL_CLIENTS';
    const replaced = await servers.replaceOAuth2Scope({ authServerId, scopeId, oAuth2Scope: whole });
    assert.deepEqual(shown(replaced), { ...shown(scope), consent: 'FLEXIBLE', _default: true, metadataPublish: 'ALL_CLIENTS' });
    assert.deepEqual(shown(await servers.getOAuth2Scope({ authServerId, scopeId })), shown(replaced), 'the SDK remembers nothing older');

    const bare = await servers.replaceOAuth2Scope({ authServerId, scopeId, oAuth2Scope: { name: 'things:read' } });
    assert.deepEqual(shown(bare), {
      id: scopeId,
      name: 'things:read',
      displayName: '',
      description: '',
      consent: 'IMPLICIT',
      _default: false,
      optional: false,
      system: false,
      metadataPublish: 'ALL_CLIENTS',
      _links: { self: { href: `${href}/${scopeId}` } },
    });
    const discovered = (await (await fetch(`${service.issuer('default')}/.well-known/openid-configuration`)).json()) as {
      scopes_supported: string[];
    };
    assert.ok(discovered.scopes_supported.includes('things:read'));

    assert.equal(await servers.deleteOAuth2Scope({ authServerId, scopeId }), undefined);
    assert.deepEqual((await refusal(servers.getOAuth2Scope({ authServerId, scopeId }))).slice(0, 2), [404, 'E0000007']);
  });

  await t.test('lists them in pages, the standard ones first', async () => {
    const names = Array.from({ length: 25 }, (_, turn) => `many:${turn}`);
    for (const name of names) await servers.createOAuth2Scope({ authServerId, oAuth2Scope: { name } });
    const requests = requestsOf(okta);
    const listed = await all(servers.listOAuth2Scopes({ authServerId }));
    assert.equal(requests.length, 2);
    assert.deepEqual(
      listed.map(({ name }) => name),
      ['openid', 'profile', 'email', 'address', 'phone', 'offline_access', 'groups', ...names],
    );
    const [openid] = listed;
    assert.deepEqual([openid?.system, openid?.consent], [true, 'IMPLICIT']);
    assert.deepEqual(shown(openid), shown(await servers.getOAuth2Scope({ authServerId, scopeId: String(openid?.id) })));
    assert.deepEqual(
      (await all(servers.listOAuth2Scopes({ authServerId, q: 'many:2' }))).map(({ name }) => name),
      ['many:2', 'many:20', 'many:21', 'many:22', 'many:23', 'many:24'],
    );
  });

  await t.test('is refused as the SDK expects it', async () => {
    const create = (name: string) => servers.createOAuth2Scope({ authServerId, oAuth2Scope: { name } });
    assert.deepEqual((await refusal(create('openid'))).slice(0, 2), [409, 'E0000014']);
    const [status, code, summary, [cause]] = await refusal(create('two words'));
    assert.deepEqual([status, code, summary], [400, 'E0000001', 'Api validation failed']);
    assert.match(String(cause), /^name: /);
    const [openid] = await all(servers.listOAuth2Scopes({ authServerId, limit: 1 }));
    assert.deepEqual((await refusal(servers.deleteOAuth2Scope({ authServerId, scopeId: String(openid?.id) }))).slice(0, 2), [
      403,
      'E0000038',
    ]);
    assert.equal((await refusal(all(servers.listOAuth2Scopes({ authServerId: 'unknown' }))))[0], 404);
  });
});
