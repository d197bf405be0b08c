/** Receivers at the endpoints of the Shared Signals Framework 1.0: discovery, streams, status, verification, and polling (RFC 8936). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeJwt } from 'jose';
import { deleteUnwantedSignals } from '../../../src/features/signals/signal-streams.service.ts';
import { openDatabase } from '../../../src/platform/database/database.ts';
import { createClient, post, type TestClient } from '../../protocol/servers/relying-party.ts';
import { afterwards } from '../../support/afterwards.ts';
import { moveClock, stopClock } from '../../support/clock.ts';
import { onServer } from '../../support/database.ts';
import { eventually } from '../../support/process.ts';
import { type Service, startService } from '../../support/service.ts';
import { withTimings } from '../../support/short-waits.ts';
import { ACCOUNT_PURGED, SESSION_REVOKED, STREAM_UPDATED, signalReceiver, VERIFICATION, verifiedSignal } from '../../support/signals.ts';

const PUSH = 'urn:ietf:rfc:8935';
const POLL = 'urn:ietf:rfc:8936';

// biome-ignore lint/suspicious/noExplicitAny: answers are asserted field by field
type Body = any;

interface Receiver {
  readonly app: TestClient;
  call(method: string, path: string, body?: unknown): Promise<{ readonly status: number; readonly headers: Headers; readonly body: Body }>;
}

async function send(service: Service, method: string, path: string, authorization: string | undefined, body?: unknown) {
  const response = await fetch(`${service.listensAt}${path}`, {
    method,
    headers: { ...(authorization !== undefined && { authorization }), ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
}

async function tokenOf(service: Service, app: TestClient, scope: string): Promise<string> {
  const { status, body } = await post(service, 'built-in', 'token', app, { grant_type: 'client_credentials', scope });
  assert.equal(status, 200, JSON.stringify(body));
  return body.access_token;
}

const MACHINE = { grant_types: ['authorization_code', 'client_credentials'], manage_signal_streams: true };

/** An application that may manage its streams. */
async function receiverAt(service: Service, scope = 'ssf.manage'): Promise<Receiver> {
  const app = await createClient(service, MACHINE);
  const authorization = `Bearer ${await tokenOf(service, app, scope)}`;
  return { app, call: (method, path, body) => send(service, method, `/ssf/v1${path}`, authorization, body) };
}

async function purge({ api, createUser }: Service): Promise<string> {
  const { id } = await createUser();
  for (const _ of [1, 2]) assert.ok((await api('DELETE', `/users/${id}`)).status < 300);
  return id;
}

const subjectsOf = (sets: Readonly<Record<string, string>>): string[] =>
  Object.values(sets).map((token) => (decodeJwt(token).sub_id as { sub: string }).sub);

