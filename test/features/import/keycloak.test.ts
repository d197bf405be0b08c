/** A realm that Keycloak 26.0.8 exported, reduced to what is read of it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { Secret } from 'otpauth';
import { codeOf } from '../../support/factors.ts';
import { assertSignsIn, authn, fileWith, fixture, serviceToImportInto } from './importing.ts';

const REALM = fixture('keycloak-realm.json');
/** Of fay's app, as Keycloak keeps it. */
const TOTP = Secret.fromUTF8('abcdefghij0123456789').base32;

test('a realm moves in with its users, their passwords, apps, groups, roles, clients and providers, and once', async (t) => {
  const { service, call } = await serviceToImportInto(t);
  const refused = path.join(path.dirname(fileWith('x', '')), 'refused');

  const plan = await call('import', 'keycloak', REALM, '--dry-run');
  assert.equal(plan.code, 1, plan.stderr);
  assert.match(plan.stdout, /^create organization Acme$/m);
  assert.match(plan.stdout, /^create group staff\/engineering$/m);
  assert.match(plan.stdout, /^create application shop$/m);
  assert.match(plan.stdout, /^create identity provider partner$/m);
  assert.match(plan.stdout, /^6 users would be imported, 2 refused\. Nothing was written\.$/m);
  assert.equal((await service.api('GET', '/users/ada')).status, 404);
  assert.equal((await service.api('GET', '/apps/shop')).status, 404);

  const { code, stdout, stderr } = await call('import', 'keycloak', REALM, '--refused', refused);
  assert.equal(code, 1, stderr);
  assert.match(
    stdout,
    /^1 organizations, 4 groups, 2 applications, 1 identity providers created; 0 existed already\.\n6 imported, 2 refused/,
  );
  const refusals = readFileSync(refused, 'utf8').trimEnd().split('\n');
  assert.deepEqual(
    refusals.map((line) => JSON.parse(line)),
    [
      { entry: 'clients[1] old-saml', reasons: ['protocol: must be openid-connect, not saml'] },
      { entry: 'identityProviders[0] corporate-saml', reasons: ['providerId: saml has no counterpart here'] },
    ],
  );
  assert.match(stderr, /shop: redirect URIs with \* are not imported, add each by itself: https:\/\/shop\.example\.com\/\*\./);
  assert.match(stderr, /The attribute shoeSize of 5 users is not imported/);
  assert.doesNotMatch(stdout + stderr + refusals.join(), /ssssssss|partner-secret/);

  await assertSignsIn(service, 'ada', 'old password of ada');
  await assertSignsIn(service, 'bob', 'old password of bob');
  await assertSignsIn(service, 'cyd', 'old password of cyd');
  await assertSignsIn(service, 'fay', 'old password of fay', () => codeOf(TOTP));
  assert.equal((await authn(service, 'ada', 'old password of bob')).status, 401);
  assert.equal((await authn(service, 'eve', 'old password of eve')).status, 401);
  assert.equal((await service.api('GET', '/users/eve')).body.status, 'SUSPENDED');

  const ada = (await service.api('GET', '/users/ada')).body;
  assert.deepEqual(ada.profile, {
    ...{ login: 'ada', email: 'ada@example.com', emailVerified: true, firstName: 'Ada', lastName: 'Miller', department: 'R&D' },
  });
  const groups = async (login: string) =>
    (await service.api('GET', `/users/${login}/groups`)).body.map((one: { profile: { name: string } }) => one.profile.name).sort();
  // The role comes with the group above.
  assert.deepEqual(await groups('ada'), ['role:manager', 'staff/engineering']);
  assert.deepEqual(await groups('bob'), ['guests', 'role:manager']);
  const bob = (await service.api('GET', '/users/bob')).body;
  const assignment = await service.api('GET', `/apps/shop/users/${bob.id}`);
  assert.deepEqual(assignment.body.roles, ['buyer']);

  const shop = (await service.api('GET', '/apps/shop')).body;
  assert.equal(shop.label, 'The Shop');
  assert.deepEqual(shop.settings.oauthClient.redirect_uris, ['https://shop.example.com/callback']);
  const spa = (await service.api('GET', '/apps/spa')).body;
  assert.deepEqual(spa.settings.oauthClient.redirect_uris, ['https://spa.example.com/callback']);
  assert.equal(spa.credentials.oauthClient.token_endpoint_auth_method, 'none');
  const token = await fetch(`${service.baseUrl}/oauth/v1/default/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`shop:${'s'.repeat(32)}`).toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'none' }),
  });
  assert.notEqual(((await token.json()) as { error?: string }).error, 'invalid_client', 'the secret is as it was');
  const [partner] = (await service.api('GET', '/idps?q=partner')).body;
  assert.equal(partner.protocol.issuer.url, 'https://idp.partner.example');
  const links = (await service.api('GET', `/idps/${partner.id}/users`)).body;
  assert.deepEqual(
    links.map((link: { externalId: string }) => link.externalId),
    ['cyd-at-partner'],
  );

  const again = await call('import', 'keycloak', REALM);
  assert.equal(again.code, 1);
  assert.match(
    again.stdout,
    /^0 organizations, 0 groups, 0 applications, 0 identity providers created; 8 existed already\.\n0 imported, 2 refused, 6 existed already/,
  );
});

test('what would weaken a user or is no realm is refused', async (t) => {
  const { call } = await serviceToImportInto(t);
  const realm = JSON.parse(readFileSync(REALM, 'utf8'));
  const password = realm.users[0].credentials[0];
  const withCredential = (username: string, ...credentials: unknown[]) => ({ username, enabled: true, credentials });
  const otp = { subType: 'totp', digits: 8, counter: 0, period: 30, algorithm: 'HmacSHA256' };
  const users = [
    withCredential('eight', { type: 'otp', secretData: '{"value":"abcdefghij0123456789"}', credentialData: JSON.stringify(otp) }),
    withCredential('key', password, { type: 'webauthn', secretData: '{}', credentialData: '{}' }),
    withCredential('broken', { ...password, credentialData: '{' }),
    withCredential('dear', { ...password, credentialData: password.credentialData.replace('7168', '999999999') }),
    { enabled: true },
  ];
  const file = fileWith('realm.json', JSON.stringify({ realm: 'small', users }));
  const { code, stdout, stderr } = await call('import', 'keycloak', file);
  assert.equal(code, 1, stderr);
  assert.match(stdout, /^0 imported, 5 refused/);
  assert.match(
    stderr,
    /^users\[0\] eight is refused: credentials: have an authenticator app other than .*totp, HmacSHA256, 8 digits, 30 seconds/m,
  );
  assert.match(stderr, /^users\[1\] key is refused: credentials: have a security key/m);
  assert.match(stderr, /^users\[2\] broken is refused: credentials: must hold JSON$/m);
  assert.match(stderr, /^users\[3\] dear is refused: credentials\.password\.hash\.memory: must be at most 131072/m);
  assert.match(stderr, /^users\[4\] is refused: username: is required$/m);
  for (const [content, words] of [
    ['[1]', /has several realms/],
    ['{"users":1}', /is not a realm that Keycloak exported: realm: is required/],
    ['{', /is not JSON/],
  ] as const) {
    const outcome = await call('import', 'keycloak', fileWith('realm.json', content));
    assert.equal(outcome.code, 2);
    assert.match(outcome.stderr, words);
  }
});
