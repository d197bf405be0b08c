/** The application that the playground signs in to is brought up to date at each start (management-api.md, "How it is started and configured"). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onServer } from '../support/database.ts';
import { newSecretKey, startService } from '../support/service.ts';

test('settings of an older version are replaced, and equal ones left alone (OAuth 2.0 Multiple Response Types section 5)', async (t) => {
  const secretKey = newSecretKey();
  const service = await startService(t, { env: { SECRET_KEY: secretKey } });
  const registered = async () => (await service.api('GET', '/apps/playground')).body;
  const startAgain = () => startService(t, { beside: { database: service.database, secretKey }, env: { BASE_URL: service.baseUrl } });
  const first = await registered();
  assert.equal(first.settings.oauthClient.response_types.length, 7);
  assert.equal(first.credentials.oauthClient.pkce_required, true);

  await startAgain();
  assert.equal((await registered()).lastUpdated, first.lastUpdated);

  await onServer(service.database.url, (client) =>
    client.query(`UPDATE applications SET settings = jsonb_set(settings, '{response_types}', '["code"]') WHERE id = 'playground'`),
  );
  await startAgain();
  const { settings, lastUpdated } = await registered();
  assert.deepEqual(settings, first.settings);
  assert.notEqual(lastUpdated, first.lastUpdated);
});
