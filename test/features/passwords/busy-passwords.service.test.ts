/** Sign-ins that wait for their password hashes hold nobody else up. test/long/sign-in-storm.test.ts shows it under load. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashSemaphore, MAX_CONCURRENT_HASHES, MOST_WAITING } from '../../../src/features/passwords/passwords.service.ts';
import { createClient, post, tokensFor, userinfo } from '../../protocol/servers/relying-party.ts';
import { startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';

test('while no password can be compared, tokens are issued, refreshed, introspected and used', async (t) => {
  const service = await startService(t);
  const [user, client] = [await service.createUser(), await createClient(service)];
  const machine = await createClient(service, { grant_types: ['client_credentials'], response_types: [] });
  const browser = new UserAgent(service.baseUrl);
  const { body: first } = await tokensFor(service, browser, user, client);

  let release = (): void => {};
  const until = new Promise<void>((resolve) => {
    release = resolve;
  });
  const queue = Array.from({ length: MAX_CONCURRENT_HASHES + MOST_WAITING }, () => hashSemaphore(() => until));
  try {
    const signIn = await service.api('POST', '/authn', { username: user.login, password: user.password });
    assert.equal(signIn.status, 503, 'the queue is full');
    assert.equal((await post(service, 'built-in', 'token', machine, { grant_type: 'client_credentials' })).status, 200);
    const form = { grant_type: 'refresh_token', refresh_token: first.refresh_token };
    const refreshed = await post(service, 'built-in', 'token', client, form);
    assert.equal(refreshed.status, 200);
    const token = refreshed.body.access_token;
    assert.equal((await post(service, 'built-in', 'introspect', client, { token })).body.active, true);
    assert.equal((await userinfo(service, 'built-in', token)).status, 200);
  } finally {
    release();
    await Promise.all(queue);
  }
});
