/** The browser session of all servers: what it authorized is kept for each, whoever writes at once; an end is an end. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { endBrowserSession } from '../../../src/features/users/account-state.store.ts';
import { deleteExpired } from '../../../src/protocol/storage/protocol-state.store.ts';
import type { ServerState } from '../../../src/protocol/storage/server-state.ts';
import { moveClock } from '../../support/clock.ts';
import { adapterFor, HOUR, inRequest, payloadOf, rows, twoServers } from './adapter-requests.ts';

type Authorizations = Record<string, { sid: string }>;

/** A session `before` is there; @returns ways to use it in requests of their own */
async function session(t: TestContext) {
  const servers = await twoServers(t);
  const { first, database } = servers;
  await adapterFor('Session', first).upsert('before', payloadOf('Session', 'before', { uid: 'uid' }), HOUR);
  const find = (server: ServerState, id = 'before') => inRequest(server, () => adapterFor('Session', server).find(id));

  /** Reads the session, waits, and saves it as it was read with what is new. */
  const resave = (server: ServerState, { clients = {}, id = 'before', meanwhile = async () => {} }: Resave) =>
    inRequest(server, async () => {
      const adapter = adapterFor('Session', server);
      const found = await adapter.find('before');
      assert.ok(found);
      await meanwhile();
      if (id !== 'before') await adapter.destroy('before');
      const authorizations = { ...(found.authorizations as Authorizations), ...clients };
      await adapter.upsert(id, { ...found, jti: id, exp: Math.floor(Date.now() / 1000) + HOUR, authorizations } as typeof found, HOUR);
    });
  const end = async (): Promise<void> => {
    await database.transaction((trx) => endBrowserSession(trx, 'uid'));
  };
  return { ...servers, find, resave, end };
}

interface Resave {
  readonly clients?: Authorizations;
  readonly id?: string;
  readonly meanwhile?: () => Promise<void>;
}

/** @returns a wait that ends when so many have come to it */
function meeting(size: number): () => Promise<void> {
  const { promise, resolve } = withResolvers();
  let there = 0;
  return () => {
    there += 1;
    if (there === size) resolve();
    return promise;
  };
}

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

test('authorizations are each server’s own, even of one client', async (t) => {
  const { first, second, resave, find } = await session(t);
  await resave(first, { clients: { app: { sid: 'at the first' } } });
  assert.deepEqual((await find(second))?.authorizations, {});
  await resave(second, { clients: { app: { sid: 'at the second' } } });
  assert.deepEqual((await find(first))?.authorizations, { app: { sid: 'at the first' } });
  assert.deepEqual((await find(second))?.authorizations, { app: { sid: 'at the second' } });
});

test('two servers and two clients that write one session at once lose nothing', async (t) => {
  const { first, second, resave, find } = await session(t);
  const meanwhile = meeting(4);
  await Promise.all([
    resave(first, { clients: { app: { sid: '1' } }, meanwhile }),
    resave(first, { clients: { other: { sid: '2' } }, meanwhile }),
    resave(second, { clients: { app: { sid: '3' } }, meanwhile }),
    resave(second, { clients: { other: { sid: '4' } }, meanwhile }),
  ]);
  assert.deepEqual((await find(first))?.authorizations, { app: { sid: '1' }, other: { sid: '2' } });
  assert.deepEqual((await find(second))?.authorizations, { app: { sid: '3' }, other: { sid: '4' } });
});

test('authorizations live as long as the session that slides on without writing them', async (t) => {
  const { first, database, resave, find } = await session(t);
  await resave(first, { clients: { app: { sid: '1' } } });
  for (let hours = 0; hours < 4; hours += 0.5) {
    moveClock(t, HOUR / 2);
    await resave(first, {});
    await deleteExpired(database.pool, Math.floor(Date.now() / 1000), 100);
  }
  assert.deepEqual((await find(first))?.authorizations, { app: { sid: '1' } });
});

test('a session that was ended is not brought back by a request that was under way', async (t) => {
  const { first, resave, find, end, database } = await session(t);
  await resave(first, { meanwhile: end });
  assert.equal(await find(first), undefined);
  const kept = await session(t);
  await kept.resave(kept.first, { id: 'after', meanwhile: kept.end });
  assert.equal(await kept.find(kept.first, 'after'), undefined, 'not under a new id either');
  assert.deepEqual(await rows(database), []);
});

test('a new id keeps the row, and the old id is dead', async (t) => {
  const { first, resave, find, database } = await session(t);
  const identity = async () => (await database.pool.query('SELECT uid FROM oidc_payload')).rows;
  await resave(first, { clients: { app: { sid: '1' } } });
  await resave(first, { id: 'after' });
  assert.equal(await find(first), undefined);
  const after = await find(first, 'after');
  assert.equal(after?.uid, 'uid');
  assert.deepEqual(after?.authorizations, { app: { sid: '1' } });
  assert.deepEqual(await identity(), [{ uid: 'uid' }]);
});

test('an id that was replaced is not brought back by a request that was under way', async (t) => {
  const { first, second, resave, find } = await session(t);
  await resave(second, { clients: { app: { sid: '1' } }, meanwhile: () => resave(first, { id: 'after' }) });
  assert.equal(await find(first), undefined);
  assert.equal((await find(first, 'after'))?.uid, 'uid');
  assert.deepEqual((await find(second, 'after'))?.authorizations, { app: { sid: '1' } }, 'what it authorized is kept');
});
