/** What signal streams are told (SSF 1.0, CAEP 1.0, RISC 1.0), pushed (RFC 8935), and what comes of receivers that refuse, are away or are gone. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { decodeJwt } from 'jose';
import { signInAt } from '../../protocol/logout/logout-receiver.ts';
import { createClient } from '../../protocol/servers/relying-party.ts';
import { afterwards } from '../../support/afterwards.ts';
import { moveClock, stopClock } from '../../support/clock.ts';
import { onServer, testDatabase } from '../../support/database.ts';
import { eventually } from '../../support/process.ts';
import { newSecretKey, type Service, type ServiceCalls, startService } from '../../support/service.ts';
import {
  ACCOUNT_DISABLED,
  ACCOUNT_PURGED,
  CREDENTIAL_CHANGE,
  createStream,
  SESSION_REVOKED,
  STREAM_UPDATED,
  signalReceiver,
  VERIFICATION,
  verifiedSignal,
} from '../../support/signals.ts';

const LOCAL = { ALLOW_PRIVATE_NETWORK: 'true' };
const PURGED = [ACCOUNT_PURGED];

const ok = async ({ api }: ServiceCalls, ...call: Parameters<ServiceCalls['api']>) => {
  const { status, body } = await api(...call);
  assert.ok(status < 300, `${call.join(' ')} ${status} ${JSON.stringify(body)}`);
  return body;
};

/** Deletes a user for good. @returns the ID */
async function purge(service: ServiceCalls): Promise<string> {
  const { id } = await service.createUser();
  for (const _ of [1, 2]) await ok(service, 'DELETE', `/users/${id}`);
  return id;
}

const waiting = async (service: ServiceCalls, id: string) => (await ok(service, 'GET', `/ssf/streams/${id}`)).waiting.count as number;
const nothingWaits = (service: ServiceCalls, id: string) =>
  eventually(async () => (await waiting(service, id)) === 0, 'nothing waits for the stream');
const lastError = async (service: ServiceCalls, id: string): Promise<string | null> =>
  (await ok(service, 'GET', `/ssf/streams/${id}`)).lastError;
const failedOnce = (service: ServiceCalls, id: string, reason: RegExp) =>
  eventually(async () => reason.test((await lastError(service, id)) ?? ''), `it fails: ${reason}`);
const givenUp = async (service: ServiceCalls, id: string) =>
  (await ok(
    service,
    'GET',
    `/logs?${new URLSearchParams({ filter: `eventType eq "system.signal_stream.delivery" and target.id eq "${id}"` })}`,
  )) as {
    outcome: { result: string; reason: string };
  }[];

