/** Conventions of every call that Okta's SDK relies on: the error that it throws, and how long to wait when there were too many (management API, "Conventions"). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client, DefaultRequestExecutor } from '@okta/okta-sdk-nodejs';
import { createApiToken } from '../../../src/features/api-tokens/api-tokens.service.ts';
import { SYSTEM } from '../../../src/features/audit/audit-event.policy.ts';
import { createUser } from '../../../src/features/users/users.service.ts';
import { afterwards } from '../../support/afterwards.ts';
import { serve, testServices } from '../../support/management-api.ts';
import { startService } from '../../support/service.ts';
import { oktaClient, refusal } from './client.ts';

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

test('a refusal is thrown as the official Okta SDK knows it: status, code, summary and causes (issue 7)', async (t) => {
  const service = await startService(t);
  const { userApi } = oktaClient(service);
  const create = (profile: object, more: object = {}) => refusal(userApi.createUser({ body: { profile, ...more } as never }));
  await userApi.createUser({ body: { profile: { login: 'taken' } } });
  assert.deepEqual(await create({ email: 'x', shoeSize: '42' }), [
    400,
    'E0000001',
    'Api validation failed',
    ['profile.login: is required', 'profile.email: must be an e-mail address'],
  ]);
  // What Okta has and this service does not is never ignored in silence.
  assert.deepEqual((await create({ login: 'new' }, { type: { id: 'x' } })).at(-1), ['type: is not a field of this resource']);
  // Added attributes are compared with the schema once the rest is valid.
  assert.deepEqual((await create({ login: 'new', shoeSize: '42' })).at(-1), ['profile.shoeSize: is not an attribute of users']);
  const conflict = 'The request conflicts with an existing resource';
  assert.deepEqual(await create({ login: 'taken' }), [
    409,
    'E0000014',
    conflict,
    ['profile.login: another user has this user name. Choose another one'],
  ]);
  const stranger = oktaClient(service, 'no-token-of-this-service-0123456789').userApi;
  assert.deepEqual(await refusal(stranger.getUser({ userId: 'taken' })), [401, 'E0000011', 'Invalid token provided', []]);
  assert.deepEqual((await refusal(userApi.unsuspendUser({ userId: 'taken' }))).slice(0, 2), [403, 'E0000038']);
  const unknown = 'Not found: Resource not found: nobody (User)';
  assert.deepEqual(await refusal(userApi.getUser({ userId: 'nobody' })), [404, 'E0000007', unknown, []]);
});
