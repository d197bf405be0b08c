/** What holds for every call, as Okta's SDK relies on it: how long to wait when there were too many (management API, "Conventions"). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client, DefaultRequestExecutor } from '@okta/okta-sdk-nodejs';
import { createApiToken } from '../../../src/services/api-tokens.ts';
import { SYSTEM } from '../../../src/services/audit.ts';
import { createUser } from '../../../src/services/users.ts';
import { afterwards } from '../../support/afterwards.ts';
import { serve, testServices } from '../../support/management-api.ts';
import { refusal } from './client.ts';

test('too many calls are refused so that the official Okta SDK can wait and try again (issue 7)', async (t) => {
  const { services, close } = await testServices();
  afterwards(t, close);
  const { base, close: stop } = await serve(services, { callsPerMinute: 3 });
  afterwards(t, stop);
  const user = { profile: { login: 'root' }, activate: true, roles: [{ type: 'SUPER_ADMIN' as const }] };
  const { id: userId } = await createUser(services, user, SYSTEM);
  const { value: token } = await createApiToken(services, { name: 'tests', userId }, SYSTEM);

  // Without a further try, for the minute is long.
  const requestExecutor = new DefaultRequestExecutor({ maxRetries: 0, requestTimeout: 0 });
  const delays: number[] = [];
  requestExecutor.on('response', (response: Parameters<typeof requestExecutor.getRetryDelayMs>[0]) => {
    assert.equal(requestExecutor.validateRetryResponseHeaders(response), true);
    delays.push(requestExecutor.getRetryDelayMs(response));
  });
  const { userApi } = new Client({ orgUrl: new URL(base).origin, token, requestExecutor });
  for (let call = 0; call < 3; call += 1) await userApi.getUser({ userId: 'root' });
  assert.deepEqual(await refusal(userApi.getUser({ userId: 'root' })), [
    429,
    'E0000047',
    'API call exceeded rate limit due to too many requests',
    [],
  ]);
  assert.equal(delays.length, 4);
  for (const delay of delays) assert.ok(delay > 0 && delay <= 62_000, `${delay} ms`);
});
