/** Deliveries of an event hook, in the console without JavaScript and by the API: a test event, what was sent and answered, sending again, and choosing whole groups of events. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deleteSurplusDeliveries } from '../../../src/features/event-hooks/event-hooks.store.ts';
import { removeExpired } from '../../../src/features/expiry/expiry.service.ts';
import { openDatabase } from '../../../src/platform/database/database.ts';
import { enter, wordsOf } from '../../pages/console/administrators.ts';
import { afterwards } from '../../support/afterwards.ts';
import { onServer } from '../../support/database.ts';
import { createHook, hookBody, hookReceiver } from '../../support/event-hooks.ts';
import { eventually } from '../../support/process.ts';
import { type Service, startService } from '../../support/service.ts';
import type { Page, UserAgent } from '../../support/user-agent.ts';

const LOCAL = { sendsOutbox: true, env: { ALLOW_PRIVATE_NETWORK: 'true' } };
const HOME = '/admin/api/event-hooks';

const rowsOf = ({ text }: Page): string[] =>
  Array.from(text.matchAll(/<tr[^>]*>([\s\S]*?)<\/tr>/g), ([, row = '']) =>
    row
      .replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim(),
  ).slice(1);

const linksIn = ({ text }: Page, pattern: RegExp): string[] => Array.from(text.matchAll(pattern), ([, href = '']) => href);

async function deliveriesOf(agent: UserAgent, id: string, count: number): Promise<Page> {
  return eventually(async () => {
    const page = await agent.visit(`${HOME}/${id}/deliveries`);
    return rowsOf(page).length === count ? page : undefined;
  }, `${count} deliveries`);
}

test('a test event goes to this hook alone, signed as every other; what was sent and answered is shown, and sent again under the same ID', async (t) => {
  const service = await startService(t, LOCAL);
  const { agent } = await enter(service);
  const answers = [500, 200];
  const receiver = await hookReceiver(t, (res) =>
    res
      .writeHead(answers[receiver.messages.length - 1] ?? 200, { 'content-type': 'text/plain' })
      .end(`thanks \u0000<b> ${'x'.repeat(3000)}`),
  );
  const other = await hookReceiver(t);
  const { id } = await createHook(service, receiver.uri, ['user.lifecycle.create']);
  await createHook(service, other.uri, ['user.lifecycle.create']);
  assert.match(wordsOf(await agent.visit(`${HOME}/${id}/deliveries`)), /Nothing was delivered yet/);

  const sent = await agent.submit(await agent.visit(`${HOME}/${id}/test`), 'console-form');
  assert.match(wordsOf(sent), /The event is on its way/);
  const [message] = await receiver.received(1);
  assert.equal(message?.event.eventType, 'event_hook.test');
  assert.deepEqual(other.messages, []);
  const failed = await deliveriesOf(agent, id, 1);
  assert.match(rowsOf(failed)[0] ?? '', /event_hook\.test 500 \d+ ms 1 /);

  const [address = ''] = linksIn(failed, /<a href="([^"]+deliveries\/[\w-]+)"/g);
  assert.ok(address.endsWith(String(message?.headers['webhook-id'])));
  const details = await agent.visit(address);
  assert.match(wordsOf(details), /Request body .*com\.okta\.event_hook.*Response body The first kilobyte\./);
  assert.ok(details.text.includes('thanks \ufffd&lt;b&gt; xxx') && !details.text.includes('x'.repeat(1024)));
  const body = /<pre id="request-body"[^>]*>([\s\S]*?)<\/pre>/.exec(details.text)?.[1]?.replaceAll(/&#34;|&quot;/g, '"');
  assert.deepEqual(JSON.parse(body ?? ''), JSON.parse(message?.body ?? ''), 'the body is what was sent');

  const again = await agent.submit(await agent.visit(`${address}/again`), 'console-form');
  assert.match(wordsOf(again), /on its way/);
  const [, repeated] = await receiver.received(2);
  assert.equal(repeated?.headers['webhook-id'], message?.headers['webhook-id']);
  await eventually(async () => / 200 \d+ ms 2 /.test(rowsOf(await agent.visit(`${HOME}/${id}/deliveries`))[0] ?? ''), 'two attempts');
  const types = (await service.api('GET', '/logs?q=event_hook&since=2020-01-01T00:00:00Z')).body.map(
    ({ eventType }: { eventType: string }) => eventType,
  );
  assert.deepEqual(types.slice(-2), ['event_hook.test', 'event_hook.delivery.repeat']);

  // What the log no longer has is not sent, and not shown.
  await onServer(service.database.url, (client) => client.query("DELETE FROM audit_events WHERE event_type = 'event_hook.test'"));
  assert.match(wordsOf(await agent.visit(address)), /Event No longer in the log/);
  assert.match(wordsOf(await agent.submit(await agent.visit(`${address}/again`), 'console-form')), /no longer in the log/);
  assert.equal((await agent.visit(`${HOME}/${id}/deliveries/nothing`)).status, 404);
});

/** Deliveries without events: `old 1` is the newest. Every tenth failed: the tenth without a response, the twentieth with status 500. */
const insertDeliveries = (service: Service, id: string, count: number): Promise<unknown> =>
  onServer(service.database.url, (client) =>
    client.query(
      `INSERT INTO event_hook_deliveries (hook_id, id, event_id, event_type, attempts, last_attempt, latency, status, response)
        SELECT $1, 'old ' || n, gen_random_uuid(), CASE WHEN n % 3 = 0 THEN 'user.session.end' ELSE 'user.session.start' END, 1,
          now() - n * interval '1 hour', n, CASE WHEN n % 20 = 0 THEN 500 WHEN n % 10 <> 0 THEN 204 END, '' FROM generate_series(1, $2) n`,
      [id, count],
    ),
  );

