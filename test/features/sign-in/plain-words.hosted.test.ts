/** Where people got stuck: an account that is not active, a consent for the wrong account, an application that keeps its access. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, authorizeUrl, createClient } from '../../protocol/servers/relying-party.ts';
import { serviceWithConsents } from '../../support/consents.ts';
import { startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';

test('a user who is not active learns it after the right password alone', async (t) => {
  const service = await startService(t);
  for (const step of ['suspend', 'deactivate']) {
    const user = await service.createUser();
    await service.api('POST', `/users/${user.id}/lifecycle/${step}`);
    const browser = new UserAgent(service.baseUrl);
    const form = await browser.visit('/signin');
    const right = await browser.signIn(form, user);
    assert.equal(right.status, 400);
    assert.match(right.text, /This account is not active\. Ask your administrator to activate it\./, step);
    const wrong = await browser.signIn(form, { ...user, password: 'wrong' });
    assert.match(wrong.text, /Incorrect user name or password/, step);
    assert.doesNotMatch(wrong.text, /not active/);
  }
});

test('consent can be given with another account: the request goes on, and the first session ends', async (t) => {
  const service = await serviceWithConsents(t);
  const [first, second] = [await service.createUser(), await service.createUser()];
  const client = await createClient(service, { consent_method: 'REQUIRED', grant_types: ['authorization_code', 'refresh_token'] });
  const browser = new UserAgent(service.baseUrl);
  const ask = authorizeUrl(service, 'built-in', { client_id: client.clientId, scope: 'openid email offline_access', state: 'kept' });
  const consent = await browser.signIn(await browser.visit(ask), first);
  assert.ok(consent.text.includes(first.login));
  assert.match(consent.text, /id="stays-connected">Test application keeps this access while you are away/);
  const signIn = await browser.submit(consent, 'consent', { decision: 'switch' });
  assert.match(signIn.text, /id="sign-in-form"/);
  const again = await browser.signIn(signIn, second);
  assert.ok(again.text.includes(second.login), again.text);
  const answer = answerOf(await browser.submit(again, 'consent', { decision: 'allow' }));
  assert.ok(answer.code);
  assert.equal(answer.state, 'kept');
  const ended = await service.api('GET', '/logs?since=2020-01-01T00:00:00Z&filter=eventType eq "user.session.end"');
  assert.deepEqual(
    ended.body.map(({ actor }: { actor: { id: string } }) => actor.id),
    [first.id],
  );
  // Changing one's mind: the same user signs in again, and is asked once.
  const other = new UserAgent(service.baseUrl);
  const back = await other.submit(await other.signIn(await other.visit(ask), first), 'consent', { decision: 'switch' });
  const asked = await other.signIn(back, first);
  assert.ok(answerOf(await other.submit(asked, 'consent', { decision: 'allow' })).code);
  const short = await other.visit(
    authorizeUrl(service, 'built-in', { client_id: client.clientId, scope: 'openid email', prompt: 'consent' }),
  );
  assert.doesNotMatch(short.text, /stays-connected/);
});