test('signal streams', async (t) => {
  stopClock(t);
  const service = await startService(t, { env: LOCAL, sendsOutbox: true });
  const app = await createClient(service);

  await t.test('a session revoked here is told there, signed, with the sub that the application knows', async (t) => {
    const receiver = await signalReceiver(t);
    const pairwise = await createClient(service, { subject_type: 'pairwise' });
    const own = await signalReceiver(t);
    const id = await createStream(service, app.clientId, receiver.uri, [SESSION_REVOKED], {
      authorizationHeader: 'Bearer of the receiver',
    });
    const other = await createStream(service, pairwise.clientId, own.uri, [SESSION_REVOKED]);
    const user = await service.createUser();
    const { idTokens } = await signInAt(service, user, [
      ['built-in', app],
      ['built-in', pairwise],
    ]);
    await ok(service, 'DELETE', `/users/${user.id}/sessions`);

    const [token = ''] = await receiver.received(1);
    const { type, claims, subject, payload } = await verifiedSignal(service, app.clientId, token);
    assert.equal(type, SESSION_REVOKED);
    assert.deepEqual(subject, { format: 'iss_sub', iss: service.issuer('built-in'), sub: user.id });
    assert.deepEqual(claims, {
      event_timestamp: Math.floor(Date.now() / 1000),
      initiating_entity: 'admin',
      reason_admin: { en: 'Clear user sessions' },
    });
    assert.equal(receiver.headers[0]?.authorization, 'Bearer of the receiver');
    const [theirs = ''] = await own.received(1);
    const told = await verifiedSignal(service, pairwise.clientId, theirs);
    assert.equal(told.subject.sub, decodeJwt(idTokens[1] ?? '').sub);
    assert.notEqual(told.subject.sub, user.id);
    assert.equal(told.payload.txn, payload.txn, 'one cause');
    assert.notEqual(told.payload.jti, payload.jti);
    assert.ok(!`${JSON.stringify(payload)}`.includes(user.login), 'nobody is told names');
    await nothingWaits(service, id);
    assert.ok((await ok(service, 'GET', `/ssf/streams/${id}`)).lastDelivered);
    for (const one of [id, other]) await ok(service, 'DELETE', `/ssf/streams/${one}`);
  });

  await t.test('each change of an account is the events that the specifications have for it, and a plain sign-out is none', async (t) => {
    const receiver = await signalReceiver(t);
    const id = await createStream(service, app.clientId, receiver.uri);
    const user = await service.createUser();
    const { logout } = await signInAt(service, user, [['built-in', app]]);
    await logout();
    const steps: [call: () => Promise<unknown>, expected: string[], claims?: object][] = [
      [() => ok(service, 'DELETE', `/users/${user.id}/sessions`), [SESSION_REVOKED]],
      [
        () => ok(service, 'POST', `/users/${user.id}`, { credentials: { password: { value: 'violet engines hum' } } }),
        [CREDENTIAL_CHANGE, SESSION_REVOKED],
        { credential_type: 'password', change_type: 'update' },
      ],
      [() => ok(service, 'POST', `/users/${user.id}/lifecycle/suspend`), [ACCOUNT_DISABLED, SESSION_REVOKED]],
      [() => ok(service, 'POST', `/users/${user.id}/lifecycle/unsuspend`), []],
      [
        () => ok(service, 'POST', `/users/${user.id}/lifecycle/reset_password?sendEmail=false`),
        [CREDENTIAL_CHANGE, SESSION_REVOKED],
        { credential_type: 'password', change_type: 'revoke' },
      ],
      [() => ok(service, 'DELETE', `/users/${user.id}`), [ACCOUNT_DISABLED, SESSION_REVOKED]],
      [() => ok(service, 'DELETE', `/users/${user.id}`), [ACCOUNT_PURGED]],
    ];
    let seen = 0;
    for (const [call, expected, claims = {}] of steps) {
      await call();
      const tokens = (await receiver.received(seen + expected.length)).slice(seen);
      const signals = await Promise.all(tokens.map((token) => verifiedSignal(service, app.clientId, token)));
      assert.deepEqual(
        signals.map(({ type }) => type),
        expected,
      );
      assert.ok(signals.every(({ subject }) => subject.sub === user.id));
      assert.equal(new Set(signals.map(({ payload }) => payload.txn)).size, Math.min(1, expected.length), 'one cause');
      for (const [name, value] of Object.entries(claims)) assert.equal(signals[0]?.claims[name], value);
      seen += expected.length;
    }
    await nothingWaits(service, id);
    assert.equal(receiver.tokens.length, seen);
    await ok(service, 'DELETE', `/ssf/streams/${id}`);
  });

  await t.test('a receiver that is away gets them later, in order for each user, under the same jti', async (t) => {
    let up = false;
    const receiver = await signalReceiver(t, (res: ServerResponse) => void (up ? res.writeHead(202).end() : res.writeHead(503).end()));
    const id = await createStream(service, app.clientId, receiver.uri, [ACCOUNT_DISABLED, ACCOUNT_PURGED]);
    const user = await purge(service);
    await failedOnce(service, id, /answered 503/);
    // A pause begins when the failure is noted, which nobody outside sees.
    const moving = (isSo: () => boolean | Promise<boolean>, what: string) =>
      eventually(async () => {
        moveClock(t, 60);
        return isSo();
      }, what);
    await moving(() => receiver.tokens.length > 3, 'it is tried again and again');
    up = true;
    await moving(async () => (await waiting(service, id)) === 0, 'it is delivered');
    const told = receiver.accepted.map((token) => decodeJwt(token));
    assert.deepEqual(
      told.map(({ events }) => Object.keys(events as object)[0]),
      [ACCOUNT_DISABLED, ACCOUNT_PURGED],
    );
    assert.equal(decodeJwt(receiver.tokens[0] ?? '').jti, told[0]?.jti, 'the same at every attempt');
    assert.ok(told.every(({ sub_id }) => (sub_id as { sub: string }).sub === user));
    await ok(service, 'DELETE', `/ssf/streams/${id}`);
  });

  await t.test('what a receiver refuses with 400 is given up at once, and holds up nobody else', async (t) => {
    let refuse = JSON.stringify({ err: 'invalid_request', description: '<script>' });
    const receiver = await signalReceiver(t, (res) => void (refuse === '' ? res.writeHead(202).end() : res.writeHead(400).end(refuse)));
    const id = await createStream(service, app.clientId, receiver.uri, PURGED);
    await purge(service);
    await nothingWaits(service, id);
    assert.equal(receiver.tokens.length, 1);
    assert.equal(await lastError(service, id), 'the receiver answered 400 (invalid_request)');
    assert.deepEqual(
      (await givenUp(service, id)).map(({ outcome }) => [outcome.result, outcome.reason]),
      [['FAILURE', 'the receiver answered 400 (invalid_request)']],
    );
    // Its settings are wrong, and the event is none the worse for it.
    refuse = JSON.stringify({ err: 'authentication_failed' });
    await purge(service);
    await failedOnce(service, id, /authentication_failed/);
    assert.equal(await waiting(service, id), 1);
    refuse = '';
    moveClock(t, 10);
    await nothingWaits(service, id);
    assert.equal(receiver.accepted.length, 1);
    // It may not have fetched the new key yet.
    refuse = JSON.stringify({ err: 'invalid_key' });
    await purge(service);
    await failedOnce(service, id, /invalid_key/);
    assert.equal(await waiting(service, id), 1);
    refuse = '';
    moveClock(t, 10);
    await nothingWaits(service, id);
    assert.equal(receiver.accepted.length, 2);
    await ok(service, 'DELETE', `/ssf/streams/${id}`);
  });

  await t.test('a receiver that is gone (410) disables its stream; enabled again it is told so first', async (t) => {
    let status = 410;
    const receiver = await signalReceiver(t, (res) => void res.writeHead(status).end());
    const id = await createStream(service, app.clientId, receiver.uri, PURGED);
    await purge(service);
    await eventually(async () => (await ok(service, 'GET', `/ssf/streams/${id}`)).status === 'DISABLED', 'it is disabled');
    await purge(service);
    assert.equal(await waiting(service, id), 0, 'nothing waits for a disabled stream');
    status = 202;
    const before = receiver.tokens.length;
    moveClock(t, 1);
    await ok(service, 'POST', `/ssf/streams/${id}/lifecycle/enable`, { reason: 'It is back' });
    const tokens = await receiver.received(before + 1);
    const { type, claims, subject } = await verifiedSignal(service, app.clientId, tokens[before] ?? '');
    assert.deepEqual([type, claims, subject], [STREAM_UPDATED, { status: 'enabled', reason: 'It is back' }, { format: 'opaque', id }]);
    await ok(service, 'DELETE', `/ssf/streams/${id}`);
  });

  await t.test('events of a paused stream wait, for seven days at most; a verification comes through an enabled one', async (t) => {
    const receiver = await signalReceiver(t);
    const id = await createStream(service, app.clientId, receiver.uri, PURGED);
    await ok(service, 'POST', `/ssf/streams/${id}/lifecycle/pause`);
    await receiver.received(1);
    await purge(service);
    moveClock(t, 8 * 86_400);
    const young = await purge(service);
    await eventually(async () => (await waiting(service, id)) === 1, 'the older one is dropped');
    await ok(service, 'POST', `/ssf/streams/${id}/lifecycle/enable`);
    // One that was under way is put off by its own process, and hurried later.
    await eventually(async () => {
      moveClock(t, 11);
      return receiver.tokens.length === 3 && (await waiting(service, id)) === 0;
    }, 'what waited is delivered');
    await ok(service, 'POST', `/ssf/streams/${id}/verify`);
    assert.equal((await service.api('POST', `/ssf/streams/${id}/verify`)).status, 429);
    const tokens = await receiver.received(4);
    const told = await Promise.all(tokens.map((token) => verifiedSignal(service, app.clientId, token)));
    assert.deepEqual(told.map(({ type }) => type).sort(), [ACCOUNT_PURGED, VERIFICATION, STREAM_UPDATED, STREAM_UPDATED].sort());
    assert.equal(told.find(({ type }) => type === ACCOUNT_PURGED)?.subject.sub, young);
    await ok(service, 'DELETE', `/ssf/streams/${id}`);
  });
});

