/** Revocation: the token that is named and no other, by the application it belongs to, and never a word about what there was (RFC 7009). */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { moveClock } from '../../support/clock.ts';
import { startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { createClient, post, type TestClient, tokensFor, userinfo } from '../servers/relying-party.ts';

const SERVERS = ['built-in', 'default'] as const;

async function issued(t: TestContext, serverId: string, credentials: Record<string, unknown> = {}) {
  const service = await startService(t);
  const [user, client] = [await service.createUser(), await createClient(service, {}, credentials)];
  const browser = new UserAgent(service.baseUrl);
  const newTokens = async (by: TestClient = client) => (await tokensFor(service, browser, user, by, { serverId })).body;
  /** Always the same answer: 200, empty, whatever there was to revoke. */
  const revoke = async (token: string, by: TestClient = client, more: Record<string, string> = {}, at: string = serverId) => {
    const { status, headers, body } = await post(service, at, 'revoke', by, { token, ...more });
    assert.deepEqual(
      [status, body, headers.get('content-type'), headers.get('cache-control')],
      [200, undefined, null, 'no-store'],
      JSON.stringify(body),
    );
  };
  const isActive = async (token: string, by: TestClient = client): Promise<boolean> =>
    (await post(service, serverId, 'introspect', by, { token })).body.active;
  return { service, client, newTokens, revoke, isActive };
}

for (const serverId of SERVERS) {
  test(`an application revokes its own tokens alone, at the server that issued them: ${serverId} server (RFC 7009 section 2.1)`, async (t) => {
    const { service, client, newTokens, revoke, isActive } = await issued(t, serverId);
    const other = await createClient(service);
    const spa = await createClient(service, {}, { token_endpoint_auth_method: 'none' });
    const [tokens, spas] = [await newTokens(), await newTokens(spa)];
    const elsewhere = serverId === 'built-in' ? 'default' : 'built-in';
    for (const name of ['access_token', 'refresh_token']) {
      for (const by of [other, spa]) {
        await revoke(tokens[name], by);
        await revoke(tokens[name], by, { token_type_hint: name });
      }
      await revoke(spas[name], client);
      await revoke(tokens[name], client, {}, elsewhere);
      await revoke(tokens[name], client, { token_type_hint: name }, elsewhere);
      assert.deepEqual([await isActive(tokens[name]), await isActive(spas[name], spa)], [true, true], name);
    }
    assert.equal((await userinfo(service, serverId, tokens.access_token)).status, 200);
    const form = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token };
    assert.equal((await post(service, serverId, 'token', client, form)).status, 200);

    await revoke(spas.access_token, spa);
    assert.deepEqual([await isActive(spas.access_token, spa), await isActive(spas.refresh_token, spa)], [false, true], 'its own');
  });

  test(`only the token that is named ends, at once and everywhere, whatever the hint says: ${serverId} server (RFC 7009 section 2.1)`, async (t) => {
    const { service, client, newTokens, revoke, isActive } = await issued(t, serverId);
    for (const hint of [undefined, 'access_token', 'refresh_token', 'nonsense']) {
      const more: Record<string, string> = hint === undefined ? {} : { token_type_hint: hint };
      const [first, second] = [await newTokens(), await newTokens()];
      const rest = [first.refresh_token, first.id_token, second.access_token, second.refresh_token];
      await revoke(first.access_token, client, more);
      assert.equal(await isActive(first.access_token), false, `${hint}`);
      for (const token of rest) assert.equal(await isActive(token), true, `${hint}`);
      const denied = await userinfo(service, serverId, first.access_token);
      assert.deepEqual([denied.status, denied.body.error], [401, 'invalid_token']);

      await revoke(second.refresh_token, client, more);
      assert.deepEqual([await isActive(second.refresh_token), await isActive(second.access_token)], [false, true], `${hint}`);
      const used = await post(service, serverId, 'token', client, { grant_type: 'refresh_token', refresh_token: second.refresh_token });
      assert.deepEqual([used.status, used.body.error], [400, 'invalid_grant']);
      assert.equal((await userinfo(service, serverId, second.access_token)).status, 200);
      assert.equal(await isActive(first.refresh_token), true, 'another grant of the same user and application');
    }
  });

  test(`200 with an empty body for what is unknown, malformed, revoked already, expired or of another kind: ${serverId} server (RFC 7009 section 2.2)`, async (t) => {
    const { client, newTokens, revoke, isActive } = await issued(t, serverId);
    const tokens = await newTokens();
    for (const token of ['nonsense', 'a.b.c', '\u0000', '<b>', 'x'.repeat(10_000), tokens.access_token.slice(0, -2)]) await revoke(token);
    await revoke(tokens.id_token, client, { token_type_hint: 'id_token' });
    await revoke(tokens.id_token);
    assert.deepEqual([await isActive(tokens.id_token), await isActive(tokens.access_token)], [true, true], 'an ID token cannot be revoked');
    for (const name of ['access_token', 'refresh_token']) {
      await revoke(tokens[name]);
      await revoke(tokens[name]);
      assert.equal(await isActive(tokens[name]), false, name);
    }
    const old = await newTokens();
    moveClock(t, 3600);
    await revoke(old.access_token);
    assert.equal(await isActive(old.refresh_token), true);
  });
}

test('many revocations of one token at once: each 200, and the token is dead (RFC 7009 section 2.2)', async (t) => {
  const { newTokens, revoke, isActive } = await issued(t, 'default');
  const tokens = await newTokens();
  for (const name of ['access_token', 'refresh_token']) {
    await Promise.all(Array.from({ length: 20 }, () => revoke(tokens[name])));
    assert.equal(await isActive(tokens[name]), false, name);
  }
});
