/** Many users at once in the console: select, confirm, watch, keep the result; and CSV in and out. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAdministrator, createOrganization, enter, SUPER, wordsOf } from '../../pages/console/administrators.ts';
import { onServer } from '../../support/database.ts';
import { eventually } from '../../support/process.ts';
import { type Service, startService } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';

const USERS = '/admin/users';

/** Waits for the end of the job that a page shows. */
async function ended(agent: UserAgent, page: Page): Promise<Page> {
  return eventually(async () => {
    const now = await agent.visit(page.url.pathname);
    return /data-running/.test(now.text) ? undefined : now;
  }, 'the job ends');
}

async function crowd(service: Service, count: number): Promise<{ id: string; login: string }[]> {
  const users = [];
  for (let n = 1; n <= count; n += 1) users.push(await service.createUser({ login: `crowd-${n}`, firstName: 'Crowd' }));
  return users;
}

const statusOf = async (service: Service, id: string): Promise<string> => (await service.api('GET', `/users/${id}`)).body.status;

test('selected users are suspended, each with its event; who cannot be is refused with the reason', async (t) => {
  const service = await startService(t, { sendsOutbox: true });
  const [first, second, third] = await crowd(service, 3);
  assert.ok(first && second && third);
  await service.api('POST', `/users/${second.id}/lifecycle/suspend`);
  const { agent } = await enter(service);
  const list = await agent.visit(`${USERS}?q=crowd`);
  const none = await agent.submit(list, 'console-form', { action: 'users.suspend' });
  assert.equal(none.status, 400);
  assert.match(wordsOf(none), /Select at least one row/);
  const confirm = await agent.submit(list, 'console-form', { action: 'users.suspend', chosen: [first.id, second.id] });
  assert.match(wordsOf(confirm), /Suspend: 2 users\?.*crowd-1, crowd-2/);
  assert.equal(await statusOf(service, first.id), 'ACTIVE', 'nothing happens before it is confirmed');
  const page = await ended(agent, await agent.submit(confirm, 'console-form'));
  assert.match(wordsOf(page), /Done.*1 done, 1 refused, 0 left\..*crowd-2 2 .*ACTIVE/);
  assert.deepEqual([await statusOf(service, first.id), await statusOf(service, third.id)], ['SUSPENDED', 'ACTIVE']);
  const result = await agent.visit(`${page.url.pathname}/download`);
  assert.equal(result.text.split('\n')[1], 'line,name,outcome,reason'.replace(/.*/, '1,crowd-1,DONE,'));
  const refused = await agent.visit(`${page.url.pathname}/download?outcome=REFUSED`);
  assert.match(refused.text, /^line,name,outcome,reason\n2,crowd-2,REFUSED,/);
  const { body } = await service.api('GET', `/logs?since=2020-01-01T00:00:00Z&limit=20&sortOrder=DESCENDING`);
  const told = body.map(({ eventType, actor }: { eventType: string; actor: { displayName: string } }) => [eventType, actor.displayName]);
  for (const type of ['system.bulk_action.start', 'user.lifecycle.suspend', 'system.bulk_action.end']) {
    assert.ok(
      told.some(([eventType, name]: string[]) => eventType === type && name === 'admin'),
      `${type}: ${JSON.stringify(told)}`,
    );
  }
  assert.match(wordsOf(await agent.visit('/admin/bulk')), /Suspend 2 users Done admin/);
});

test('all users of a list join a group, as many as there are, and a job can be confirmed once', async (t) => {
  const service = await startService(t, { sendsOutbox: true });
  await crowd(service, 45);
  await service.createUser({ login: 'somebody-else' });
  const group = (await service.api('POST', '/groups', { profile: { name: 'Everybody' } })).body;
  const { agent } = await enter(service);
  const confirm = await agent.submit(await agent.visit(`${USERS}?q=crowd`), 'console-form', { action: 'users.add-to-group', scope: 'all' });
  assert.match(wordsOf(confirm), /Add to a group: 45 users\?/);
  const missing = await agent.submit(confirm, 'console-form', { group: '' });
  assert.match(wordsOf(missing), /Group: is required/);
  const page = await ended(agent, await agent.submit(missing, 'console-form', { group: group.id }));
  assert.match(wordsOf(page), /45 done, 0 refused, 0 left/);
  assert.equal((await service.api('GET', `/groups/${group.id}/users?limit=200`)).body.length, 45);
  const again = await agent.submit(confirm, 'console-form', { group: group.id });
  assert.match(wordsOf(again), /45 done, 0 refused, 0 left/, 'a second click leads to the same job');
  const started = await service.api('GET', '/logs?since=2020-01-01T00:00:00Z&filter=eventType eq "system.bulk_action.start"');
  assert.equal(started.body.length, 1);
});

