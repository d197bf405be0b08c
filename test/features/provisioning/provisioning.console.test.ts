/** Applications → Provisioning, without JavaScript: set up, dry run, failed users with their error, retry, push and removal. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAdministrator, enter, wordsOf } from '../../pages/console/administrators.ts';
import { eventually } from '../../support/process.ts';
import { provisioningService, smallTarget } from '../../support/small-target.ts';

test('a target is set up, tried, and shows what became of each user, who are retried and pushed', async (t) => {
  const target = await smallTarget(t, [{ id: '1', userName: 'bob@console.example', active: true }]);
  const { app, assign, ok, service } = await provisioningService(t);
  for (const login of ['ada@console.example', 'bob@console.example']) await assign(login);
  const home = `/admin/applications/${app}/provisioning`;
  const { agent } = await enter(service);
  assert.match(wordsOf(await agent.visit(home)), /Without a SCIM target, the application manages its own users/);
  const form = await agent.visit(`${home}/edit`);
  const typed = { baseUrl: target.origin, auth: 'BEARER', secret: 'the-token-of-the-target', mapping: 'nickName = -\ntitle = department' };
  assert.match(wordsOf(await agent.submit(form, 'console-form', { ...typed, secret: '' })), /Token or client secret/);
  const inactive = await agent.submit(form, 'console-form', { ...typed, isActive: [] });
  assert.match(wordsOf(inactive), /Status Inactive/);
  assert.ok(!inactive.text.includes(typed.secret));
  assert.deepEqual((await ok('GET', `/apps/${app}/provisioning`)).mapping, { nickName: null, title: 'department' });

  const plan = wordsOf(await agent.visit(`${home}/plan`));
  assert.match(plan, /ada@console\.example Create .*bob@console\.example Link to the existing user/);
  assert.deepEqual(target.changes(), [], 'the target was read, and nothing was changed');

  target.instead = ({ method }) => (method === 'POST' ? { status: 400, body: { detail: 'no <more> licences' } } : undefined);
  await agent.submit(await agent.visit(`${home}/edit`), 'console-form', { isActive: 'yes' });
  await eventually(
    async () => /ada@console\.example User Failed .*no (<|&lt;)more(>|&gt;) licences\) Retry/.test(wordsOf(await agent.visit(home))),
    'the user is shown as failed, with the error',
  );
  assert.match(wordsOf(await agent.visit(home)), /bob@console\.example User Active there/, 'nobody else is held up');
  target.instead = () => undefined;
  const ada = (await service.api('GET', '/users/ada@console.example')).body.id;
  const retry = await agent.visit(`${home}/user/${ada}/retry`);
  assert.match(wordsOf(await agent.submit(retry, 'console-form')), /The push has started/);
  await eventually(async () => /Active there 2 /.test(wordsOf(await agent.visit(home))), 'the user is there at last');
  assert.ok(target.named('ada@console.example'));

  // Somebody changed the target: a push of all mends it.
  Object.assign(target.named('bob@console.example') ?? {}, { active: false });
  await agent.submit(await agent.visit(`${home}/push`), 'console-form');
  await eventually(() => target.named('bob@console.example')?.active === true, 'bob is active again');

  const reader = await createAdministrator(service, 'READ_ONLY_ADMIN');
  const { agent: other } = await enter(service, reader);
  const seen = await other.visit(home);
  assert.match(wordsOf(seen), /bob@console\.example User Active there/);
  assert.doesNotMatch(wordsOf(seen), /Push now|Retry/);
  assert.equal((await other.visit(`${home}/edit`)).status, 403);

  const removed = await agent.submit(await agent.visit(`${home}/remove`), 'console-form');
  assert.match(wordsOf(removed), /Without a SCIM target/);
  assert.ok(target.named('ada@console.example'), 'users at the target stay');
});