test('a pause uses up none of the attempts, however long it was', async (t) => {
  stopClock(t);
  const service = await startService(t, { env: LOCAL, sendsOutbox: true });
  const app = await createClient(service);
  let up = false;
  const receiver = await signalReceiver(t, (res) => void res.writeHead(up ? 202 : 503).end());
  const id = await createStream(service, app.clientId, receiver.uri, PURGED);
  await ok(service, 'POST', `/ssf/streams/${id}/lifecycle/pause`);
  const isPurged = ({ events }: { readonly events?: unknown }) => ACCOUNT_PURGED in (events as object);
  const pushes = () => receiver.tokens.filter((token) => isPurged(decodeJwt(token))).length;
  await purge(service);
  const entries = async () => {
    const read = "SELECT attempts, due, last_error FROM outbox WHERE kind = 'signal' AND payload ? 'eventId'";
    const { rows } = await onServer(service.database.url, (client) => client.query(read));
    return rows as { readonly attempts: number; readonly due: Date; readonly last_error: string | null }[];
  };
  const isPutOff = () =>
    eventually(async () => ((await entries())[0]?.due.getTime() ?? 0) >= Date.now() + 599_000, 'it waits for the stream');
  await isPutOff();
  for (let turn = 0; turn < 4; turn += 1) {
    moveClock(t, 86_400);
    await isPutOff();
  }
  assert.equal((await entries())[0]?.attempts, 0);
  await ok(service, 'POST', `/ssf/streams/${id}/lifecycle/enable`);
  // Ten seconds later everything is hurried once more. That would push between the steps below.
  await onServer(service.database.url, (client) => client.query("DELETE FROM outbox WHERE payload ? 'hurry'"));
  // Older than the three days for which an event is pushed: all of them are still before it.
  for (const [count, pause] of [
    [1, 5],
    [2, 60],
    [3, 300],
  ] as const) {
    const failed = await eventually(async () => {
      const [entry] = await entries();
      // One that is under way is its process's for a minute.
      const isUnderWay = entry?.due.getTime() === Date.now() + 60_000;
      return pushes() === count && entry?.attempts === count && !isUnderWay && /503/.test(entry.last_error ?? '') ? entry : undefined;
    }, `push ${count} fails`);
    const seconds = (failed.due.getTime() - Date.now()) / 1000;
    assert.ok(seconds > pause * 0.8 && seconds < pause * 1.2, `${seconds} after ${count}`);
    moveClock(t, pause * 1.2);
  }
  up = true;
  await eventually(async () => {
    moveClock(t, 60);
    return (await entries()).length === 0;
  }, 'it is delivered');
  assert.ok(receiver.accepted.some((token) => isPurged(decodeJwt(token))));
});