test('selected members leave their group, which the confirmation names; those of an organization are suspended', async (t) => {
  const service = await startService(t, { sendsOutbox: true });
  const users = await crowd(service, 3);
  const group = (await service.api('POST', '/groups', { profile: { name: 'Editors' } })).body;
  const orgId = await createOrganization(service, 'Acme');
  for (const { id } of users) {
    await service.api('PUT', `/groups/${group.id}/users/${id}`);
    await service.api('PUT', `/account/org/${orgId}/member/${id}`, {});
  }
  const { agent } = await enter(service);
  const members = await agent.visit(`/admin/groups/${group.id}/members?sort=login`);
  const none = await agent.submit(members, 'console-form');
  assert.equal(none.status, 400);
  assert.match(wordsOf(none), /Select at least one row/);
  const chosen = users.slice(0, 2).map(({ id }) => id);
  const confirm = await agent.submit(members, 'console-form', { chosen });
  assert.match(wordsOf(confirm), /Remove from a group: 2 users\?.*(crowd-1, crowd-2|crowd-2, crowd-1)/);
  assert.match(confirm.text, new RegExp(`<option value="${group.id}" selected>`));
  assert.match(wordsOf(await ended(agent, await agent.submit(confirm, 'console-form'))), /2 done, 0 refused, 0 left/);
  assert.deepEqual(
    (await service.api('GET', `/groups/${group.id}/users`)).body.map(({ id }: { id: string }) => id),
    [users[2]?.id],
  );

  const list = await agent.visit(`/admin/organizations/${orgId}/members`);
  const suspended = await agent.submit(list, 'console-form', { action: 'users.suspend', chosen: chosen.slice(0, 1) });
  assert.match(wordsOf(await ended(agent, await agent.submit(suspended, 'console-form'))), /1 done, 0 refused, 0 left/);
  assert.equal(await statusOf(service, users[0]?.id ?? ''), 'SUSPENDED');
});

test('all members that a search finds leave their group or organization, also those on other pages', async (t) => {
  const service = await startService(t, { sendsOutbox: true });
  const users = await crowd(service, 25);
  const kept = await service.createUser({ login: 'kept' });
  const group = (await service.api('POST', '/groups', { profile: { name: 'Editors' } })).body;
  const orgId = await createOrganization(service, 'Acme');
  for (const { id } of [...users, kept]) {
    await service.api('PUT', `/groups/${group.id}/users/${id}`);
    await service.api('PUT', `/account/org/${orgId}/member/${id}`, {});
  }
  for (const { id } of [kept, users[0] ?? kept])
    assert.equal((await service.api('PUT', `/account/org/${orgId}/member/${id}/role`, { roles: ['owner'] })).status, 200);
  const { agent } = await enter(service);
  const left = async (path: string, name: string): Promise<string> => {
    const answer = await service.api('GET', path);
    return answer.body.map((one: Record<string, string>) => one[name]).join();
  };

  const members = await agent.visit(`/admin/groups/${group.id}/members?q=crowd&page=2`);
  assert.match(wordsOf(members), /All 25 users of this list/);
  const leave = await agent.submit(members, 'console-form', { action: 'users.remove-from-group', scope: 'all' });
  assert.match(wordsOf(leave), /Remove from a group: 25 users\?/);
  assert.match(wordsOf(await ended(agent, await agent.submit(leave, 'console-form'))), /25 done, 0 refused, 0 left/);
  assert.equal(await left(`/groups/${group.id}/users`, 'id'), kept.id);

  const list = await agent.visit(`/admin/organizations/${orgId}/members?q=crowd`);
  const foreign = (await service.createUser({ login: 'crowd-elsewhere' })).id;
  const none = await agent.submit(list, 'console-form', { action: 'users.suspend', chosen: [foreign, kept.id] });
  assert.match(wordsOf(none), /Select at least one row/, 'only rows of the list');
  const gone = await agent.submit(list, 'console-form', { action: 'members.remove', scope: 'all' });
  assert.match(wordsOf(gone), /Remove from the organization: 25 members\?.*This affects 1 role\./);
  assert.match(wordsOf(await ended(agent, await agent.submit(gone, 'console-form'))), /25 done, 0 refused, 0 left/);
  assert.equal(await left(`/account/org/${orgId}/member`, 'userId'), kept.id);
});

