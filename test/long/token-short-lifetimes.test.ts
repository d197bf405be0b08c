/** Lifetimes of seconds by the real clock: what the tests with the moved one say also holds in time that passes (RFC 6749 section 5.1). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { createClient, post, tokensFor, userinfo } from '../protocol/servers/relying-party.ts';
import { onServer } from '../support/database.ts';
import { startService } from '../support/service.ts';
import { UserAgent } from '../support/user-agent.ts';

const inMinutes = (seconds: number): number => seconds / 60;

test('an access token of three seconds and a refresh token of six end by themselves, in time and not before', async (t) => {
  const service = await startService(t);
  const token = {
    accessTokenLifetimeMinutes: inMinutes(3),
    refreshTokenLifetimeMinutes: inMinutes(6),
    refreshTokenWindowMinutes: inMinutes(6),
  };
  // The API counts in whole minutes, for which no test waits; nothing has read the rules yet.
  await onServer(service.database.url, (client) => client.query('UPDATE policy_rules SET actions = $1', [{ token }]));
  const [user, client] = [await service.createUser(), await createClient(service)];
  const { body } = await tokensFor(service, new UserAgent(service.baseUrl), user, client, { serverId: 'default' });
  assert.equal(body.expires_in, 3);
  const introspect = async (value: string) => (await post(service, 'default', 'introspect', client, { token: value })).body;

  const [access, refresh] = await Promise.all([introspect(body.access_token), introspect(body.refresh_token)]);
  assert.deepEqual([access.exp - access.iat, refresh.exp - refresh.iat], [3, 6]);
  for (const [name, exp] of [
    ['access_token', access.exp],
    ['refresh_token', refresh.exp],
  ] as const) {
    let ended = 0;
    for (const deadline = Date.now() + 20_000; ended === 0 && Date.now() < deadline; ) {
      if ((await introspect(body[name])).active === false) ended = Date.now() / 1000;
      else await pause(50);
    }
    assert.ok(ended >= exp, `${name} ended at ${ended}, not before ${exp}`);
    if (name === 'access_token') assert.equal((await userinfo(service, 'default', body.access_token)).status, 401);
  }
  const late = await post(service, 'default', 'token', client, { grant_type: 'refresh_token', refresh_token: body.refresh_token });
  assert.deepEqual([late.status, late.body.error], [400, 'invalid_grant']);
});
