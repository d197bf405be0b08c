/** Trusted browsers in the console: for how long, whose they are, and how they are ended. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { enter, SUPER } from '../../pages/console/administrators.ts';
import { answerOf, authorizeUrl, createClient } from '../../protocol/servers/relying-party.ts';
import { moveClock } from '../../support/clock.ts';
import { codeOf, enrolledUser } from '../../support/factors.ts';
import { startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';

const POLICY = '/admin/security/sign-in-policy';

test('the days are set with the sign-in policy; a user’s browsers are seen and ended on the user’s page', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service, SUPER);
  const form = await agent.visit(`${POLICY}/edit`);
  for (const rememberBrowserDays of ['91', '-1', 'many']) {
    const refused = await agent.submit(form, 'console-form', { rememberBrowserDays });
    assert.equal(refused.status, 400, rememberBrowserDays);
    assert.match(refused.text, /id="rememberBrowserDays-problem"/);
  }
  const saved = await agent.submit(form, 'console-form', { rememberBrowserDays: '30' });
  assert.match(saved.text, /For 30 days/);
  assert.equal((await service.api('GET', '/settings/sign-in')).body.rememberBrowserDays, 30);

  const user = await enrolledUser(service);
  const { clientId } = await createClient(service);
  const trust = async () => {
    const browser = new UserAgent(service.baseUrl);
    moveClock(t, 60);
    const page = await browser.signIn(await browser.visit(authorizeUrl(service, 'built-in', { client_id: clientId })), user);
    const done = await browser.submit(page, 'factor-form', { passCode: codeOf(user.secret), trustBrowser: 'true' });
    assert.ok(answerOf(done).code);
  };
  for (let turn = 0; turn < 3; turn += 1) await trust();
  const administrator = await enter(service, SUPER);
  const home = `/admin/users/${user.id}/trusted-browsers`;
  const list = await administrator.agent.visit(home);
  const [first = ''] = /\/admin\/users\/[^"]*\/trusted-browsers\/trb_[^"]*\/end/.exec(list.text) ?? [];
  const found = async (q: string) => (await administrator.agent.visit(`${home}?q=${q}`)).text.includes(first);
  assert.deepEqual([await found('127.0.0.1'), await found('192.0.2.1')], [true, false], 'found by the IP address');
  const ended = await administrator.agent.submit(await administrator.agent.visit(first), 'console-form');
  assert.equal(ended.url.pathname, home);
  assert.match(ended.text, /The trust has ended/);
  assert.equal((await service.api('GET', `/users/${user.id}/trustedBrowsers`)).body.length, 2);
  const none = await administrator.agent.submit(await administrator.agent.visit(`${home}/end`), 'console-form');
  assert.match(none.text, /No trusted browsers/);
  assert.deepEqual((await service.api('GET', `/users/${user.id}/trustedBrowsers`)).body, []);
});
