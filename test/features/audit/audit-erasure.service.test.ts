/** Of a deleted user nothing personal stays in the database, while the audit log verifies; and nobody else's data can be taken out unnoticed. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { PSEUDONYM } from '../../../src/features/audit/audit-chain.policy.ts';
import { closeCommitments } from '../../../src/features/audit/audit-digests.service.ts';
import { NOBODY } from '../../../src/features/audit/audit-event.policy.ts';
import { eraseDue } from '../../../src/features/audit/audit-retention.service.ts';
import { authenticatePassword, noteSignIn } from '../../../src/features/sign-in/sign-in.service.ts';
import { administrator, PASSWORD, unique } from '../../api/people.ts';
import { happen, keepLog, sealAll, verify } from '../../support/audit.ts';
import { moveClock } from '../../support/clock.ts';
import { type ManagementApi, startManagementApi } from '../../support/management-api.ts';

const UMLAUT = 'Ünverwechselbar';
const TRACES = ['ada-the-login', 'ada-before', 'ada@nowhere.example', UMLAUT, 'Lovelace-Byron', '203.0.113.77', 'Browser of Ada'];

/** All that the database holds, a line a row; but for the addresses that failures came from, which are counted for a quarter of an hour. */
async function dump({ services }: ManagementApi): Promise<string> {
  const { knex } = services.database;
  const tables: string[] = await knex('pg_tables')
    .where({ schemaname: 'public' })
    .whereNot({ tablename: 'failures_by_address' })
    .pluck('tablename');
  const rows = await Promise.all(tables.map(async (table) => (await knex.raw(`SELECT t::text AS row FROM ?? t`, [table])).rows));
  return rows
    .flat()
    .map(({ row }: { row: string }) => row)
    .join('\n');
}

