/** What event hooks are told, when, in which order, and what comes of receivers that are slow, broken or away; a crash is in test/faults/kills-event-hooks.test.ts (docs/decisions; Standard Webhooks 1.0). */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { SYSTEM } from '../../../src/features/audit/audit-event.policy.ts';
import { createEventHook } from '../../../src/features/event-hooks/event-hooks.service.ts';
import { createGroup } from '../../../src/features/groups/groups.service.ts';
import { timings } from '../../../src/platform/clock/timings.ts';
import { receiver as logoutReceiver, signInAt, told } from '../../protocol/logout/logout-receiver.ts';
import { afterwards } from '../../support/afterwards.ts';
import { moveClock, stopClock } from '../../support/clock.ts';
import { onServer } from '../../support/database.ts';
import {
  createHook,
  hookBody,
  hookReceiver,
  nameOf,
  nothingWaits,
  signatureOf,
  type WaitingNews,
  waitingNews,
} from '../../support/event-hooks.ts';
import { testServices } from '../../support/management-api.ts';
import { eventually } from '../../support/process.ts';
import { newSecretKey, type Service, type ServiceCalls, startService } from '../../support/service.ts';
import { withTimings } from '../../support/short-waits.ts';

const LOCAL = { ALLOW_PRIVATE_NETWORK: 'true' };
const PEOPLE = ['user.lifecycle.create', 'user.lifecycle.suspend', 'user.lifecycle.unsuspend', 'user.account.update_profile'];
const CREATED = ['group.lifecycle.create'];

const createGroups = async ({ api }: ServiceCalls, count: number, name = 'Group'): Promise<string[]> => {
  const ids: string[] = [];
  for (let turn = 0; turn < count; turn += 1) {
    const { status, body } = await api('POST', '/groups', { profile: { name: `${name} ${turn}` } });
    assert.equal(status, 200);
    ids.push(body.id);
  }
  return ids;
};

/** Has the attempt failed so often? While the next one is under way, the error is that of the one before. The clock stands still: what is due tells it. */
const hasFailed = ({ attempts, last_error, due }: WaitingNews, times: number): boolean =>
  attempts === times && last_error !== null && due.getTime() !== Date.now() + timings.outboxClaim * 1000;

/** Waits until the first entry has failed so often. */
async function failed({ database }: Service, attempts: number): Promise<WaitingNews> {
  let entry: WaitingNews | undefined;
  await eventually(async () => {
    [entry] = await waitingNews(database);
    return entry !== undefined && hasFailed(entry, attempts);
  }, `attempt ${attempts} fails`);
  assert.ok(entry);
  return entry;
}

const deactivate = ({ api }: ServiceCalls, id: string) => api('POST', `/eventHooks/${id}/lifecycle/deactivate`);

test('the news is written with the event: in the same transaction, in the same statement, for active and verified hooks that want it', async (t) => {
  const { services, close } = await testServices();
  afterwards(t, close);
  const { knex } = services.database;
  const input = { name: 'x', description: '', uri: 'https://receiver.example/', headers: [], authScheme: undefined };
  const hookFor = async (eventTypes: readonly ('group.lifecycle.create' | 'group.lifecycle.delete')[]) =>
    (await createEventHook(services, { ...input, eventTypes }, SYSTEM)).hook.id;
  const wanted = await hookFor(['group.lifecycle.create']);
  const inactive = await hookFor(['group.lifecycle.create']);
  const others = await hookFor(['group.lifecycle.delete']);
  await hookFor(['group.lifecycle.create']); // stays unverified
  await knex('event_hooks').whereIn('id', [wanted, inactive, others]).update({ verification_status: 'VERIFIED' });
  await knex('event_hooks').where({ id: inactive }).update({ status: 'INACTIVE' });

  await assert.rejects(
    services.database.transaction(async (trx) => {
      const within = { ...services, database: { ...services.database, knex: trx, transaction: trx.transaction.bind(trx) as never } };
      await createGroup(within, { name: 'undone', description: '' }, SYSTEM);
      throw new Error('undone');
    }),
    /undone/,
  );
  assert.deepEqual(await knex('outbox').select(), []);

  const statements: string[] = [];
  const note = ({ sql }: { sql: string }) => void statements.push(sql);
  knex.on('query', note);
  const group = await createGroup(services, { name: 'done', description: '' }, SYSTEM);
  knex.off('query', note);
  assert.equal(statements.filter((sql) => /audit_events|outbox|event_hooks/.test(sql)).length, 1, statements.join('\n'));
  assert.equal(statements.length, 4, 'begin, group, event, commit');

  const [entry, ...more] = await knex('outbox').select();
  assert.deepEqual(more, []);
  const event = await knex('audit_events').where({ event_type: 'group.lifecycle.create' }).first();
  assert.deepEqual([entry.kind, entry.ordering_key, entry.object_key], ['event-hook', wanted, group.id]);
  assert.deepEqual(Object.keys(entry.payload).sort(), ['deliveryId', 'eventId', 'hookId']);
  assert.deepEqual([entry.payload.hookId, entry.payload.eventId], [wanted, event.uuid]);
});

