/** A user's second factors by Okta's SDK (management API, "users": factors). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { enrolledUser } from '../../support/factors.ts';
import { startService } from '../../support/service.ts';
import { all, oktaClient, refusal, shown } from './client.ts';

test('users/{id}/factors by the official Okta SDK (issue 8)', async (t) => {
  const service = await startService(t);
  const { userFactorApi, userApi } = oktaClient(service);
  const user = await enrolledUser(service);
  const [factor, ...others] = await all(userFactorApi.listFactors({ userId: user.id }));
  assert.equal(others.length, 0);
  const { id, factorType, provider, vendorName, status, profile } = shown(factor);
  assert.deepEqual([factorType, provider, vendorName, status], ['token:software:totp', 'GOOGLE', 'GOOGLE', 'ACTIVE']);
  assert.deepEqual((profile as { credentialId: string }).credentialId, user.login);
  const factorId = String(id);
  assert.equal(shown(await userFactorApi.getFactor({ userId: user.id, factorId })).id, factorId);
  assert.equal(await userFactorApi.unenrollFactor({ userId: user.id, factorId }), undefined);
  assert.deepEqual((await refusal(oktaClient(service).userFactorApi.getFactor({ userId: user.id, factorId }))).slice(0, 2), [
    404,
    'E0000007',
  ]);
  const lost = await enrolledUser(service);
  assert.equal((await all(userFactorApi.listFactors({ userId: lost.id }))).length, 1);
  await userApi.resetFactors({ userId: lost.id });
  assert.equal((await all(userFactorApi.listFactors({ userId: lost.id }))).length, 0);
});
