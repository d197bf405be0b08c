/** A rotated refresh token is worth what its own application's leeway makes it, whoever asks about it (decisions, "refresh token", "introspection of"). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { createClient, post, tokensFor } from '../servers/relying-party.ts';

test('the leeway of the one who asks does not bring a used refresh token of another application back', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const strict = await createClient(service, { refresh_token: { leeway: 0 } });
  const asking = await createClient(service, { refresh_token: { leeway: 60 } });
  for (const serverId of ['built-in', 'default']) {
    const { body } = await tokensFor(service, new UserAgent(service.baseUrl), user, strict, { serverId });
    const isActive = async (by: typeof strict) =>
      (await post(service, serverId, 'introspect', by, { token: body.refresh_token })).body.active;
    assert.deepEqual([await isActive(strict), await isActive(asking)], [true, true]);
    const form = { grant_type: 'refresh_token', refresh_token: body.refresh_token };
    assert.equal((await post(service, serverId, 'token', strict, form)).status, 200);
    assert.deepEqual([await isActive(strict), await isActive(asking)], [false, false]);
  }
});