test('event hooks', async (t) => {
  stopClock(t);
  const service = await startService(t, { env: LOCAL, sendsOutbox: true });

  await t.test('get the event as the log shows it, in the envelope of Okta, signed as Standard Webhooks says', async (t) => {
    const receiver = await hookReceiver(t);
    const config = {
      headers: [{ key: 'X-Tenant', value: 'tests' }],
      authScheme: { type: 'HEADER', key: 'Authorization', value: 'Basic x' },
    };
    const { id, secret } = await createHook(service, receiver.uri, CREATED, config);
    const [groupId] = await createGroups(service, 1, '<b>مرحبا</b>');
    const [message, ...others] = await receiver.received(1);
    await nothingWaits(service.database);
    assert.ok(message);
    assert.deepEqual(others, []);

    const { body: logged } = await service.api('GET', `/logs?${new URLSearchParams({ filter: `target.id eq "${groupId}"` })}`);
    const { eventId, ...envelope } = JSON.parse(message.body);
    assert.deepEqual(envelope, {
      eventType: 'com.okta.event_hook',
      eventTypeVersion: '1.0',
      cloudEventsVersion: '0.1',
      source: `${service.baseUrl}/api/v1/eventHooks/${id}`,
      data: { events: logged },
      eventTime: logged[0].published,
      contentType: 'application/json',
    });
    const { headers } = message;
    assert.equal(headers['webhook-id'], eventId);
    assert.match(eventId, /^[0-9a-f-]{36}$/);
    assert.equal(headers['webhook-timestamp'], String(Math.floor(Date.now() / 1000)));
    assert.equal(headers['webhook-signature'], signatureOf(secret, message));
    assert.deepEqual(
      [headers['content-type'], headers['user-agent'], headers['x-tenant'], headers.authorization],
      ['application/json', 'Gatehouse', 'tests', 'Basic x'],
    );
    await deactivate(service, id);
  });

  await t.test('tell of each object in order: a failing event holds up the later ones of its object, and no other object', async (t) => {
    let broken = '';
    const receiver = await hookReceiver(t, (res, { event }) => res.writeHead(event.target[0].displayName === broken ? 503 : 200).end());
    const { id } = await createHook(service, receiver.uri, PEOPLE);
    const logins = ['slow', 'quick'].map((name) => `${name} ${id}`);
    broken = logins[0] ?? '';
    for (const login of logins) {
      const { body: user } = await service.api('POST', '/users', { profile: { login } });
      await service.api('POST', `/users/${user.id}/lifecycle/suspend`);
      await service.api('POST', `/users/${user.id}/lifecycle/unsuspend`);
    }
    await eventually(() => receiver.accepted.length === 3, 'all of the other object are told');
    await failed(service, 1);
    assert.deepEqual(
      receiver.messages.map(nameOf).filter((name) => name.endsWith(broken)),
      [`user.lifecycle.create ${broken}`],
    );
    const waiting = await waitingNews(service.database);
    assert.deepEqual(
      waiting.map(({ attempts }) => attempts),
      [1, 0, 0],
    );
    broken = '';
    moveClock(t, 10);
    await nothingWaits(service.database);
    const inOrder = ['create', 'suspend', 'unsuspend'].map((step) => `user.lifecycle.${step}`);
    for (const login of logins) {
      assert.deepEqual(
        receiver.accepted.filter((name) => name.endsWith(login)),
        inOrder.map((type) => `${type} ${login}`),
      );
    }
    const repeated = receiver.messages.filter((message) => nameOf(message) === `user.lifecycle.create ${logins[0]}`);
    assert.equal(repeated.length, 2);
    assert.equal(new Set(repeated.map(({ headers }) => headers['webhook-id'])).size, 1, 'the id of a message stays');
    assert.equal(new Set(receiver.messages.map(({ headers }) => headers['webhook-id'])).size, 6);
    await deactivate(service, id);
  });

  await t.test(
    'are tried for three days, with the same message and a fresh signature, then given up, which is told to no hook',
    async (t) => {
      const receiver = await hookReceiver(t, (res) => res.writeHead(500).end());
      const everything = await hookReceiver(t);
      const { id, secret } = await createHook(service, receiver.uri, CREATED);
      const types = (await service.api('GET', '/openapi.json')).body.paths['/eventHooks'].post.requestBody.content['application/json']
        .schema;
      const all = types.properties.events.properties.items.items.enum;
      assert.ok(all.length > 60);
      const { id: witness } = await createHook(service, everything.uri, all);
      await createGroups(service, 1, 'given up');
      let attempts = 0;
      const begun = Date.now();
      for (;;) {
        attempts += 1;
        let entry: WaitingNews | undefined;
        await eventually(async () => {
          [entry] = await waitingNews(service.database);
          return entry === undefined || hasFailed(entry, attempts);
        }, `attempt ${attempts}`);
        if (entry === undefined) break;
        assert.deepEqual([entry.last_error, receiver.messages.length], ['the hook answered 500', attempts]);
        moveClock(t, (entry.due.getTime() - Date.now()) / 1000);
      }
      const days = (Date.now() - begun) / 86_400_000;
      assert.ok(days > 3 && days < 3.3, `${days} days`);
      assert.ok(receiver.messages.length >= 20, `${receiver.messages.length} attempts`);
      assert.equal(new Set(receiver.messages.map(({ headers }) => headers['webhook-id'])).size, 1);
      assert.equal(new Set(receiver.messages.map(({ headers }) => headers['webhook-timestamp'])).size, receiver.messages.length);
      for (const message of receiver.messages) assert.equal(message.headers['webhook-signature'], signatureOf(secret, message));

      const query = new URLSearchParams({
        filter: `eventType eq "event_hook.delivery" and target.id eq "${id}"`,
        since: '2026-01-01T00:00:00.000Z',
      });
      const { body: events } = await service.api('GET', `/logs?${query}`);
      assert.equal(events.length, 1);
      assert.deepEqual(events[0].outcome, { result: 'FAILURE', reason: 'the hook answered 500' });
      assert.equal(events[0].target[1].id, receiver.messages[0]?.event.uuid);
      assert.equal((await service.api('GET', `/eventHooks/${id}`)).body.status, 'ACTIVE', 'it is not deactivated behind its owner');
      assert.deepEqual(everything.messages.map(nameOf), ['group.lifecycle.create given up 0']);
      const metrics = await (await fetch(`${service.baseUrl}/metrics`)).text();
      for (const outcome of ['delivered', 'failed', 'given_up']) {
        assert.match(metrics, new RegExp(`^gatehouse_outbox_deliveries_total\\{kind="event-hook",outcome="${outcome}"\\} [1-9]`, 'm'));
      }
      for (const one of [id, witness]) await deactivate(service, one);
    },
  );

  await t.test('that answer 410, or are deactivated or deleted, are told no more', async (t) => {
    const gone = await hookReceiver(t, (res) => res.writeHead(410).end());
    const { id } = await createHook(service, gone.uri, CREATED);
    await createGroups(service, 1, 'gone');
    await gone.received(1);
    await nothingWaits(service.database);
    await deactivate(service, id);

    for (const end of [(hook: string) => deactivate(service, hook), (hook: string) => service.api('DELETE', `/eventHooks/${hook}`)]) {
      const broken = await hookReceiver(t, (res) => res.writeHead(500).end());
      const hook = await createHook(service, broken.uri, CREATED);
      await createGroups(service, 2, `ended ${hook.id}`);
      await broken.received(2);
      await eventually(async () => (await waitingNews(service.database)).every(({ last_error }) => last_error !== null), 'both fail');
      assert.equal((await waitingNews(service.database)).length, 2);
      assert.ok((await end(hook.id)).status < 300);
      assert.deepEqual(await waitingNews(service.database), []);
      await createGroups(service, 1, `after ${hook.id}`);
      assert.deepEqual(await waitingNews(service.database), []);
    }
  });

  await t.test('that move are told at the new address once it is verified, and at once what waited', async (t) => {
    const old = await hookReceiver(t, (res) => res.writeHead(500).end());
    const fresh = await hookReceiver(t);
    const { id, secret } = await createHook(service, old.uri, CREATED);
    await createGroups(service, 1, 'moved');
    await failed(service, 1);
    await service.api('PUT', `/eventHooks/${id}`, hookBody(fresh.uri, CREATED));
    await createGroups(service, 1, 'told to nobody');
    moveClock(t, 6);
    assert.equal((await failed(service, 2)).last_error, 'the hook is not verified');
    assert.deepEqual([old.messages.length, fresh.messages.length], [1, 0]);
    assert.equal((await service.api('POST', `/eventHooks/${id}/lifecycle/verify`)).status, 200);
    // The clock stands still: the pause of a minute is over all the same.
    const [message] = await fresh.received(1);
    assert.ok(message);
    assert.equal(nameOf(message), 'group.lifecycle.create moved 0');
    assert.equal(message.headers['webhook-signature'], signatureOf(secret, message));
    await nothingWaits(service.database);
    assert.equal(fresh.messages.length, 1);
    await deactivate(service, id);
  });

  await t.test('are signed to with the old secret too for a day after there is a new one', async (t) => {
    const receiver = await hookReceiver(t);
    const { id, secret } = await createHook(service, receiver.uri, CREATED);
    const { body } = await service.api('POST', `/eventHooks/${id}/credentials/secret`);
    await createGroups(service, 1, 'both');
    const [both] = await receiver.received(1);
    assert.ok(both);
    assert.equal(both.headers['webhook-signature'], `${signatureOf(body.signingSecret, both)} ${signatureOf(secret, both)}`);
    moveClock(t, 86_401);
    await createGroups(service, 1, 'one');
    const [, one] = await receiver.received(2);
    assert.ok(one);
    assert.equal(one.headers['webhook-signature'], signatureOf(body.signingSecret, one));
    await deactivate(service, id);
  });

  await t.test('are told of an event as it is kept now: of one that is gone nothing, of one that has changed what is left', async (t) => {
    let up = false;
    const receiver = await hookReceiver(t, (res) => res.writeHead(up ? 200 : 500).end());
    const { id } = await createHook(service, receiver.uri, CREATED);
    const [gone, changed] = await createGroups(service, 2, 'kept');
    await receiver.received(2);
    await eventually(async () => (await waitingNews(service.database)).every(({ last_error }) => last_error !== null), 'both fail');
    up = true;
    await onServer(service.database.url, async (sql) => {
      await sql.query("DELETE FROM audit_events WHERE target->0->>'id' = $1", [gone]);
      await sql.query(`UPDATE audit_events SET actor = '{"id":"x","type":"User","displayName":"pseudonym"}' WHERE target->0->>'id' = $1`, [
        changed,
      ]);
    });
    moveClock(t, 10);
    await nothingWaits(service.database);
    assert.deepEqual(
      receiver.messages.slice(2).map(({ event }) => [event.target[0].id, event.actor.displayName]),
      [[changed, 'pseudonym']],
    );
    await deactivate(service, id);
  });

  await t.test('are called at no other address by a redirect', async (t) => {
    const elsewhere = await hookReceiver(t);
    const receiver = await hookReceiver(t, (res) => res.writeHead(307, { location: elsewhere.uri }).end());
    const { id } = await createHook(service, receiver.uri, CREATED);
    await createGroups(service, 1, 'redirected');
    assert.match((await failed(service, 1)).last_error ?? '', /redirect/);
    assert.deepEqual(elsewhere.messages, []);
    await deactivate(service, id);
  });

  await t.test(
    'of which one does not answer, with a thousand events waiting, hold up neither other hooks nor the news of logouts',
    async (t) => {
      // Nobody gives up meanwhile.
      withTimings(t, { outbound: 600_000, outboxClaim: 1200 });
      const held: ServerResponse[] = [];
      const stuck = await hookReceiver(t, (res) => void held.push(res));
      const quick = await hookReceiver(t);
      const slow = await createHook(service, stuck.uri, ['group.lifecycle.delete']);
      const fast = await createHook(service, quick.uri, CREATED);
      await onServer(service.database.url, (sql) =>
        sql.query(
          `WITH event AS (INSERT INTO audit_events (uuid, published, event_type, display_message, actor, client, outcome, target)
            SELECT gen_random_uuid(), now(), 'group.lifecycle.delete', '', '{"id":"a","type":"User","displayName":"a"}', '{}', '{"result":"SUCCESS"}',
              jsonb_build_array(jsonb_build_object('id', 'g' || n, 'type', 'UserGroup', 'displayName', n::text)) FROM generate_series(1, 1000) n
            RETURNING uuid, published, target)
          INSERT INTO outbox (kind, ordering_key, object_key, payload, created, due) SELECT 'event-hook', $1, target->0->>'id',
            jsonb_build_object('hookId', $1::text, 'eventId', uuid, 'deliveryId', gen_random_uuid()), published, published FROM event`,
          [slow.id],
        ),
      );
      await stuck.received(3);
      const logout = await logoutReceiver(t);
      const client = await told(service, logout.uri);
      const { logout: leave } = await signInAt(service, await service.createUser(), [['built-in', client]]);
      const before = stuck.messages.length;
      await Promise.all([createGroups(service, 5, 'quick').then(() => quick.received(5)), leave().then(() => logout.received(1))]);
      assert.equal(stuck.messages.length, before, 'no other of the thousand was tried meanwhile');
      for (const res of held) res.destroy();
      await eventually(() => stuck.messages.length > before, 'it is tried with others');
      await deactivate(service, fast.id);
      await deactivate(service, slow.id);
      assert.deepEqual(await waitingNews(service.database), []);
      for (const res of held) res.end();
    },
  );
});