test('a job goes on after the process that began it is gone, ends for who loses the role or is suspended, and can be cancelled', async (t) => {
  const service = await startService(t, { sendsOutbox: true });
  const users = await crowd(service, 3);
  const { agent } = await enter(service);
  const begin = async (visitor: UserAgent): Promise<string> => {
    const list = await visitor.visit(`${USERS}?q=crowd`);
    const confirm = await visitor.submit(list, 'console-form', { action: 'users.end-sessions', scope: 'all' });
    return confirm.url.pathname.split('/')[3] ?? '';
  };
  // As a process leaves it that was killed in the midst: one row is done, and the claim has ended.
  const left = await begin(agent);
  await onServer(service.database.url, async (sql) => {
    await sql.query("UPDATE bulk_jobs SET state = 'RUNNING', started = now() WHERE id = $1", [left]);
    await sql.query("UPDATE bulk_job_rows SET outcome = 'DONE' WHERE job_id = $1 AND line = 1", [left]);
    await sql.query(
      `INSERT INTO outbox (kind, ordering_key, object_key, payload, created, due, attempts)
       VALUES ('bulk-job', $1, $1, jsonb_build_object('jobId', $1::text), now(), now(), 1)`,
      [left],
    );
  });
  const page = await ended(agent, await agent.visit(`/admin/bulk/${left}`));
  assert.match(wordsOf(page), /3 done, 0 refused, 0 left/);
  const cleared = await service.api('GET', '/logs?since=2020-01-01T00:00:00Z&limit=200&filter=eventType eq "user.session.clear"');
  assert.equal(cleared.body.length, 2, 'what was done before is not done again');

  const orgId = await createOrganization(service, 'Acme');
  for (const { id } of users) await service.api('PUT', `/account/org/${orgId}/member/${id}`, {});
  const takenAway = [
    ({ id, roleId }: { id: string; roleId: string }) => service.api('DELETE', `/users/${id}/roles/${roleId}`),
    ({ id }: { id: string }) => service.api('POST', `/users/${id}/lifecycle/suspend`),
  ];
  for (const takeAway of takenAway) {
    const administrator = await createAdministrator(service, 'ORG_ADMIN', orgId);
    const { agent: hers } = await enter(service, administrator);
    const lost = await begin(hers);
    assert.equal((await agent.visit(`/admin/bulk/${lost}`)).status, 200, 'administrators of the service see all');
    assert.equal((await hers.visit(`/admin/bulk/${left}`)).status, 404, 'and others their own');
    await onServer(service.database.url, (sql) => sql.query("UPDATE bulk_jobs SET state = 'RUNNING' WHERE id = $1", [lost]));
    const { status } = await takeAway(administrator);
    assert.ok(status === 200 || status === 204, String(status));
    await onServer(service.database.url, (sql) =>
      sql.query(
        `INSERT INTO outbox (kind, ordering_key, object_key, payload, created, due)
         VALUES ('bulk-job', $1, $1, jsonb_build_object('jobId', $1::text), now(), now())`,
        [lost],
      ),
    );
    assert.match(wordsOf(await ended(agent, await agent.visit(`/admin/bulk/${lost}`))), /Cancelled.*0 done, 0 refused, 3 left/);
  }

  const stopped = await begin(agent);
  await onServer(service.database.url, (sql) => sql.query("UPDATE bulk_jobs SET state = 'RUNNING' WHERE id = $1", [stopped]));
  const cancelled = await agent.submit(await agent.visit(`/admin/bulk/${stopped}/cancel`), 'console-form');
  assert.match(wordsOf(cancelled), /The rest of the action is cancelled.*0 done, 0 refused, 3 left/);
});

/** Through a proxy there is no dev inbox, and so no mail. */
class ViaProxy extends UserAgent {
  override send(address: string | URL, init: RequestInit = {}) {
    const headers = new Headers(init.headers);
    headers.set('x-forwarded-for', '203.0.113.9');
    return super.send(address, { ...init, headers });
  }
}

