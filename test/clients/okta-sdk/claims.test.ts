/** Claims of an authorization server by Okta's SDK: each operation, with every field (management API, "authorizationServers/{id}/claims"). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OAuth2Claim } from '@okta/okta-sdk-nodejs';
import { startService } from '../../support/service.ts';
import { all, oktaClient, refusal, requestsOf, shown } from './client.ts';

test('claims by the official Okta SDK (issue 7)', async (t) => {
  const service = await startService(t);
  const okta = oktaClient(service);
  const servers = okta.authorizationServerApi;
  const authServerId = 'default';
  const href = `${service.baseUrl}/api/v1/authorizationServers/default/claims`;

  await t.test('creates, reads, replaces, deactivates and deletes one', async () => {
    const settings = {
      name: 'crews',
      claimType: 'RESOURCE',
      valueType: 'GROUPS',
      value: 'Crew',
      group_filter_type: 'STARTS_WITH',
      conditions: { scopes: ['profile'] },
      alwaysIncludeInToken: true,
      status: 'ACTIVE',
    } as const;
    const claim = await servers.createOAuth2Claim({ authServerId, oAuth2Claim: settings as never });
    const claimId = String(claim.id);
    assert.match(claimId, /^clm_\w{20}$/);
    assert.deepEqual(shown(claim), { ...settings, id: claimId, system: false, _links: { self: { href: `${href}/${claimId}` } } });
    assert.deepEqual(shown(await servers.getOAuth2Claim({ authServerId, claimId })), shown(claim));

    const whole = await servers.getOAuth2Claim({ authServerId, claimId });
    whole.status = 'INACTIVE';
    whole.value = 'Team';
    whole.conditions = { scopes: [] };
    const replaced = await servers.replaceOAuth2Claim({ authServerId, claimId, oAuth2Claim: whole });
    assert.deepEqual(shown(replaced), { ...shown(claim), status: 'INACTIVE', value: 'Team', conditions: { scopes: [] } });
    assert.deepEqual(shown(await servers.getOAuth2Claim({ authServerId, claimId })), shown(replaced), 'the SDK remembers nothing older');

    assert.equal(await servers.deleteOAuth2Claim({ authServerId, claimId }), undefined);
    assert.deepEqual((await refusal(servers.getOAuth2Claim({ authServerId, claimId }))).slice(0, 2), [404, 'E0000007']);
  });

  // The words of this service, where Okta has its expression language; the SDK lets them pass.
  for (const [valueType, value] of [
    ['USER_ATTRIBUTE', 'costCenter'],
    ['ORGANIZATION', ''],
    ['DEPARTMENT', ''],
    ['STATIC', 'always the same'],
  ] as const) {
    await t.test(`fills in what is not said of a ${valueType} claim`, async () => {
      const oAuth2Claim = { name: `of_${valueType}`, claimType: 'IDENTITY', valueType, ...(value !== '' && { value }) };
      const claim = shown(await servers.createOAuth2Claim({ authServerId, oAuth2Claim: oAuth2Claim as never }));
      assert.deepEqual(claim, {
        ...oAuth2Claim,
        id: claim.id,
        value: claim.value,
        conditions: { scopes: [] },
        alwaysIncludeInToken: true,
        status: 'ACTIVE',
        system: false,
        _links: { self: { href: `${href}/${claim.id}` } },
      });
      if (value !== '') assert.equal(claim.value, value);
    });
  }

  await t.test('lists them in pages', async () => {
    const { id } = await servers.createAuthorizationServer({ authorizationServer: { name: 'Claims', audiences: ['api://claims'] } });
    const other = { authServerId: String(id) };
    assert.deepEqual(await all(servers.listOAuth2Claims(other)), []);
    const names = Array.from({ length: 25 }, (_, turn) => `claim_${turn}`);
    const made: OAuth2Claim[] = [];
    for (const name of names) {
      const oAuth2Claim = { name, claimType: 'RESOURCE', valueType: 'STATIC', value: 'x' } as never;
      made.push(await servers.createOAuth2Claim({ ...other, oAuth2Claim }));
    }
    const requests = requestsOf(okta);
    assert.deepEqual((await all(servers.listOAuth2Claims(other))).map(shown), made.map(shown));
    assert.equal(requests.length, 2);
  });

  await t.test('is refused as the SDK expects it', async () => {
    const create = (more: object) =>
      servers.createOAuth2Claim({ authServerId, oAuth2Claim: { name: 'x', claimType: 'RESOURCE', ...more } as never });
    assert.deepEqual(await refusal(create({ valueType: 'EXPRESSION', value: 'user.profile.costCenter' })), [
      400,
      'E0000001',
      'Api validation failed',
      ['valueType: must be USER_ATTRIBUTE or GROUPS or ORGANIZATION or DEPARTMENT or STATIC'],
    ]);
    assert.deepEqual((await refusal(create({ valueType: 'STATIC', value: 'x', conditions: { scopes: ['unknown'] } }))).slice(0, 2), [
      400,
      'E0000001',
    ]);
    assert.equal((await refusal(all(servers.listOAuth2Claims({ authServerId: 'unknown' }))))[0], 404);
  });
});