test('a private address is told nothing without ALLOW_PRIVATE_NETWORK, by number or by name', async (t) => {
  stopClock(t);
  const service = await startService(t, { sendsOutbox: true });
  const receiver = await hookReceiver(t);
  for (const uri of [receiver.uri, receiver.uri.replace('127.0.0.1', 'localhost')]) {
    const { body } = await service.api('POST', '/eventHooks', hookBody(uri, CREATED));
    // As if its name had led elsewhere when it was verified (DNS rebinding).
    await onServer(service.database.url, (sql) =>
      sql.query("UPDATE event_hooks SET verification_status = 'VERIFIED' WHERE id = $1", [body.id]),
    );
    await createGroups(service, 1, uri);
    assert.match((await failed(service, 1)).last_error ?? '', /is not a public address/);
    await deactivate(service, body.id);
  }
  assert.deepEqual(receiver.messages, []);
});

test('of two processes that send, each event is told by one, in the order in which the changes of its object were committed', async (t) => {
  // However far the clock is moved, what one has taken stays with it.
  withTimings(t, { outboxClaim: 86_400 });
  const secretKey = newSecretKey();
  const first = await startService(t, { env: { ...LOCAL, SECRET_KEY: secretKey }, sendsOutbox: true });
  const second = await startService(t, { env: LOCAL, sendsOutbox: true, beside: { database: first.database, secretKey } });
  let answered = 0;
  const receiver = await hookReceiver(t, (res) => {
    answered += 1;
    res.writeHead(answered % 7 === 0 ? 500 : 200).end();
  });
  await createHook(first, receiver.uri, ['user.account.update_profile']);
  const users = [await first.createUser(), await first.createUser(), await first.createUser()];
  await Promise.all(
    users.flatMap(({ id }) =>
      Array.from({ length: 15 }, (_, turn) =>
        (turn % 2 === 0 ? first : second).api('POST', `/users/${id}`, { profile: { nickName: `${turn}` } }),
      ),
    ),
  );
  await eventually(async () => {
    moveClock(t, 6);
    return (await waitingNews(first.database)).length === 0;
  }, 'all are told');
  const toldOf = new Map<string, { before: unknown; after: unknown }[]>();
  const seen = new Set<unknown>();
  for (const [index, { event, headers }] of receiver.messages.entries()) {
    if ((index + 1) % 7 === 0) continue;
    assert.ok(!seen.has(headers['webhook-id']), 'none is told twice');
    seen.add(headers['webhook-id']);
    const id = event.target[0].id;
    toldOf.set(id, [...(toldOf.get(id) ?? []), event.debugContext]);
  }
  for (const { id } of users) {
    const changes = toldOf.get(id) ?? [];
    assert.equal(changes.length, 15);
    for (const [index, { before: now }] of changes.entries()) {
      if (index > 0) assert.deepEqual(now, changes[index - 1]?.after, `change ${index}`);
    }
  }
});
