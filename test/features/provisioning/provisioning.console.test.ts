/** Applications → Provisioning, without JavaScript: set up, dry run, failed users with their error, retry, push and removal. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAdministrator, enter, wordsOf } from '../../pages/console/administrators.ts';
import { onServer } from '../../support/database.ts';
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

test('users and groups at the target are a list: counted, in pages, filtered, searched, exported, and retried in bulk', async (t) => {
  const target = await smallTarget(t, []);
  const { app, assign, ok, service } = await provisioningService(t);
  const ids: string[] = [];
  for (let n = 1; n <= 3; n += 1) ids.push(await assign(`user${n}@console.example`));
  const body = { baseUrl: target.origin, auth: { type: 'BEARER', secret: 'the-token-of-the-target' } };
  target.instead = ({ method }) => (method === 'POST' ? { status: 400, body: { detail: 'no licences' } } : undefined);
  await ok('PUT', `/apps/${app}/provisioning`, body);
  const resources = (query: string) => ok('GET', `/apps/${app}/provisioning/resources?limit=200&${query}`);
  await eventually(async () => (await resources('state=FAILED')).length === 3, 'all have failed');
  await onServer(service.database.url, (client) =>
    client.query(
      `INSERT INTO provisioned_resources (application_id, kind, id, name, state, last_attempt, error)
        SELECT $1, CASE n % 10 WHEN 0 THEN 'group' ELSE 'user' END, 'id_' || n, 'Müller ' || n, 'FAILED', now() - n * interval '1 day', 'refused'
        FROM generate_series(1, 40) n`,
      [app],
    ),
  );
  const home = `/admin/applications/${app}/provisioning`;
  const { agent } = await enter(service);
  const list = async (query: string) => wordsOf(await agent.visit(`${home}?${query}`));
  const all = await agent.visit(home);
  assert.match(wordsOf(all), /43 entries/);
  assert.match(wordsOf(all), /Page 1 of 3/);
  assert.match(all.text, /href="[^"]*\/provisioning\?state=FAILED">(<bdi>)?43</, 'the number of failed ones leads to them');
  assert.match(await list('state=FAILED&page=3'), /43 entries.*user1@console\.example User Failed/);
  assert.match(await list('kind=group'), /4 entries/);
  assert.match(await list('q=muller+7'), /1 entry .*Müller 7/);
  assert.match(await list('state=DEACTIVATED'), /Nothing matches/);
  assert.match(await list('sort=-lastAttempt&kind=user'), /39 entries.*user\d@console\.example/);
  assert.match(await list('sort=-name'), /user3@console\.example/);
  assert.equal((await resources('q=m%C3%BCller%2012')).length, 1);
  const file = await agent.visit(`${home}/download?format=ndjson&kind=group`);
  assert.equal(file.text.trim().split('\n').length, 4);
  const access = await agent.visit(`/admin/applications/${app}/access`);
  assert.match(wordsOf(access), /Users and groups at the target/);
  assert.doesNotMatch(access.text, /provisioned\.retry/, 'rows are selected on the list of their own');

  target.instead = () => undefined;
  const failed = await agent.visit(`${home}?state=FAILED&q=console`);
  const confirm = await agent.submit(failed, 'console-form', { action: 'provisioned.retry', scope: 'all' });
  assert.match(wordsOf(confirm), /Retry: 3 entries\?.*compared with the target again/);
  const { url } = await agent.submit(confirm, 'console-form');
  await eventually(async () => /3 done, 0 refused, 0 left/.test(wordsOf(await agent.visit(url.pathname))), 'the job ends');
  await eventually(async () => (await resources('state=PROVISIONED')).length === 3, 'all are there');
  const one = await agent.submit(await agent.visit(home), 'console-form', { action: 'provisioned.retry', chosen: [ids[0] ?? ''] });
  assert.match(wordsOf(one), /Retry: 1 entry\?.*user1@console\.example/);
});
