/** A console session by the password alone when the sign-in policy tightens: at the next click the second factor is asked for (issue 8, "demanded by the sign-in policy"). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeOf, secretOn } from '../support/factors.ts';
import { startService } from '../support/service.ts';
import { createAdministrator, enter } from './administrators.ts';

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
