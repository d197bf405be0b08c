/**
 * Keycloak as it is distributed: a realm is made by its API, exported by its own command and imported here. Its users sign in with the passwords and
 * authenticator apps that they had there.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { Secret } from 'otpauth';
import { assertSignsIn, authn, serviceToImportInto } from '../features/import/importing.ts';
import { codeOf } from '../support/factors.ts';
import { KEYCLOAK_ADMIN, KEYCLOAK_VERSION, type Keycloak, keycloakDistribution, startKeycloak } from './foreign/keycloak.ts';
import { folderWith, runProgram } from './foreign/setting.ts';

const OTP = 'abcdefghij0123456789';
/** By the hash algorithm of the password. */
const USERS = { ada: 'argon2', bob: 'pbkdf2-sha256', cyd: 'pbkdf2-sha512', dan: 'pbkdf2' } as const;
const passwordOf = (name: string): string => `old password of ${name}`;

async function fill(keycloak: Keycloak): Promise<void> {
  await keycloak.call('POST', '', {
    realm: 'company',
    enabled: true,
    roles: { realm: [{ name: 'manager' }] },
    groups: [{ name: 'staff', realmRoles: ['manager'], subGroups: [{ name: 'engineering' }] }],
    clients: [{ clientId: 'shop', name: 'Shop', secret: 's'.repeat(32), redirectUris: ['https://shop.example.com/callback'] }],
    identityProviders: [
      {
        ...{ alias: 'partner', providerId: 'oidc', enabled: true },
        config: {
          ...{ clientId: 'us', clientSecret: 'secret of the partner', issuer: 'https://idp.example.com' },
          ...{
            authorizationUrl: 'https://idp.example.com/authorize',
            tokenUrl: 'https://idp.example.com/token',
            jwksUrl: 'https://idp.example.com/jwks',
          },
        },
      },
    ],
  });
  const [{ id: shop }] = await keycloak.call('GET', '/company/clients?clientId=shop');
  await keycloak.call('POST', `/company/clients/${shop}/roles`, { name: 'buyer' });
  const buyer = await keycloak.call('GET', `/company/clients/${shop}/roles/buyer`);
  for (const [username, algorithm] of Object.entries(USERS)) {
    const realm = await keycloak.call('GET', '/company');
    await keycloak.call('PUT', '/company', { ...realm, passwordPolicy: `hashAlgorithm(${algorithm})` });
    const otp = { subType: 'totp', digits: 6, counter: 0, period: 30, algorithm: 'HmacSHA1' };
    const id = await keycloak.call('POST', '/company/users', {
      ...{ username, email: `${username}@example.com`, emailVerified: true, enabled: true, groups: ['/staff/engineering'] },
      credentials: [
        { type: 'password', value: passwordOf(username) },
        ...(username === 'ada' ? [{ type: 'otp', secretData: JSON.stringify({ value: OTP }), credentialData: JSON.stringify(otp) }] : []),
      ],
    });
    await keycloak.call('POST', `/company/users/${id}/role-mappings/clients/${shop}`, [buyer]);
    if (username === 'cyd')
      await keycloak.call('POST', `/company/users/${id}/federated-identity/partner`, {
        identityProvider: 'partner',
        userId: 'cyd-there',
        userName: 'cyd',
      });
  }
}

test(`Keycloak ${KEYCLOAK_VERSION}: a realm that it exports moves in, with passwords, an app, groups, roles, clients and providers`, async (t) => {
  const folder = await keycloakDistribution(folderWith(t, {}));
  if (folder === undefined) return t.skip('mvn or the distribution of Keycloak is not to be had');
  const keycloak = await startKeycloak(t, folder);
  await fill(keycloak.api);
  await keycloak.stop();
  const file = path.join(folder, 'company.json');
  const exported = await runProgram(folder, KEYCLOAK_ADMIN, 'bash', 'bin/kc.sh', 'export', '--realm', 'company', '--file', file);
  assert.equal(exported.code, 0, exported.output.slice(-4000));
  const algorithms = new Set([...readFileSync(file, 'utf8').matchAll(/\\"algorithm\\":\\"([\w-]+)\\"/g)].map(([, name]) => name));
  for (const algorithm of Object.values(USERS)) assert.ok(algorithms.has(algorithm), algorithm);

  const { service, call } = await serviceToImportInto(t);
  const imported = await call('import', 'keycloak', file);
  assert.equal(imported.code, 0, imported.stderr);
  assert.match(imported.stdout, /^3 groups, 1 applications, 1 identity providers created; 0 existed already\.\n4 imported, 0 refused/m);
  for (const name of Object.keys(USERS)) {
    await assertSignsIn(service, name, passwordOf(name), name === 'ada' ? () => codeOf(Secret.fromUTF8(OTP).base32) : undefined);
    assert.equal((await authn(service, name, 'wrong password')).status, 401);
    const { id } = (await service.api('GET', `/users/${name}`)).body;
    assert.deepEqual((await service.api('GET', `/apps/shop/users/${id}`)).body.roles, ['buyer']);
    assert.equal((await service.api('GET', `/users/${id}/groups`)).body.length, 2);
  }
  const again = await call('import', 'keycloak', file);
  assert.equal(again.code, 0, again.stderr);
  assert.match(again.stdout, /Nothing changed: everything existed already\./);
});
