/** What a sign-in for an organization costs: in no request more than one statement beside those of a sign-in without one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  answerOf,
  authorizeUrl,
  CALLBACK,
  challengeOf,
  createClient,
  post,
  userinfo,
  verifier,
} from '../../protocol/servers/relying-party.ts';
import { afterwards } from '../../support/afterwards.ts';
import { countingProxy } from '../../support/counting-proxy.ts';
import { testDatabase } from '../../support/database.ts';
import { newSecretKey, startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';

test('authorize, token, refresh, userinfo and introspection read at most once more for an organization', async (t) => {
  const own = await testDatabase();
  afterwards(t, () => own.drop());
  const database = await countingProxy(t, own);
  const service = await startService(t, { beside: { database, secretKey: newSecretKey() } });
  const { orgId } = (await service.api('POST', '/account/org?orgName=Acme')).body;
  await service.api('PUT', `/account/org/${orgId}/branding`, { name: 'Acme at work' });
  await service.api('PUT', `/account/org/${orgId}/policy`, { sessionIdleMinutes: 30, sessionLifetimeHours: 8 });
  const user = await service.createUser();
  await service.api('PUT', `/account/org/${orgId}/member/${user.id}`, {});
  const client = await createClient(service);
  const browser = new UserAgent(service.baseUrl);
  const parameters = (scope: string, more: Record<string, string>) => ({ client_id: client.clientId, scope, ...more });
  await browser.signIn(await browser.visit(authorizeUrl(service, 'default', parameters('openid', {}))), user);

  /** The fewest statements of each request, of four rounds: what is cached is read once. */
  async function costs(scope: string, more: Record<string, string>): Promise<Readonly<Record<string, number>>> {
    const fewest = new Map<string, number>();
    const count = async <T>(step: string, request: () => Promise<T>): Promise<T> => {
      database.taken();
      const answer = await request();
      fewest.set(step, Math.min(database.taken().length, fewest.get(step) ?? Number.POSITIVE_INFINITY));
      return answer;
    };
    for (let round = 0; round < 4; round += 1) {
      const code_verifier = verifier();
      const url = authorizeUrl(
        service,
        'default',
        parameters(scope, { prompt: 'none', code_challenge: challengeOf(code_verifier), ...more }),
      );
      const { code = '' } = answerOf(await count('authorize', () => browser.visit(url)));
      const form = { grant_type: 'authorization_code', code, redirect_uri: CALLBACK, code_verifier };
      const { body } = await count('token', () => post(service, 'default', 'token', client, form));
      assert.ok(body.access_token, JSON.stringify(body));
      const again = { grant_type: 'refresh_token', refresh_token: body.refresh_token };
      const refreshed = await count('refresh', () => post(service, 'default', 'token', client, again));
      const token = refreshed.body.access_token;
      await count('introspection', () => post(service, 'default', 'introspect', client, { token }));
      const told = await count('userinfo', () => userinfo(service, 'default', token));
      assert.equal(told.status, 200, JSON.stringify(refreshed.body));
      assert.equal(told.body.org_id, more.organization);
    }
    return Object.fromEntries(fewest);
  }

  const without = await costs('openid profile offline_access', {});
  const within = await costs('openid profile offline_access organization', { organization: orgId });
  assert.ok(
    Object.values(without).every((count) => count > 0),
    JSON.stringify(without),
  );
  for (const [step, count] of Object.entries(within)) {
    const before = without[step] ?? 0;
    assert.ok(count <= before + 1, `${step}: ${before} without, ${count} with an organization`);
  }
  t.diagnostic(`${JSON.stringify(without)} → ${JSON.stringify(within)}`);
});
