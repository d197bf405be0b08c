/** API tokens by Okta's SDK, which reads and revokes them but makes none (management API, "api-tokens"). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from '../../support/service.ts';
import { all, oktaClient, refusal, shown, timed } from './client.ts';

test('API tokens by the official Okta SDK (issue 7)', async (t) => {
  const service = await startService(t);
  const { apiTokenApi, userApi } = oktaClient(service);
  const [admin] = await all(userApi.listUsers({ filter: 'profile.login eq "admin"' }));

  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  const made = await service.api('POST', '/api-tokens', { name: 'Nightly', expiresAt });
  const { id, token } = made.body;
  const read = await apiTokenApi.getApiToken({ apiTokenId: id });
  assert.deepEqual(timed(read, 'created').rest, { id, name: 'Nightly', userId: admin?.id, expiresAt });
  assert.deepEqual(
    (await all(apiTokenApi.listApiTokens())).map((listed) => shown(listed)).filter((listed) => listed.id === id),
    [shown(read)],
  );
  const asThatToken = oktaClient(service, token).userApi;
  assert.equal((await asThatToken.getUser({ userId: 'admin' })).id, admin?.id);

  assert.equal(await apiTokenApi.revokeApiToken({ apiTokenId: id }), undefined);
  assert.deepEqual((await refusal(apiTokenApi.getApiToken({ apiTokenId: id }))).slice(0, 2), [404, 'E0000007']);
  assert.deepEqual((await refusal(asThatToken.getUser({ userId: 'admin' }))).slice(0, 2), [401, 'E0000011']);
});