test('deliveries are listed in pages, filtered by outcome, event, time and ID, sorted, and exported', async (t) => {
  const service = await startService(t, LOCAL);
  const { agent } = await enter(service);
  const { body: hook } = await service.api('POST', '/eventHooks', hookBody('https://hooks.example/', ['user.session.start']));
  await insertDeliveries(service, hook.id, 60);
  const home = `${HOME}/${hook.id}/deliveries`;
  const listed = async (query: string) => {
    const page = await agent.visit(`${home}?${query}`);
    return { page, rows: rowsOf(page), words: wordsOf(page) };
  };

  const first = await listed('');
  assert.match(first.words, /60 deliveries/);
  assert.equal(first.rows.length, 20);
  assert.match(first.words, /Page 1 of 3/);
  const last = await listed('page=3');
  assert.match(last.rows.at(-1) ?? '', /user\.session\.end 500 60 ms 1 /);
  assert.match((await listed('sort=-latency')).rows[0] ?? '', / 60 ms /);

  const failed = await listed('outcome=FAILED&size=50');
  assert.match(failed.words, /6 deliveries/);
  assert.match(failed.rows[0] ?? '', /user\.session\.start No response 10 ms/);
  assert.match((await listed('outcome=DELIVERED')).words, /54 deliveries/);
  assert.match(
    (await listed('type=user.session.end&outcome=FAILED')).words,
    /2 deliveries/,
    'also a type that the hook no longer receives',
  );
  assert.match((await listed('q=old+7')).words, /1 delivery.*204 7 ms/);
  const since = new Date(Date.now() - 5.5 * 3_600_000).toISOString().slice(0, 16);
  assert.match((await listed(`since=${since}`)).words, /5 deliveries/);
  assert.match((await listed(`until=${since}`)).words, /55 deliveries/);
  const wrong = await listed('since=yesterday');
  assert.match(wrong.words, /must be a date with a time/);
  assert.deepEqual([wrong.rows.length, (await listed('q=%00')).rows.length], [0, 0]);

  const file = await agent.visit(`${home}/download?format=ndjson&outcome=FAILED`);
  const records = file.text.trim().split('\n');
  assert.equal(records.length, 6);
  assert.deepEqual(Object.keys(JSON.parse(records[0] ?? '')), [
    'id',
    'eventId',
    'eventType',
    'attempts',
    'lastAttempt',
    'latencyMs',
    'status',
    'error',
  ]);

  const path = `/eventHooks/${hook.id}/deliveries`;
  const pages: string[][] = [];
  for (let next = `${path}?outcome=FAILED&limit=4`; next !== ''; ) {
    const { body, headers } = await service.api('GET', next);
    pages.push(body.map(({ id }: { id: string }) => id));
    next = /\/api\/v1([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1] ?? '';
  }
  assert.deepEqual(
    pages,
    [
      ['old 60', 'old 50', 'old 40', 'old 30'],
      ['old 20', 'old 10'],
    ],
    'in the order of their first attempts',
  );
  const found = async (query: string): Promise<number> => (await service.api('GET', `${path}?limit=200&${query}`)).body.length;
  assert.equal(await found('outcome=DELIVERED'), 54);
  assert.equal(await found('eventType=user.session.end'), 20);
  assert.equal(await found(`since=${since}:00Z`), 5);
  assert.equal(await found(`until=${since}:00Z&outcome=FAILED`), 6);
  assert.equal((await service.api('GET', `${path}?outcome=LOST`)).status, 400);
});

test('failed deliveries are sent again in bulk; those without an event are refused', async (t) => {
  const service = await startService(t, LOCAL);
  const { agent } = await enter(service);
  const receiver = await hookReceiver(t, (res) => res.writeHead(receiver.messages.length > 1 ? 200 : 410).end());
  const { id } = await createHook(service, receiver.uri, ['user.lifecycle.create']);
  await insertDeliveries(service, id, 10);
  await agent.submit(await agent.visit(`${HOME}/${id}/test`), 'console-form');
  await receiver.received(1);
  const list = await deliveriesOf(agent, id, 11);
  const failed = await agent.visit(`${list.url.pathname}?outcome=FAILED`);
  const confirm = await agent.submit(failed, 'console-form', { action: 'deliveries.repeat', scope: 'all' });
  assert.match(wordsOf(confirm), /Send again: 2 deliveries\?.*same message IDs.*event_hook\.test/);
  const { url } = await agent.submit(confirm, 'console-form');
  await eventually(async () => /1 done, 1 refused, 0 left/.test(wordsOf(await agent.visit(url.pathname))), 'the job ends');
  const [first, again] = await receiver.received(2);
  assert.equal(again?.headers['webhook-id'], first?.headers['webhook-id']);
  assert.match(wordsOf(await agent.visit(url.pathname)), /no longer in the log/);
});

test('the newest ten thousand deliveries of a hook are kept', async (t) => {
  const service = await startService(t);
  const { body: hook } = await service.api('POST', '/eventHooks', hookBody('https://hooks.example/', ['user.session.start']));
  await insertDeliveries(service, hook.id, 10_005);
  const database = await openDatabase({ connection: service.database.connection, onError: () => {} });
  afterwards(t, () => database.close());
  assert.equal(await deleteSurplusDeliveries(database.knex, 3), 3);
  assert.equal(await removeExpired(database, 1000), 2);
  const { rows } = await onServer(service.database.url, (client) =>
    client.query("SELECT count(*)::int AS count, bool_or(id = 'old 1') AS newest FROM event_hook_deliveries"),
  );
  assert.deepEqual(rows, [{ count: 10_000, newest: true }]);
});

test('a receiver that cannot be reached has no response; a hook that receives nothing gets no test event', async (t) => {
  const service = await startService(t, LOCAL);
  const { agent } = await enter(service);
  const receiver = await hookReceiver(t);
  const { id } = await createHook(service, receiver.uri, ['user.lifecycle.create']);
  await onServer(service.database.url, (client) =>
    client.query(`UPDATE event_hooks SET channel = jsonb_set(channel, '{uri}', '"http://127.0.0.1:9/"')`),
  );
  await agent.submit(await agent.visit(`${HOME}/${id}/test`), 'console-form');
  await eventually(
    async () => /event_hook\.test No response fetch failed/.test(rowsOf(await agent.visit(`${HOME}/${id}/deliveries`))[0] ?? ''),
    'the failure is shown',
  );
  await service.api('POST', `/eventHooks/${id}/lifecycle/deactivate`);
  assert.match(wordsOf(await agent.submit(await agent.visit(`${HOME}/${id}/test`), 'console-form')), /inactive. Activate it first/);
});

test('a whole group of events is chosen with one box; a private address is refused with the setting that allows it', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  const form = await agent.visit(`${HOME}/new`);
  assert.match(wordsOf(form), /All of this group Choose.*A user was added to a group group\.user_membership\.add/);
  const created = await agent.submit(form, 'console-form', {
    name: 'All',
    uri: 'http://127.0.0.1:9/',
    'events-organizations': ['all', 'group.lifecycle.create'],
  });
  const [id = ''] = linksIn(created, /event-hooks\/(\w+)\/verify/g);
  const { items } = (await service.api('GET', `/eventHooks/${id}`)).body.events;
  assert.ok(items.includes('org.membership.add') && items.includes('group.lifecycle.create') && !items.includes('user.lifecycle.create'));
  const edit = await agent.visit(`${HOME}/${id}/edit`);
  assert.match(edit.text, /name="events-organizations" type="checkbox" value="all" checked/);
  assert.match(wordsOf(await agent.submit(await agent.visit(`${HOME}/${id}/verify`), 'console-form')), /ALLOW_PRIVATE_NETWORK=true/);

  const { body } = await service.api('POST', '/eventHooks', hookBody('https://hooks.example/', ['user.lifecycle.create']));
  assert.match((await agent.visit(`${HOME}/${body.id}/edit`)).text, /<details open>\s*<summary>Choose/);
});

