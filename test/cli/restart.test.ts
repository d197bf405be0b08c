/** What outlives the process: everything that was acknowledged, on the same data directory, after an orderly end and after none. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, authorizeUrl, CALLBACK, createClient, post, tokensFor } from '../protocol/servers/relying-party.ts';
import { dataDirectory, freePort, postmasterOf, runService } from '../support/process.ts';
import { UserAgent } from '../support/user-agent.ts';

test('a restart on the same data directory keeps users, browser sessions and tokens', async (t) => {
  const env = { DATA_DIR: dataDirectory(t), PORT: await freePort() };
  const before = await runService(t, env);
  const user = await before.createUser();
  const client = await createClient(before);
  const browser = new UserAgent(before.baseUrl);
  const { body: tokens } = await tokensFor(before, browser, user, client);
  assert.equal(await before.stop(), 0);
  assert.equal(postmasterOf(env.DATA_DIR), undefined, 'the embedded PostgreSQL has stopped, too');

  const after = await runService(t, env);
  assert.ok(!after.output.stdout.includes('administrator'), 'the first start is not repeated');
  const answer = answerOf(await browser.visit(authorizeUrl(after, 'built-in', { client_id: client.clientId, prompt: 'none' })));
  assert.ok(answer.code !== undefined, `the session signs in silently: ${JSON.stringify(answer)}`);
  assert.equal((await post(after, 'built-in', 'introspect', client, { token: tokens.access_token })).body.active, true);
  const refreshed = await post(after, 'built-in', 'token', client, { grant_type: 'refresh_token', refresh_token: tokens.refresh_token });
  assert.equal(refreshed.status, 200, JSON.stringify(refreshed.body));
  const fresh = new UserAgent(after.baseUrl);
  const page = await fresh.visit(authorizeUrl(after, 'built-in', { client_id: client.clientId }));
  const arrived = await fresh.signIn(page, user);
  assert.equal(arrived.url.origin + arrived.url.pathname, CALLBACK, 'the password is still the user’s');
});

test('kill -9 in the middle of writes loses nothing that was acknowledged', async (t) => {
  const env = { DATA_DIR: dataDirectory(t), PORT: await freePort() };
  const before = await runService(t, env);
  const acknowledged: string[] = [];
  const writers = Array.from({ length: 4 }, async () => {
    for (;;) {
      try {
        const { id } = await before.createUser();
        acknowledged.push(id);
        if (acknowledged.length === 20) before.child.kill('SIGKILL');
      } catch {
        return; // the service is gone
      }
    }
  });
  await Promise.all(writers);
  assert.equal(await before.ended, 'SIGKILL');
  assert.ok(acknowledged.length >= 20);

  const after = await runService(t, env);
  for (const id of acknowledged) {
    const { status, body } = await after.api('GET', `/users/${id}`);
    assert.equal(status, 200);
    assert.equal(body.status, 'ACTIVE');
  }
  assert.equal(await after.stop(), 0);
  assert.equal(postmasterOf(env.DATA_DIR), undefined, 'the PostgreSQL that the killed process left behind was taken over');
});