test('receivers of signals', async (t) => {
  stopClock(t);
  const service = await startService(t, { env: { ALLOW_PRIVATE_NETWORK: 'true' }, sendsOutbox: true });

  await t.test('find the transmitter by its issuer (SSF 1.0 section 7)', async () => {
    const { status, body } = await send(service, 'GET', '/.well-known/ssf-configuration/oauth/v1', undefined);
    assert.equal(status, 200);
    assert.deepEqual(body, {
      spec_version: '1_0',
      issuer: service.issuer('built-in'),
      jwks_uri: `${service.issuer('built-in')}/keys`,
      delivery_methods_supported: [PUSH, POLL],
      configuration_endpoint: `${service.baseUrl}/ssf/v1/stream`,
      status_endpoint: `${service.baseUrl}/ssf/v1/status`,
      add_subject_endpoint: `${service.baseUrl}/ssf/v1/subjects/add`,
      remove_subject_endpoint: `${service.baseUrl}/ssf/v1/subjects/remove`,
      verification_endpoint: `${service.baseUrl}/ssf/v1/verify`,
      authorization_schemes: [{ spec_urn: 'urn:ietf:rfc:6749' }],
      default_subjects: 'ALL',
    });
    assert.equal((await fetch(body.jwks_uri)).status, 200);
  });

  await t.test('manage streams of their own: create, read, change, replace, status, delete', async (t) => {
    const { app, call } = await receiverAt(service);
    assert.deepEqual((await call('GET', '/stream')).body, []);
    const endpoint = await signalReceiver(t);
    const created = await call('POST', '/stream', {
      events_requested: [SESSION_REVOKED, 'urn:example:unknown'],
      delivery: { method: PUSH, endpoint_url: endpoint.uri, authorization_header: 'Bearer secret' },
      description: 'Mine',
    });
    assert.equal(created.status, 201, JSON.stringify(created.body));
    const { stream_id, events_supported, ...rest } = created.body;
    assert.deepEqual(rest, {
      iss: service.issuer('built-in'),
      aud: app.clientId,
      events_requested: [SESSION_REVOKED, 'urn:example:unknown'],
      events_delivered: [SESSION_REVOKED],
      delivery: { method: PUSH, endpoint_url: endpoint.uri },
      min_verification_interval: 30,
      description: 'Mine',
    });
    assert.ok(events_supported.includes(ACCOUNT_PURGED));
    assert.deepEqual((await call('GET', `/stream?stream_id=${stream_id}`)).body, created.body);
    assert.deepEqual((await call('GET', '/stream')).body, [created.body]);

    const patched = await call('PATCH', '/stream', { stream_id, events_requested: [ACCOUNT_PURGED] });
    assert.deepEqual([patched.status, patched.body.events_delivered, patched.body.description], [200, [ACCOUNT_PURGED], 'Mine']);
    await purge(service);
    await endpoint.received(1);
    assert.equal(endpoint.headers[0]?.authorization, 'Bearer secret', 'it was not given again, and stays');
    const wrong = await call('PATCH', '/stream', { stream_id, aud: 'another' });
    assert.deepEqual([wrong.status, wrong.body.err], [400, 'invalid_request']);
    assert.match(wrong.body.description, /aud/);
    const moved = await call('PATCH', '/stream', { stream_id, delivery: { method: PUSH, endpoint_url: 'https://elsewhere.example/' } });
    assert.equal(moved.status, 400, 'another host is not told the header of this one');
    const replaced = await call('PUT', '/stream', { ...patched.body, description: undefined, delivery: { method: POLL } });
    assert.deepEqual([replaced.status, replaced.body.description], [200, undefined], JSON.stringify(replaced.body));
    assert.equal(replaced.body.delivery.endpoint_url, `${service.baseUrl}/ssf/v1/poll/${stream_id}`);

    assert.deepEqual((await call('GET', `/status?stream_id=${stream_id}`)).body, { stream_id, status: 'enabled' });
    const paused = await call('POST', '/status', { stream_id, status: 'paused', reason: 'Maintenance' });
    assert.deepEqual(paused.body, { stream_id, status: 'paused', reason: 'Maintenance' });
    assert.equal((await call('POST', '/status', { stream_id, status: 'gone' })).status, 400);
    assert.equal((await call('DELETE', `/stream?stream_id=${stream_id}`)).status, 204);
    assert.equal((await call('GET', `/stream?stream_id=${stream_id}`)).status, 404);
    const { body: log } = await service.api(
      'GET',
      `/logs?${new URLSearchParams({ filter: `eventType eq "system.signal_stream.create" and target.id eq "${stream_id}"` })}`,
    );
    assert.deepEqual([log[0].actor.id, log[0].actor.type], [app.clientId, 'PublicClientApp']);
    for (let turn = 0; turn < 10; turn += 1) assert.equal((await call('POST', '/stream', {})).status, 201);
    assert.equal((await call('POST', '/stream', {})).status, 409);
  });

  const ofService = (sub: string) => ({ format: 'iss_sub', iss: service.issuer('built-in'), sub });

  await t.test('remove users from their streams, and add them again (SSF 1.0 section 8.1.3)', async () => {
    const { app, call } = await receiverAt(service);
    const { body: stream } = await call('POST', '/stream', { events_requested: [SESSION_REVOKED] });
    const { stream_id } = stream;
    const [kept, removed] = [await service.createUser(), await service.createUser()];
    const endSessions = async ({ id }: { readonly id: string }) =>
      assert.ok((await service.api('DELETE', `/users/${id}/sessions`)).status < 300);
    const poll = async () => subjectsOf((await call('POST', `/poll/${stream_id}`, { returnImmediately: true })).body.sets);
    await endSessions(removed);
    await eventually(async () => (await poll()).length === 1, 'an event about the user waits');
    const subject = ofService(removed.id);
    const { status, body } = await call('POST', '/subjects/remove', { stream_id, subject });
    assert.deepEqual([status, body], [204, undefined]);
    assert.deepEqual(await poll(), [], 'what waits is not delivered either');
    await endSessions(removed);
    await endSessions(kept);
    await eventually(async () => (await poll()).length > 0, 'the other one’s comes');
    assert.deepEqual(await poll(), [kept.id]);
    assert.equal((await call('POST', '/subjects/remove', { stream_id, subject })).status, 204, 'a second time');
    const shown = async () => (await service.api('GET', `/ssf/streams/${stream_id}`)).body.removedSubjects;
    assert.equal(await shown(), 1);

    assert.equal((await call('POST', '/subjects/add', { stream_id, subject, verified: true })).status, 200);
    assert.equal((await call('POST', '/subjects/add', { stream_id, subject })).status, 200, 'a second time');
    assert.equal(await shown(), 0);
    await endSessions(removed);
    await eventually(async () => (await poll()).includes(removed.id), 'events about the user come again');
    const filter = `target.id eq "${stream_id}" and target.id eq "${removed.id}"`;
    const { body: log } = await service.api('GET', `/logs?${new URLSearchParams({ filter })}`);
    const told = log.map(({ eventType, actor }: Body) => [eventType, actor.id]).sort();
    assert.deepEqual(told, [
      ['system.signal_stream.add_subject', app.clientId],
      ['system.signal_stream.remove_subject', app.clientId],
    ]);

    const refused: [subject: unknown, status: number, says: RegExp][] = [
      [ofService('usr_nobody'), 404, /usr_nobody/],
      [{ ...subject, iss: 'https://elsewhere.example' }, 400, /subject\.iss: must be http/],
      [{ format: 'email', email: 'a@example.com' }, 400, /subject\.format/],
      [undefined, 400, /subject/],
    ];
    for (const path of ['/subjects/add', '/subjects/remove'])
      for (const [given, status, says] of refused) {
        const answer = await call('POST', path, { stream_id, subject: given });
        assert.equal(answer.status, status, `${path} ${JSON.stringify(given)}`);
        assert.match(answer.body.description, says);
      }
  });

  await t.test('that a removed user is deleted is not told, and then the user is forgotten', async () => {
    const { call } = await receiverAt(service);
    const { body: stream } = await call('POST', '/stream', { events_requested: [ACCOUNT_PURGED] });
    const { stream_id } = stream;
    const user = await service.createUser();
    assert.equal((await call('POST', '/subjects/remove', { stream_id, subject: ofService(user.id) })).status, 204);
    await call('POST', '/status', { stream_id, status: 'paused' });
    for (const _ of [1, 2]) assert.ok((await service.api('DELETE', `/users/${user.id}`)).status < 300);
    const { knex, pool, close } = await openDatabase({ connection: { connectionString: service.database.url }, onError: () => {} });
    const left = async () => (await pool.query('SELECT FROM removed_signal_subjects WHERE stream_id = $1', [stream_id])).rowCount;
    try {
      const postponed = "SELECT FROM outbox WHERE ordering_key = $1 AND last_error = 'the stream is paused'";
      await eventually(async () => (await pool.query(postponed, [stream_id])).rowCount, 'the event is postponed');
      await deleteUnwantedSignals(knex, new Date(), 1000);
      assert.equal(await left(), 1, 'the event waits');
      await call('POST', '/status', { stream_id, status: 'enabled' });
      await eventually(async () => {
        await deleteUnwantedSignals(knex, new Date(), 1000);
        return (await left()) === 0;
      }, 'the user is forgotten');
      assert.deepEqual((await call('POST', `/poll/${stream_id}`, { returnImmediately: true })).body, { sets: {} });
      const fill = `INSERT INTO removed_signal_subjects SELECT $1, 'usr_' || n, now() FROM generate_series(1, 10000) n`;
      await pool.query(fill, [stream_id]);
      const one = await service.createUser();
      const remove = () => call('POST', '/subjects/remove', { stream_id, subject: ofService(one.id) });
      const bound = async () =>
        (await pool.query('SELECT removed_at_most FROM signal_streams WHERE id = $1', [stream_id])).rows[0].removed_at_most;
      const setBound = (count: number) => pool.query('UPDATE signal_streams SET removed_at_most = $2 WHERE id = $1', [stream_id, count]);
      await setBound(10_000);
      const full = await remove();
      assert.deepEqual([full.status, full.body.err], [409, 'conflict']);
      assert.match(full.body.description, /10000/);
      assert.equal(await bound(), 10_000, 'nothing was changed');
      // Users who are deleted are forgotten without a word to the stream: it counts only where it seems to be full.
      await pool.query("DELETE FROM removed_signal_subjects WHERE stream_id = $1 AND user_id <= 'usr_2'", [stream_id]);
      const there = (await left()) ?? 0;
      assert.ok(there < 9000);
      assert.equal((await remove()).status, 204);
      assert.equal(await bound(), there + 1, 'it has counted');
      await call('POST', '/subjects/add', { stream_id, subject: ofService(one.id) });
      assert.equal(await bound(), there);
      await call('POST', '/subjects/add', { stream_id, subject: ofService(one.id) });
      assert.equal(await bound(), there, 'nothing to add');
      await setBound(5);
      assert.equal((await remove()).status, 204);
      assert.equal(await bound(), 6, 'it has not counted');
    } finally {
      await close();
    }
  });

  await t.test('get nothing without a token of the application itself with the scope, and nothing of another one', async () => {
    const { call } = await receiverAt(service);
    const { body } = await call('POST', '/stream', {});
    const other = await receiverAt(service);
    const places: [method: string, path: string, body?: unknown][] = [
      ['GET', `/stream?stream_id=${body.stream_id}`],
      ['PATCH', '/stream', { stream_id: body.stream_id }],
      ['PUT', '/stream', { stream_id: body.stream_id }],
      ['DELETE', `/stream?stream_id=${body.stream_id}`],
      ['GET', `/status?stream_id=${body.stream_id}`],
      ['POST', '/status', { stream_id: body.stream_id, status: 'disabled' }],
      ['POST', '/verify', { stream_id: body.stream_id }],
      ['POST', '/subjects/add', { stream_id: body.stream_id, subject: ofService('usr_nobody') }],
      ['POST', '/subjects/remove', { stream_id: body.stream_id, subject: ofService('usr_nobody') }],
      ['POST', `/poll/${body.stream_id}`, {}],
    ];
    const reader = await receiverAt(service, 'ssf.read');
    for (const [method, path, content] of places) {
      assert.equal((await other.call(method, path, content)).status, 404, `${method} ${path}`);
      const nobody = await send(service, method, `/ssf/v1${path}`, undefined, content);
      assert.deepEqual([nobody.status, nobody.headers.get('www-authenticate'), nobody.body.err], [401, 'Bearer', 'authentication_failed']);
      const forged = await send(service, method, `/ssf/v1${path}`, 'Bearer forged', content);
      assert.match(forged.headers.get('www-authenticate') ?? '', /error="invalid_token"/);
      if (method !== 'GET' && !path.startsWith('/poll/')) {
        const weak = await reader.call(method, path, content);
        assert.deepEqual([weak.status, /insufficient_scope/.test(weak.headers.get('www-authenticate') ?? '')], [403, true], path);
      }
    }
    assert.equal((await reader.call('GET', '/stream')).status, 200);
    assert.equal((await call('GET', '/nothing')).status, 404);
    assert.equal((await call('POST', '/poll/%ZZ', {})).status, 404, 'no text in percent-encoding');
    assert.equal((await call('PUT', '/verify', {})).headers.get('allow'), 'POST');

    // An application that may not gets no such scope; one that no longer may is refused with the token that it has.
    const plain = await createClient(service, { ...MACHINE, manage_signal_streams: false });
    const refused = await post(service, 'built-in', 'token', plain, { grant_type: 'client_credentials', scope: 'ssf.manage' });
    assert.deepEqual([refused.status, refused.body.error], [400, 'invalid_scope']);
    const custom = await post(service, 'default', 'token', (await receiverAt(service)).app, {
      grant_type: 'client_credentials',
      scope: 'ssf.manage',
    });
    assert.equal(custom.body.error, 'invalid_scope', 'the built-in server alone has the scope');
    const { body: settings } = await service.api('GET', `/apps/${reader.app.clientId}`);
    settings.settings.oauthClient.manage_signal_streams = false;
    assert.equal((await service.api('PUT', `/apps/${reader.app.clientId}`, settings)).status, 200);
    await eventually(async () => (await reader.call('GET', '/stream')).status === 403, 'it may no longer');
  });

  await t.test('poll: what waits comes until it is acknowledged, in order, some at a time', async () => {
    const { app, call } = await receiverAt(service);
    const { body: stream } = await call('POST', '/stream', { events_requested: [ACCOUNT_PURGED] });
    const path = `/poll/${stream.stream_id}`;
    const users = [await purge(service), await purge(service), await purge(service)];
    await eventually(
      async () => Object.keys((await call('POST', path, { returnImmediately: true })).body.sets).length === 3,
      'three wait to be polled',
    );
    const some = await call('POST', path, { maxEvents: 2, returnImmediately: true });
    assert.equal(some.status, 200, JSON.stringify(some.body));
    assert.equal(some.body.moreAvailable, true);
    assert.deepEqual(subjectsOf(some.body.sets).length, 2);
    const all = await call('POST', path, { returnImmediately: true });
    assert.deepEqual(subjectsOf(all.body.sets).sort(), [...users].sort());
    for (const [jti, token] of Object.entries(all.body.sets as Record<string, string>)) {
      const { type, payload } = await verifiedSignal(service, app.clientId, token);
      assert.deepEqual([type, payload.jti], [ACCOUNT_PURGED, jti]);
    }
    const [first = '', second = '', third = ''] = Object.keys(all.body.sets);
    assert.deepEqual((await call('POST', path, { ack: [first], maxEvents: 0 })).body, { sets: {} });
    const left = await call('POST', path, {
      returnImmediately: true,
      setErrs: { [second]: { err: 'invalid_request', description: '<b>' } },
    });
    assert.deepEqual(Object.keys(left.body.sets), [third]);
    const { body: shown } = await service.api('GET', `/ssf/streams/${stream.stream_id}`);
    assert.deepEqual([shown.lastError, shown.waiting.count], ['the receiver refused it (invalid_request)', 1]);
    assert.ok(shown.lastDelivered);
    assert.deepEqual((await call('POST', path, { ack: [third, 'unknown'], returnImmediately: true })).body, { sets: {} });
    for (const wrong of [{ maxEvents: -1 }, { ack: 'x' }, { setErrs: { x: {} } }, { ack: Array(1001).fill('x') }])
      assert.equal((await call('POST', path, wrong)).status, 400, JSON.stringify(wrong).slice(0, 50));
  });

  await t.test('a long poll is answered when something comes, or in the end with nothing; a paused stream gives nothing', async (t) => {
    const { app, call } = await receiverAt(service);
    const { body: stream } = await call('POST', '/stream', {});
    const path = `/poll/${stream.stream_id}`;
    const waiting = call('POST', path, {});
    // Two polls of a stream wait, a third is answered at once; which of them that is, nobody knows.
    const others = [call('POST', path, {}), call('POST', path, {})];
    assert.deepEqual((await Promise.race([waiting, ...others])).body, { sets: {} });
    assert.equal((await call('POST', '/verify', { stream_id: stream.stream_id, state: 'of mine' })).status, 204);
    const answers = await Promise.all([waiting, ...others]);
    const found = answers.map((answer) => answer.body).filter(({ sets }) => Object.keys(sets).length > 0);
    assert.equal(found.length, 2);
    const [body] = found;
    const [token = ''] = Object.values(body.sets as Record<string, string>);
    const { type, claims, subject } = await verifiedSignal(service, app.clientId, token);
    assert.deepEqual([type, claims, subject], [VERIFICATION, { state: 'of mine' }, { format: 'opaque', id: stream.stream_id }]);
    assert.equal((await call('POST', '/verify', { stream_id: stream.stream_id })).status, 429);

    await call('POST', '/status', { stream_id: stream.stream_id, status: 'paused' });
    withTimings(t, { signalPoll: 100 });
    assert.deepEqual((await call('POST', path, {})).body, { sets: {} });
    await call('POST', '/status', { stream_id: stream.stream_id, status: 'enabled' });
    assert.deepEqual(Object.keys((await call('POST', path, {})).body.sets), Object.keys(body.sets));
    await call('POST', '/status', { stream_id: stream.stream_id, status: 'disabled' });
    await call('POST', '/status', { stream_id: stream.stream_id, status: 'enabled' });
    assert.deepEqual((await call('POST', path, {})).body, { sets: {} }, 'a disabled stream keeps nothing');
    assert.equal((await service.api('POST', `/ssf/streams/${stream.stream_id}/lifecycle/pause`, { reason: 'Audit' })).status, 200);
    const told = await eventually(async () => {
      const [first] = Object.values((await call('POST', path, {})).body.sets as Record<string, string>);
      return first;
    }, 'the receiver is told that an administrator paused its stream');
    const stopped = await verifiedSignal(service, app.clientId, told);
    assert.deepEqual([stopped.type, stopped.claims], [STREAM_UPDATED, { status: 'paused', reason: 'Audit' }]);
  });

  await t.test('what waits to be polled is pushed when the stream is, under the same jti, and so is what is under way', async (t) => {
    const { app, call } = await receiverAt(service);
    const { body: stream } = await call('POST', '/stream', {});
    const { stream_id } = stream;
    const path = `/poll/${stream_id}`;
    await call('POST', '/verify', { stream_id, state: 'of mine' });
    await eventually(
      async () => Object.keys((await call('POST', path, { returnImmediately: true })).body.sets).length === 1,
      'the verification waits',
    );
    assert.equal((await service.api('POST', `/ssf/streams/${stream_id}/lifecycle/pause`, { reason: 'Audit' })).status, 200);
    await call('POST', '/status', { stream_id, status: 'enabled' });
    await purge(service);
    const types = (tokens: readonly string[]) => tokens.map((token) => Object.keys(decodeJwt(token).events as object)[0]);
    const polled = await eventually(async () => {
      const tokens = Object.values((await call('POST', path, { returnImmediately: true })).body.sets as Record<string, string>);
      return tokens.length === 5 ? tokens : undefined;
    }, 'five events wait');
    const endpoint = await signalReceiver(t);
    const delivery = { method: PUSH, endpoint_url: endpoint.uri };
    assert.equal((await call('PATCH', '/stream', { stream_id, delivery })).status, 200);
    await endpoint.received(5);
    const jtis = (tokens: readonly string[]) => tokens.map((token) => decodeJwt(token).jti).sort();
    assert.deepEqual(jtis(endpoint.tokens), jtis(polled));
    assert.deepEqual(types(endpoint.tokens).sort(), types(polled).sort());
    const told = await Promise.all(endpoint.tokens.map((token) => verifiedSignal(service, app.clientId, token)));
    const claimsOf = (wanted: string) => told.find(({ type }) => type === wanted)?.claims;
    assert.deepEqual([claimsOf(VERIFICATION), claimsOf(STREAM_UPDATED)], [{ state: 'of mine' }, { status: 'paused', reason: 'Audit' }]);

    // The method changes after the delivery has read the stream.
    assert.equal(
      (await call('PATCH', '/stream', { stream_id, events_requested: [ACCOUNT_PURGED], delivery: { method: POLL } })).status,
      200,
    );
    const user = await onServer(service.database.url, async (client) => {
      await client.query('BEGIN');
      await client.query("UPDATE signal_streams SET method = 'PUSH', endpoint_url = $2 WHERE id = $1", [stream_id, endpoint.uri]);
      const purged = await purge(service);
      // On another connection: within a transaction the activity is always that of the first look.
      const waits = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query ILIKE '%signal_streams%for share%'";
      const isHeld = () => onServer(service.database.url, async (other) => (await other.query(waits)).rowCount === 1);
      await eventually(isHeld, 'the delivery waits for the change');
      await client.query('COMMIT');
      return purged;
    });
    await eventually(() => {
      moveClock(t, 2);
      return (
        subjectsOf(Object.fromEntries(endpoint.tokens.map((token, index) => [index, token]))).filter((sub) => sub === user).length >= 1
      );
    }, 'it is pushed');
  });

  await t.test('what is not polled for seven days, and the oldest of too many, is removed', async (t) => {
    const { call } = await receiverAt(service);
    const { body: stream } = await call('POST', '/stream', {});
    const { knex, pool, close } = await openDatabase({ connection: { connectionString: service.database.url }, onError: () => {} });
    afterwards(t, close);
    const fill = (count: number, created: Date) =>
      pool.query(
        `INSERT INTO signal_sets (stream_id, jti, event, created) SELECT $1, gen_random_uuid()::text, '{}', $3 FROM generate_series(1, $2::int)`,
        [stream.stream_id, count, created],
      );
    const count = async () =>
      Number((await pool.query('SELECT count(*) FROM signal_sets WHERE stream_id = $1', [stream.stream_id])).rows[0].count);
    await fill(3, new Date(Date.now() - 8 * 86_400_000));
    await fill(10_002, new Date());
    // The sweep stands in nobody's way but at what it removes.
    const isFree = async (table: string, column: string) => {
      const free = `SELECT count(*)::int AS count FROM (SELECT FROM ${table} WHERE ${column} = $1 FOR UPDATE SKIP LOCKED) free`;
      return (await pool.query(free, [stream.stream_id])).rows[0].count;
    };
    await knex.transaction(async (trx) => {
      await deleteUnwantedSignals(trx, new Date(), 5000);
      assert.equal(await isFree('signal_sets', 'stream_id'), 10_000);
    });
    while ((await deleteUnwantedSignals(knex, new Date(), 5000)) > 0);
    assert.equal(await count(), 10_000);
    await pool.query(
      `INSERT INTO outbox (kind, ordering_key, payload, created, due) SELECT 'signal', $1, '{}', now(), 'infinity' FROM generate_series(1, 10005)`,
      [stream.stream_id],
    );
    await knex.transaction(async (trx) => {
      await deleteUnwantedSignals(trx, new Date(), 5000);
      assert.equal(await isFree('outbox', 'ordering_key'), 10_000);
    });
    while ((await deleteUnwantedSignals(knex, new Date(), 5000)) > 0);
    const { rows } = await pool.query("SELECT count(*)::int AS count FROM outbox WHERE kind = 'signal' AND ordering_key = $1", [
      stream.stream_id,
    ]);
    assert.equal(rows[0].count, 10_000);
    moveClock(t, 0);
  });
});
