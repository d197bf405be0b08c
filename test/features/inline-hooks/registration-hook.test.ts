/** The hook that is asked before an account is created (Okta's registration hook), from the form to the account. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createInlineHook, inlineReceiver, SIGN_UPS } from '../../support/inline-hooks.ts';
import { startMailServer } from '../../support/mail.ts';
import { startService } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';

const PASSWORD = 'a good enough password for tests';

async function start(t: TestContext, more: Record<string, unknown> = {}) {
  const server = await startMailServer(t);
  const service = await startService(t, { env: { ...server.env, ALLOW_PRIVATE_NETWORK: 'true' }, sendsOutbox: true });
  const settings = { enabled: true, fields: [{ name: 'firstName', required: false }] };
  const set = await service.api('PUT', '/settings/registration', settings);
  assert.equal(set.status, 200, JSON.stringify(set.body));
  const receiver = await inlineReceiver(t);
  const id = await createInlineHook(service, receiver, SIGN_UPS, more);
  const signUp = async (email: string): Promise<Page> => {
    const agent = new UserAgent(service.baseUrl);
    return agent.submit(await agent.visit('/signup'), 'sign-up-form', { email, password: PASSWORD, firstName: 'Ada' });
  };
  return { service, server, receiver, id, signUp };
}

const update = (value: Record<string, unknown>) => ({ type: 'com.okta.user.profile.update', value });
const decide = (registration: string) => ({ type: 'com.okta.action.update', value: { registration } });

test('a hook that allows sets attributes of the account, and sees no password', async (t) => {
  const { service, server, receiver, id } = await start(t);
  receiver.answers({ commands: [decide('ALLOW'), update({ department: 'Partners', firstName: null })] });
  const agent = new UserAgent(service.baseUrl);
  const waiting = await agent.submit(await agent.visit('/signup'), 'sign-up-form', {
    email: 'ada@example.com',
    password: PASSWORD,
    firstName: 'Ada',
  });
  assert.equal(waiting.status, 200);
  const { data } = receiver.asked[0]?.event ?? {};
  assert.deepEqual([data.userProfile, data.action], [{ firstName: 'Ada', login: 'ada@example.com', email: 'ada@example.com' }, 'ALLOW']);
  assert.ok(!receiver.asked[0]?.body.includes(PASSWORD));
  const { link } = await server.mail('ada@example.com');
  await agent.visit(link);
  const { body } = await service.api('GET', '/users/ada@example.com');
  assert.deepEqual([body.status, body.profile.department, body.profile.firstName], ['ACTIVE', 'Partners', undefined]);
  assert.equal(receiver.asked.length, 1);
  const { body: events } = await service.api('GET', `/logs?${new URLSearchParams({ filter: `target.id eq "${id}"` })}`);
  const { decision } = events.at(-1).debugContext;
  assert.deepEqual([decision.outcome, decision.changed], ['CHANGED', ['department', 'firstName']]);
  assert.ok(!JSON.stringify(events).includes('ada@example.com'), 'an address that was not proved stays out of the log');
});

test('a hook that refuses says why on the form, escaped and short, and no e-mail goes out', async (t) => {
  const { service, server, receiver, signUp } = await start(t);
  receiver.answers({ commands: [decide('DENY')], error: { errorSummary: `Use your <b>company</b> address\u202e ${'x'.repeat(400)}` } });
  const refused = await signUp('ada@example.com');
  assert.equal(refused.status, 400);
  assert.match(refused.text, /Use your &lt;b&gt;company&lt;\/b&gt; address/);
  assert.ok(!refused.text.includes('\u202e') && !refused.text.includes('x'.repeat(200)));
  assert.match(refused.text, /value="ada@example\.com"/, 'nothing typed is lost');
  receiver.answers({ commands: [decide('DENY')] });
  assert.match((await signUp('ada@example.com')).text, /You cannot create an account with these details/);
  // The same for an address that has an account.
  await service.createUser({ login: 'known@example.com' });
  assert.match((await signUp('known@example.com')).text, /You cannot create an account with these details/);
  assert.equal(receiver.asked.length, 3);
  assert.equal(server.mails.length, 0);
});

test('what a hook may not set, or a hook that fails, refuses; OPEN goes on without it', async (t) => {
  const { service, receiver, id, signUp } = await start(t);
  for (const value of [{ login: 'root' }, { email: 'other@example.com' }, { emailVerified: true }, { unknown: 'x' }, { department: 7 }]) {
    receiver.answers({ commands: [update(value)] });
    assert.equal((await signUp('ada@example.com')).status, 400, JSON.stringify(value));
  }
  receiver.answers((res) => res.destroy());
  assert.equal((await signUp('ada@example.com')).status, 400);
  const { body: hook } = await service.api('GET', `/inlineHooks/${id}`);
  const open = await service.api('PUT', `/inlineHooks/${id}`, { name: hook.name, type: SIGN_UPS, failure: 'OPEN', channel: hook.channel });
  assert.equal(open.status, 200, JSON.stringify(open.body));
  assert.equal((await signUp('ada@example.com')).status, 200);
  await service.api('POST', `/inlineHooks/${id}/lifecycle/deactivate`);
  const asked = receiver.asked.length;
  receiver.answers({ commands: [decide('DENY')] });
  assert.equal((await signUp('eve@example.com')).status, 200);
  assert.equal(receiver.asked.length, asked);
});