test('the API lists deliveries, reads one with both bodies, sends it again, and sends test events', async (t) => {
  const service = await startService(t, LOCAL);
  const receiver = await hookReceiver(t, (res) => res.writeHead(500).end('not now'));
  const { id } = await createHook(service, receiver.uri, ['user.lifecycle.create']);
  const other = await createHook(service, receiver.uri, ['user.lifecycle.create']);
  const path = `/eventHooks/${id}/deliveries`;
  assert.deepEqual((await service.api('GET', path)).body, []);

  assert.equal((await service.api('POST', `/eventHooks/${id}/test`)).status, 204);
  const [message] = await receiver.received(1);
  const [listed] = await eventually(async () => {
    const { body } = await service.api('GET', path);
    return body.length === 1 ? body : undefined;
  }, 'the delivery');
  assert.deepEqual(
    { ...listed, lastAttempt: '', latencyMs: 0 },
    {
      id: message?.headers['webhook-id'],
      eventId: message?.event.uuid,
      eventType: 'event_hook.test',
      attempts: 1,
      lastAttempt: '',
      latencyMs: 0,
      status: 500,
      error: null,
      _links: { self: { href: `${service.baseUrl}/api/v1${path}/${listed.id}` } },
    },
  );
  const { body: read } = await service.api('GET', `${path}/${listed.id}`);
  assert.deepEqual([read.requestBody, read.responseBody], [message?.body, 'not now']);

  assert.equal((await service.api('POST', `${path}/${listed.id}/repeat`)).status, 204);
  const [, repeated] = await receiver.received(2);
  assert.deepEqual([repeated?.headers['webhook-id'], repeated?.body], [listed.id, message?.body]);

  assert.equal((await service.api('GET', `/eventHooks/${other.id}/deliveries/${listed.id}`)).status, 404, 'it belongs to one hook');
  assert.equal((await service.api('POST', `/eventHooks/${other.id}/deliveries/${listed.id}/repeat`)).status, 404);
  await service.api('POST', `/eventHooks/${id}/lifecycle/deactivate`);
  assert.equal((await service.api('POST', `/eventHooks/${id}/test`)).body.errorCode, 'E0000038');
  assert.equal((await service.api('POST', `${path}/${listed.id}/repeat`)).body.errorCode, 'E0000038');
});