test('events wait while the application is inactive', async (t) => {
  stopClock(t);
  const service = await startService(t, { env: LOCAL, sendsOutbox: true });
  const app = await createClient(service);
  const receiver = await signalReceiver(t);
  const id = await createStream(service, app.clientId, receiver.uri, PURGED);
  await ok(service, 'POST', `/apps/${app.clientId}/lifecycle/deactivate`);
  const read = 'SELECT last_error FROM outbox WHERE ordering_key = $1';
  await purge(service);
  await eventually(async () => {
    const { rows } = await onServer(service.database.url, (client) => client.query(read, [id]));
    return rows[0]?.last_error === 'the application is inactive';
  }, 'it waits');
  await ok(service, 'POST', `/apps/${app.clientId}/lifecycle/activate`);
  moveClock(t, 601);
  await receiver.received(1);
  await nothingWaits(service, id);
});

test('an entry of several pushes is left to its process for a minute', async (t) => {
  stopClock(t);
  const service = await startService(t, { env: LOCAL, sendsOutbox: true });
  const app = await createClient(service);
  const held: ServerResponse[] = [];
  const receiver = await signalReceiver(t, (res) => void held.push(res));
  await createStream(service, app.clientId, receiver.uri, PURGED);
  await purge(service);
  await receiver.received(1);
  const { rows } = await onServer(service.database.url, (client) => client.query("SELECT due FROM outbox WHERE kind = 'signal'"));
  assert.equal((rows[0].due.getTime() - Date.now()) / 1000, 60);
  for (const res of held) res.writeHead(202).end();
});

test('two processes deliver each event once', async (t) => {
  const database = await testDatabase();
  afterwards(t, () => database.drop());
  const beside = { database, secretKey: newSecretKey() };
  const services: Service[] = [];
  for (let turn = 0; turn < 2; turn += 1) services.push(await startService(t, { env: LOCAL, beside, sendsOutbox: true }));
  const [service] = services as [Service];
  const app = await createClient(service);
  const receiver = await signalReceiver(t);
  const id = await createStream(service, app.clientId, receiver.uri, PURGED);
  const users: string[] = [];
  for (let turn = 0; turn < 12; turn += 1) users.push(await purge(service));
  await nothingWaits(service, id);
  const told = receiver.tokens.map((token) => (decodeJwt(token).sub_id as { sub: string }).sub);
  assert.deepEqual(told.sort(), users.sort());
});

test('a private address is told nothing without ALLOW_PRIVATE_NETWORK, by number or by name', async (t) => {
  stopClock(t);
  const service = await startService(t, { sendsOutbox: true });
  const app = await createClient(service);
  const receiver = await signalReceiver(t);
  for (const uri of [receiver.uri, receiver.uri.replace('127.0.0.1', 'localhost')]) {
    const id = await createStream(service, app.clientId, uri, PURGED);
    await purge(service);
    await failedOnce(service, id, /is not a public address/);
    assert.deepEqual(receiver.tokens, []);
    await ok(service, 'DELETE', `/ssf/streams/${id}`);
  }
});
