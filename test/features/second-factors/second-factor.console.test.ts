/** A console session by the password alone when the sign-in policy tightens: at the next click the second factor is asked for (issue 8, "demanded by the sign-in policy"). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAdministrator, enter, SUPER, typedIn, wordsOf } from '../../pages/console/administrators.ts';
import { moveClock, stopClock } from '../../support/clock.ts';
import { codeOf, secretOn } from '../../support/factors.ts';
import { newSecretKey, startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';

test('a policy that demands a second factor reaches console sessions that stand', async (t) => {
  const service = await startService(t);
  const policy = async (mfa: string) => assert.equal((await service.api('PUT', '/settings/sign-in', { mfa })).body.mfa, mfa);
  const administrator = await createAdministrator(service, 'SUPER_ADMIN');
  const { agent, page } = await enter(service, administrator);
  assert.equal(page.url.pathname, '/admin');
  const form = await agent.visit('/admin/api/tokens/new');
  assert.equal(form.status, 200);

  const { agent: other } = await enter(service, await createAdministrator(service, 'READ_ONLY_ADMIN'));
  await policy('ADMINISTRATORS');
  const lost = await agent.submit(form, 'console-form', { name: 'Not made', expires: '90' });
  assert.match(lost.text, /id="enroll-form"/);
  assert.ok(lost.text.includes(administrator.login), 'only the factor is asked for');
  assert.deepEqual(
    (await service.api('GET', '/api-tokens')).body.filter(({ name }: { name: string }) => name === 'Not made'),
    [],
  );
  const asked = await agent.visit('/admin/organizations?page=1');
  assert.match(asked.text, /id="enroll-form"/);
  const codes = await agent.submit(asked, 'enroll-form', { passCode: codeOf(secretOn(asked)) });
  const back = await agent.submit(codes, 'enrolled-form');
  assert.equal(back.url.pathname + back.url.search, '/admin/organizations?page=1');
  assert.equal((await agent.visit('/admin/api/tokens')).status, 200, 'asked once');

  assert.match((await other.visit('/admin')).text, /id="enroll-form"/);
  await policy('OPTIONAL');
  assert.equal((await other.visit('/admin')).url.pathname, '/admin', 'and no longer, when the policy is loosened');
});

const WEEK = 7 * 86_400;
const POLICY = '/admin/security/sign-in-policy';

test('a new installation on a network gives its administrators a week to set up a second factor', async (t) => {
  stopClock(t);
  const begun = Date.now();
  const service = await startService(t, {
    env: { BASE_URL: 'http://id.gatehouse.test', ALLOW_INSECURE_HTTP: 'true', SECRET_KEY: newSecretKey() },
  });
  const { body } = await service.api('GET', '/settings/sign-in');
  assert.equal(body.mfa, 'ADMINISTRATORS');
  assert.equal(body.mfaFrom, new Date(begun + WEEK * 1000).toISOString());
  const events = await service.api('GET', `/logs?filter=${encodeURIComponent('eventType eq "system.settings.update"')}`);
  assert.equal(events.body.length, 1, 'told in the audit log');
});

test('until the grace ends the console tells administrators without a second factor; then their sign-in makes them set one up', async (t) => {
  stopClock(t);
  const service = await startService(t);
  const mfaFrom = new Date(Date.now() + WEEK * 1000).toISOString();
  assert.equal((await service.api('PUT', '/settings/sign-in', { mfa: 'ADMINISTRATORS', mfaFrom, sessionIdleMinutes: 43_200 })).status, 200);
  const administrator = await createAdministrator(service, 'READ_ONLY_ADMIN');
  const { agent, page } = await enter(service, administrator);
  assert.equal(page.url.pathname, '/admin');
  assert.ok(page.text.includes('id="factor-needed"') && page.text.includes(mfaFrom), page.text);
  const sheet = await agent.visit(POLICY);
  assert.match(wordsOf(sheet), /Required from/);

  moveClock(t, WEEK - 60);
  const { page: late } = await enter(service, administrator);
  assert.match(late.text, /id="factor-needed"/);
  moveClock(t, 61);
  const browser = new UserAgent(service.baseUrl);
  const asked = await browser.signIn(await browser.visit('/admin'), administrator);
  assert.match(asked.text, /id="enroll-form"/);
  const codes = await browser.submit(asked, 'enroll-form', { passCode: codeOf(secretOn(asked)) });
  const home = await browser.submit(codes, 'enrolled-form');
  assert.equal(home.url.pathname, '/admin');
  assert.ok(!home.text.includes('factor-needed'));
});

test('the end of the grace is changed in the console, and who has a factor is told nothing', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service, SUPER);
  const form = await agent.visit(`${POLICY}/edit`);
  const refused = await agent.submit(form, 'console-form', { mfa: 'ADMINISTRATORS', mfaFrom: '2099-99-99T09:30' });
  assert.equal(refused.status, 400);
  const saved = await agent.submit(form, 'console-form', { mfa: 'ADMINISTRATORS', mfaFrom: '2099-01-02T09:30' });
  assert.equal(saved.url.pathname, POLICY);
  assert.match(saved.text, /id="factor-needed"/);
  assert.equal((await service.api('GET', '/settings/sign-in')).body.mfaFrom, '2099-01-02T09:30:00.000Z');
  assert.equal(typedIn(await agent.visit(`${POLICY}/edit`), 'mfaFrom'), '2099-01-02T09:30');
});
