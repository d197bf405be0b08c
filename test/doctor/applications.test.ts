/** What the doctor says of documents that applications keep elsewhere: keys to encrypt to, and members of a sector. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { exportJWK, generateKeyPair } from 'jose';
import { applicationChecks } from '../../src/doctor/checks/applications.ts';
import type { CheckContext } from '../../src/doctor/checks/check-context.ts';
import { openDatabase } from '../../src/platform/database/database.ts';
import { createClient, tokensFor } from '../protocol/servers/relying-party.ts';
import { afterwards } from '../support/afterwards.ts';
import { onServer } from '../support/database.ts';
import { documentHost } from '../support/https-host.ts';
import { type Service, startService } from '../support/service.ts';
import { UserAgent } from '../support/user-agent.ts';

const CALLBACKS = ['https://app.example/callback', 'https://other.example/callback'];

async function start(t: TestContext) {
  const service = await startService(t, { env: { ALLOW_PRIVATE_NETWORK: 'true' } });
  const opened = await openDatabase({ connection: { connectionString: service.database.url }, onError: () => {} });
  afterwards(t, () => opened.close());
  const run = async (id: string, allowPrivateNetwork = true) => {
    const { baseUrl } = service;
    const context = { url: baseUrl, config: { baseUrl, allowPrivateNetwork }, database: async () => opened };
    const rule = applicationChecks.find((one) => one.id === `applications.${id}`) ?? assert.fail();
    return rule.run(context as unknown as CheckContext);
  };
  return { service, host: await documentHost(t), run };
}

async function publicKey(alg: string, more: object = {}) {
  const { publicKey: key } = await generateKeyPair(alg, { extractable: true });
  return { ...(await exportJWK(key)), kid: alg, ...more };
}

const rename = (service: Service, id: string, label: string) =>
  onServer(service.database.url, (client) => client.query('UPDATE applications SET label = $2 WHERE id = $1', [id, label]));

test('an application whose responses cannot be encrypted is named with the address and the setting', async (t) => {
  const { service, host, run } = await start(t);
  await assert.rejects(run('encryption-keys'), { name: 'Skipped', message: 'no application needs one' });
  const uri = `${host.origin}/keys`;
  const publish = (keys: unknown) => host.publish('/keys', {}, { body: JSON.stringify({ keys }) });
  const [rsa, ec, signing] = [await publicKey('RSA-OAEP-256'), await publicKey('ECDH-ES'), await publicKey('Ed25519')];
  publish([rsa, ec]);
  const byKeys = { id_token_encrypted_response_alg: 'RSA-OAEP-256', jwks: { keys: [{ ...rsa, use: 'enc' }] } };
  await createClient(service, byKeys);
  const algs = { id_token_encrypted_response_alg: 'RSA-OAEP-256', userinfo_encrypted_response_alg: 'ECDH-ES' };
  const owner = await createClient(service, { ...algs, jwks_uri: uri });
  await rename(service, owner.clientId, 'Films');
  assert.equal(await run('encryption-keys'), '2 applications', 'a key whose use is open will do');
  const user = await service.createUser();
  const tokens = () => tokensFor(service, new UserAgent(service.baseUrl), user, owner);
  assert.equal((await tokens()).status, 200);

  for (const keys of [[rsa], [rsa, { ...ec, use: 'sig' }], [rsa, { ...ec, alg: 'ECDH-ES+A128KW' }], [rsa, signing]]) {
    publish(keys);
    await assert.rejects(run('encryption-keys'), (error: Error) => {
      assert.ok(error.message.startsWith(`Films: ${uri} has no key for userinfo_encrypted_response_alg ECDH-ES. Sign-ins`), error.message);
      return error.name === 'Broken';
    });
  }
  for (const document of [{ status: 500 }, { body: 'no set' }, { body: '{"keys":{}}' }, { status: 302, headers: { location: uri } }]) {
    host.publish('/keys', {}, document);
    await assert.rejects(run('encryption-keys'), { message: new RegExp(`^Films: ${uri} does not return a JSON Web Key Set\\.`) });
  }
  publish([rsa, ec]);
  await assert.rejects(run('encryption-keys', false), /does not return/, 'only as the service may ask');
  await service.api('POST', `/apps/${owner.clientId}/lifecycle/deactivate`);
  publish([]);
  assert.equal(await run('encryption-keys'), '1 application');
});

test('without a key the tokens of such an application are refused', async (t) => {
  const { service, host } = await start(t);
  host.publish('/keys', {}, { body: JSON.stringify({ keys: [] }) });
  const owner = await createClient(service, { id_token_encrypted_response_alg: 'ECDH-ES', jwks_uri: `${host.origin}/keys` });
  const user = await service.createUser();
  const answer = await tokensFor(service, new UserAgent(service.baseUrl), user, owner);
  assert.deepEqual([answer.status, answer.body.error], [400, 'invalid_client_metadata']);
});

test('a sector document that no longer lists a redirect URI is named', async (t) => {
  const { service, host, run } = await start(t);
  await assert.rejects(run('sectors'), { name: 'Skipped', message: 'no application needs one' });
  const publish = (members: unknown) => host.publish('/sector', {}, { body: JSON.stringify(members) });
  const uri = publish(CALLBACKS);
  const settings = { subject_type: 'pairwise', redirect_uris: CALLBACKS, sector_identifier_uri: uri };
  const owner = await createClient(service, settings);
  await rename(service, owner.clientId, 'Films');
  assert.equal(await run('sectors'), '1 application');
  publish(CALLBACKS.slice(1));
  const words = `Films: ${uri} must return a list that contains ${CALLBACKS[0]}. The applications cannot be saved until the document lists every redirect URI`;
  await assert.rejects(run('sectors'), { name: 'Broken', message: words });
  host.publish('/sector', {}, { status: 404 });
  await assert.rejects(run('sectors'), /must be a public URL that returns a JSON list/);
});
