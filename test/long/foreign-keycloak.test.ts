/**
 * Keycloak as it is distributed: a realm is made by its API, exported by its own command and imported here. Its users sign in with the passwords and
 * authenticator apps that they had there.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { Secret } from 'otpauth';
import { assertSignsIn, authn, serviceToImportInto } from '../features/import/importing.ts';
import { afterwards } from '../support/afterwards.ts';
import { codeOf } from '../support/factors.ts';
import { freePort } from '../support/process.ts';
import { carryOut, folderWith } from './foreign/setting.ts';

const VERSION = '26.0.8';
const ADMIN = { KC_BOOTSTRAP_ADMIN_USERNAME: 'admin', KC_BOOTSTRAP_ADMIN_PASSWORD: 'admin of keycloak' };
const OTP = 'abcdefghij0123456789';
/** By the hash algorithm of the password. */
const USERS = { ada: 'argon2', bob: 'pbkdf2-sha256', cyd: 'pbkdf2-sha512', dan: 'pbkdf2' } as const;
const passwordOf = (name: string): string => `old password of ${name}`;

/** @returns the folder of the distribution; undefined: it is not to be had here */
async function distribution(t: TestContext): Promise<string | undefined> {
  const folder = folderWith(t, {});
  const artifact = `org.keycloak:keycloak-quarkus-dist:${VERSION}:zip`;
  const goal = ['org.apache.maven.plugins:maven-dependency-plugin:3.6.1:unpack', `-Dartifact=${artifact}`, `-DoutputDirectory=${folder}`];
  const { code, output } = await carryOut(folder, {}, 'mvn', '--batch-mode', '--quiet', ...goal);
  if (code === 0) return path.join(folder, `keycloak-${VERSION}`);
  if (code === undefined || /Could not (transfer|find artifact)|Could not resolve|PluginResolution/.test(output)) return undefined;
  throw new Error(output.slice(-4000));
}

/** It builds itself at its first start. */
const PATIENCE = 300_000;

interface RunningKeycloak {
  readonly api: Keycloak;
  /** Its database is closed afterwards. */
  stop(): Promise<void>;
}

async function startKeycloak(t: TestContext, folder: string): Promise<RunningKeycloak> {
  const port = await freePort();
  const args = ['bin/kc.sh', 'start-dev', '--http-host=127.0.0.1', `--http-port=${port}`, '--log-level=warn'];
  const child = spawn('bash', args, { cwd: folder, env: { ...process.env, ...ADMIN }, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const ended = once(child, 'close');
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text));
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
    await ended;
  };
  afterwards(t, stop);
  const api = new Keycloak(`http://127.0.0.1:${port}`);
  for (const end = Date.now() + PATIENCE; !(await api.isUp()); ) {
    assert.ok(child.exitCode === null && Date.now() < end, `Keycloak is not up: ${output.slice(-4000)}`);
    await setTimeout(500);
  }
  return { api, stop };
}

/** Its administration by REST. */
class Keycloak {
  readonly #base: string;

  constructor(base: string) {
    this.#base = base;
  }

  async isUp(): Promise<boolean> {
    const answer = await fetch(`${this.#base}/realms/master`).catch(() => undefined);
    await answer?.arrayBuffer();
    return answer?.ok === true;
  }

  async #token(): Promise<string> {
    const { KC_BOOTSTRAP_ADMIN_USERNAME: username, KC_BOOTSTRAP_ADMIN_PASSWORD: password } = ADMIN;
    const body = new URLSearchParams({ client_id: 'admin-cli', grant_type: 'password', username, password });
    const answer = await fetch(`${this.#base}/realms/master/protocol/openid-connect/token`, { method: 'POST', body });
    return ((await answer.json()) as { access_token: string }).access_token;
  }

  // biome-ignore lint/suspicious/noExplicitAny: representations of Keycloak
  async call(method: string, at: string, body?: unknown): Promise<any> {
    const headers = { authorization: `Bearer ${await this.#token()}`, 'content-type': 'application/json' };
    const answer = await fetch(`${this.#base}/admin/realms${at}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    assert.ok(answer.ok, `${method} ${at}: ${answer.status} ${text}`);
    return text === '' ? answer.headers.get('location')?.split('/').at(-1) : JSON.parse(text);
  }
}

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

test(`Keycloak ${VERSION}: a realm that it exports moves in, with passwords, an app, groups, roles, clients and providers`, async (t) => {
  const folder = await distribution(t);
  if (folder === undefined) return t.skip('mvn or the distribution of Keycloak is not to be had');
  const keycloak = await startKeycloak(t, folder);
  await fill(keycloak.api);
  await keycloak.stop();
  const file = path.join(folder, 'company.json');
  const exported = await carryOut(folder, ADMIN, 'bash', 'bin/kc.sh', 'export', '--realm', 'company', '--file', file);
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
