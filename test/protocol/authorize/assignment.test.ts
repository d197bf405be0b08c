/** Who may sign in to an application ("Authorize": assignment EVERYONE or ASSIGNED). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { answerOf, authorizeUrl, CALLBACK, createClient } from '../servers/relying-party.ts';

test('an ASSIGNED application is open to its users and groups alone', async (t) => {
  const service = await startService(t);
  const { clientId } = await createClient(service, { assignment: 'ASSIGNED' });
  const user = await service.createUser();
  const url = authorizeUrl(service, 'default', { client_id: clientId });
  const silent = authorizeUrl(service, 'default', { client_id: clientId, prompt: 'none' });
  const ok = async (method: string, path: string, body?: unknown) => {
    const answer = await service.api(method, path, body);
    assert.ok(answer.status < 300, JSON.stringify(answer.body));
    return answer.body;
  };
  const browser = new UserAgent(service.baseUrl);

  await t.test('anyone else is told so on a page, which leads back with access_denied', async () => {
    const page = await browser.signIn(await browser.visit(url), user);
    assert.equal(page.status, 403);
    assert.match(page.text, /id="not-assigned"/);
    assert.ok(page.text.includes(user.login));
    const back = await browser.submit(page, 'return-form');
    assert.equal(back.url.origin + back.url.pathname, CALLBACK);
    assert.deepEqual([answerOf(back).error, answerOf(back).state], ['access_denied', 'some-state']);
    assert.equal(answerOf(await browser.visit(silent)).error, 'access_denied');
  });

  await t.test('from the assignment on, by the next request', async () => {
    await ok('PUT', `/apps/${clientId}/users/${user.id}`);
    assert.ok(answerOf(await browser.visit(silent)).code);
    await ok('DELETE', `/apps/${clientId}/users/${user.id}`);
    assert.equal(answerOf(await browser.visit(silent)).error, 'access_denied');
  });

  await t.test('also through a group', async () => {
    const { id: groupId } = await ok('POST', '/groups', { profile: { name: 'Pilots' } });
    await ok('PUT', `/apps/${clientId}/groups/${groupId}`);
    assert.equal(answerOf(await browser.visit(silent)).error, 'access_denied');
    await ok('PUT', `/groups/${groupId}/users/${user.id}`);
    assert.ok(answerOf(await browser.visit(silent)).code);
    await ok('DELETE', `/groups/${groupId}`);
    assert.equal(answerOf(await browser.visit(silent)).error, 'access_denied');
  });
});