describe('a deleted user in the audit log', () => {
  let api: ManagementApi;
  before(async () => {
    api = await startManagementApi();
  });
  after(() => api.close());

  const ask = async (path: string, method = 'POST', body?: unknown): Promise<{ id: string }> => {
    const answer = await api.call<{ id: string }>(method, path, body, { 'idempotency-key': unique('key') });
    assert.ok(answer.status < 300, JSON.stringify(answer.body));
    return answer.body;
  };
  const remove = async (id: string) => {
    await ask(`/users/${id}`, 'DELETE');
    await ask(`/users/${id}`, 'DELETE');
  };
  const rows = (id: string) =>
    api.services.database
      .knex('audit_events')
      .whereRaw('target @> ?::jsonb', [JSON.stringify([{ id }])])
      .orderBy('seq');

  /** Somebody with a past. */
  async function ada(): Promise<string> {
    const profile = { login: 'ada-before', email: 'ada@nowhere.example', firstName: UMLAUT, lastName: 'Lovelace-Byron' };
    const { id } = await ask('/users', 'POST', { profile, credentials: { password: { value: PASSWORD } } });
    await ask(`/users/${id}`, 'POST', { profile: { login: 'ada-the-login' } });
    const request = { actor: NOBODY, ipAddress: '203.0.113.77', userAgent: 'Browser of Ada', requestId: 'request' };
    assert.equal(await authenticatePassword(api.services, { username: 'ada-the-login', password: 'wrong' }, request), undefined);
    const signedIn = await authenticatePassword(api.services, { username: 'ada@nowhere.example', password: PASSWORD }, request);
    assert.ok(signedIn);
    await api.services.database.transaction((trx) => noteSignIn(api.services, trx, signedIn, { amr: ['pwd'] }, request));
    const { id: groupId } = await ask('/groups', 'POST', { profile: { name: unique('group') } });
    await ask(`/groups/${groupId}/users/${id}`, 'PUT');
    await ask(`/users/${id}/roles`, 'POST', { type: 'READ_ONLY_ADMIN' });
    return id;
  }

  it('is a pseudonym: no name, address or browser of his is left in any table, and the log verifies', async () => {
    const id = await ada();
    await sealAll(api.services);
    const present = await dump(api);
    for (const trace of TRACES) assert.ok(present.includes(trace), `${trace} is there before`);
    await remove(id);
    await keepLog(api.services);
    const left = await dump(api);
    for (const trace of TRACES) assert.ok(!left.includes(trace), trace);
    const events = await rows(id);
    assert.ok(events.length >= 8);
    for (const { target } of events)
      assert.deepEqual(
        target.find((one: { id: string }) => one.id === id),
        { id, type: 'User', displayName: PSEUDONYM },
      );
    const { mistake, pseudonymised, unsealed } = await verify(api.services);
    assert.deepEqual([mistake, pseudonymised, unsealed], [undefined, events.length, 0]);
  });

  it('leaves what others did, and where they were, in the log', async () => {
    const id = await ada();
    const other = await administrator(api, { type: 'SUPER_ADMIN' });
    await other.call('POST', `/users/${id}/lifecycle/suspend`);
    await remove(id);
    await keepLog(api.services);
    const event = (await rows(id)).find(({ event_type }) => event_type === 'user.lifecycle.suspend');
    assert.equal(event.actor.id, other.id);
    assert.notEqual(event.actor.displayName, PSEUDONYM);
    assert.equal(event.client.ipAddress, '127.0.0.1');
    assert.deepEqual(event.debug_context, {});
  });

  it('is found by his id as before, with q and filter, and by his name no more', async () => {
    const id = await ada();
    await remove(id);
    await keepLog(api.services);
    const search = async (query: Record<string, string>) =>
      (
        await api.call<{ target: { id: string }[]; client: object; debugContext: object }[]>(
          'GET',
          `/logs?limit=200&${new URLSearchParams(query)}`,
        )
      ).body;
    const found = await search({ filter: `target.id eq "${id}"` });
    assert.ok(found.length >= 8);
    assert.equal((await search({ q: id })).length, found.length);
    assert.deepEqual(await search({ q: 'ada-the-login' }), []);
    const failure = found.find((event) => 'eventType' in event && event.eventType === 'user.authentication.failure');
    assert.deepEqual(failure?.client, { ipAddress: null, userAgent: null });
    assert.deepEqual(failure?.debugContext, {}, 'what decided about him has gone, too');
  });

  it('goes in bounded steps, that another process goes on with', async () => {
    const id = await ada();
    await remove(id);
    await sealAll(api.services);
    const left = async (): Promise<number> => (await rows(id)).filter(({ target }) => JSON.stringify(target).includes('ada-')).length;
    const all = await left();
    assert.equal(await eraseDue(api.services, 2), true);
    assert.equal(await left(), all - 2);
    assert.equal((await verify(api.services)).mistake, undefined, 'in the middle, too');
    await Promise.all(Array.from({ length: 20 }, () => eraseDue(api.services, 2)));
    while (await eraseDue(api.services, 2));
    assert.equal(await left(), 0);
    assert.equal((await verify(api.services)).mistake, undefined);
  });

  it('is taken out of an event, too, that was being written while he was deleted', async (t) => {
    const id = await ada();
    await remove(id);
    await keepLog(api.services);
    const { knex } = api.services.database;
    const [event] = await rows(id);
    const { seq: _, seal: __, commitments: ___, ...late } = event;
    const target = JSON.stringify([{ id, type: 'User', displayName: 'ada-the-login' }]);
    await knex('audit_events').insert({ ...late, actor: event.actor, target, uuid: crypto.randomUUID() });
    await keepLog(api.services);
    assert.ok((await dump(api)).includes('ada-the-login'), 'not before the last look');
    moveClock(t, 121);
    await keepLog(api.services);
    assert.ok(!(await dump(api)).includes('ada-the-login'));
    assert.equal((await verify(api.services)).mistake, undefined);
    assert.deepEqual(await knex('audit_erasures').where({ user_id: id }), []);
  });

  it('is nobody who is still there: who takes out data by hand is found', async () => {
    const id = await ada();
    await sealAll(api.services);
    const { knex } = api.services.database;
    const [row] = await rows(id);
    const event = {
      seq: row.seq,
      uuid: row.uuid,
      published: row.published,
      eventType: row.event_type,
      severity: row.severity,
      displayMessage: row.display_message,
      actor: row.actor,
      client: row.client,
      outcome: row.outcome,
      target: row.target,
      transactionId: row.transaction_id,
      debugContext: row.debug_context,
    };
    const commitments = JSON.stringify(closeCommitments(event, row.commitments, new Set(['change'])));
    await knex('audit_events').where({ seq: row.seq }).update({ debug_context: '{}', commitments });
    assert.match(
      (await verify(api.services)).mistake ?? '',
      new RegExp(`^Event ${row.seq} .+ was pseudonymised, but no deletion of ${id} explains it\\.$`),
    );
    // Nor when he is gone without a trace in the log.
    await knex('users').where({ id }).delete();
    assert.match((await verify(api.services)).mistake ?? '', /no deletion of/);
    await knex('audit_events')
      .where({ seq: row.seq })
      .update({ debug_context: JSON.stringify(row.debug_context), commitments: JSON.stringify(row.commitments) });
    assert.equal((await verify(api.services)).mistake, undefined);
  });

  it('cannot be given another past: what is put in the place of his data is found', async () => {
    const id = await ada();
    await remove(id);
    await keepLog(api.services);
    const { knex } = api.services.database;
    const [row] = await rows(id);
    await knex('audit_events')
      .where({ seq: row.seq })
      .update({ debug_context: JSON.stringify({ after: { admin: true } }) });
    assert.match((await verify(api.services)).mistake ?? '', /was pseudonymised and changed afterwards\.$/);
    await knex('audit_events').where({ seq: row.seq }).update({ debug_context: '{}' });
    assert.equal((await verify(api.services)).mistake, undefined);
  });

  it('does not hold up the sealing of others', async () => {
    await happen(api.services.database.knex, 'something else');
    await keepLog(api.services);
    assert.equal((await verify(api.services)).unsealed, 0);
  });
});