test('a bulk action mails nothing where a single one does not', async (t) => {
  const service = await startService(t, { sendsOutbox: true });
  const user = await service.createUser({ login: 'crowd-1', email: 'crowd@example.com' });
  const agent = new ViaProxy(service.baseUrl);
  await agent.signIn(await agent.visit('/admin'), SUPER);
  const list = await agent.visit(`${USERS}?q=crowd`);
  const confirm = await agent.submit(list, 'console-form', { action: 'users.reset-password', scope: 'all' });
  const page = await ended(agent, await agent.submit(confirm, 'console-form'));
  assert.match(wordsOf(page), /0 done, 1 refused, 0 left.*cannot send e-mail/);
  assert.equal(await statusOf(service, user.id), 'ACTIVE', 'the password stays, for the link would reach nobody');
});

test('users are exported as CSV and NDJSON, as the list is narrowed, and an export can be imported', async (t) => {
  const service = await startService(t, { sendsOutbox: true });
  await crowd(service, 2);
  await service.createUser({
    login: 'formula',
    firstName: '=HYPERLINK("https://evil.example")',
    lastName: 'Ünïcode; "quoted"',
    mobilePhone: '+49 30 1',
  });
  const { agent } = await enter(service);
  const list = await agent.visit(`${USERS}?q=formula`);
  const [, href = ''] = /href="([^"]*format=csv[^"]*)"/.exec(list.text) ?? [];
  const csv = await agent.visit(href.replaceAll('&amp;', '&'));
  assert.match(csv.headers.get('content-type') ?? '', /^text\/csv/);
  assert.match(csv.headers.get('content-disposition') ?? '', /users\.csv/);
  const [header = '', row = '', ...rest] = csv.text.trim().split('\n');
  assert.match(header, /^\uFEFF?id,status,created,lastLogin,login,email,emailVerified,/);
  assert.deepEqual(rest, []);
  assert.match(row, /"'=HYPERLINK\(""https/, 'no formula for a spreadsheet');
  const ndjson = await agent.visit(`${USERS}/download?format=ndjson&q=crowd`);
  assert.deepEqual(
    ndjson.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).login),
    ['crowd-1', 'crowd-2'],
  );
  assert.equal((await agent.visit(`${USERS}/download?expression=city`)).status, 400);

  const renamed = `${header}\n${row.replace('formula', 'imported')}\n`;
  const form = await agent.visit(`${USERS}/import`);
  const [, csrf = ''] = /name="csrf" value="([^"]*)"/.exec(form.text) ?? [];
  const upload = async (content: string | Uint8Array<ArrayBuffer>): Promise<Page> => {
    const body = new FormData();
    body.set('csrf', csrf);
    body.set('file', new Blob([content]), 'users.csv');
    return agent.visit(`${USERS}/import`, { method: 'POST', body, headers: { origin: service.baseUrl } });
  };
  const confirm = await upload(`${renamed}\n${row}\n${row.replace(/formula,[^,]*,[^,]*,/, 'x,no-address,perhaps,')}`);
  assert.match(wordsOf(confirm), /Import users: 3 users\?/);
  const page = await ended(agent, await agent.submit(confirm, 'console-form'));
  assert.match(
    wordsOf(page),
    /1 done, 2 refused, 0 left\..*formula 2 profile\.login: another user has this user name. Choose another one x 3 .*profile\.emailVerified/,
  );
  const { profile } = (await service.api('GET', '/users/imported')).body;
  assert.deepEqual(
    [profile.firstName, profile.lastName, profile.mobilePhone],
    ['=HYPERLINK("https://evil.example")', 'Ünïcode; "quoted"', '+49 30 1'],
  );
  const items = await onServer(service.database.url, async (sql) => (await sql.query('SELECT DISTINCT item FROM bulk_job_rows')).rows);
  assert.deepEqual(items, [{ item: {} }], 'what was imported is not kept a second time');

  for (const [content, problem] of [
    ['', /Select a CSV file that is not empty/],
    ['login,shoe size\na,43\n', /unknown columns: shoe size/],
    ['email\na@example.com\n', /no column “login”/],
    ['login,login\na,b\n', /contains a column twice/],
    ['login,email\na\n', /is not valid CSV in line 2: the row has a different number of cells/i],
    ['login,email\na,"b\n', /line 2: a quote is not closed/],
    ['login,email\na,b"\n', /line 2: a cell contains a quote/],
    ['login,email\na,"b"c\n', /line 2: a closing quote is not followed by a separator/],
    ['login\n', /Select at least one row/],
    [new Uint8Array([0x6c, 0xff, 0xfe]), /encoded in UTF-8/],
  ] as const) {
    const refused = await upload(content);
    assert.ok(refused.status === 400, `${content}: ${refused.status}`);
    assert.match(wordsOf(refused), problem);
  }
});
