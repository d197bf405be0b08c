/** Of several servers the one that takes writes is used (PostgreSQL manual, "Specifying Multiple Hosts", `target_session_attrs`), as by whoever listens. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { type TestContext, test } from 'node:test';
import pg from 'pg';
import { pino } from 'pino';
import { openDatabase } from '../../../src/platform/database/database.ts';
import { isUnavailable } from '../../../src/platform/database/database-failures.ts';
import { openNotifications } from '../../../src/platform/database/notifications.ts';
import { WritableClient } from '../../../src/platform/database/writable-server.ts';
import { afterwards } from '../../support/afterwards.ts';
import { onServer, type TestDatabase, testDatabase } from '../../support/database.ts';
import { eventually } from '../../support/process.ts';
import { withProductionTimings } from '../../support/short-waits.ts';

const nameOf = ({ url }: TestDatabase): string => new URL(url).pathname.slice(1);

/** A server of its own, as far as one who connects can tell: whatever database he asks for, he gets this one. Names of test databases are equally long. */
class Door {
  readonly #open = new Set<net.Socket>();
  readonly #server: net.Server;
  #port = 0;
  /** Whoever comes is let in only then. */
  opensAfter: Promise<unknown> = Promise.resolve();

  constructor(database: TestDatabase) {
    const { host, port } = new pg.Client(database.connection);
    this.#server = net.createServer(async (inside) => {
      this.#open.add(inside.on('error', () => {}).on('close', () => this.#server.emit('left')));
      await this.opensAfter;
      const outside = host.startsWith('/') ? net.connect(`${host}/.s.PGSQL.${port}`) : net.connect(port, host);
      inside.once('data', (start: Buffer) => {
        outside.write(Buffer.from(start.toString('latin1').replace(/gatehouse_test_[0-9a-f]{16}/, nameOf(database)), 'latin1'));
        inside.pipe(outside);
      });
      outside.pipe(inside);
      for (const [one, other] of [
        [inside, outside],
        [outside, inside],
      ] as const) {
        this.#open.add(one);
        one.on('error', () => {}).on('close', () => other.destroy());
      }
    });
  }

  async open(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    const address = this.#server.address();
    if (address !== null && typeof address === 'object') this.#port = address.port;
  }

  /** The server is gone, and with it every connection. */
  async close(): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Somebody was here, and is gone. */
  async left(): Promise<void> {
    await once(this.#server, 'left');
  }

  /** As one would write it into DATABASE_URL. */
  get address(): string {
    return `127.0.0.1:${this.#port}`;
  }
}

async function behindDoor(t: TestContext): Promise<{ door: Door; database: TestDatabase; readOnly(is: boolean): Promise<void> }> {
  const database = await testDatabase();
  afterwards(t, () => database.drop());
  const door = new Door(database);
  await door.open();
  afterwards(t, () => door.close().catch(() => {}));
  const readOnly = async (is: boolean) => {
    await onServer(database.url, async (client) => {
      await client.query('SET default_transaction_read_only = off');
      await client.query(`ALTER DATABASE ${nameOf(database)} SET default_transaction_read_only = ${is}`);
    });
  };
  return { door, database, readOnly };
}

/** What the service makes of a URL that names them all. */
function connectionTo({ url }: TestDatabase, ...doors: readonly Pick<Door, 'address'>[]) {
  const servers = doors.map(({ address }) => {
    const one = new URL(url);
    one.search = '';
    one.host = address;
    return one.href;
  });
  return { connectionString: servers[0], servers };
}

test('after a failover the server that takes writes is found, and one that comes back is not written to', async (t) => {
  const [a, b] = [await behindDoor(t), await behindDoor(t)];
  await b.readOnly(true);
  const connection = connectionTo(a.database, a.door, b.door);
  const database = await openDatabase({ connection, poolSize: 4, onError: () => {} });
  afterwards(t, () => database.close());
  const news: unknown[] = [];
  const notifications = await openNotifications(connection, pino({ level: 'silent' }));
  afterwards(t, () => notifications.close());
  notifications.subscribe((change) => news.push(change));
  const whereItIs = async () => (await database.pool.query<{ name: string }>('SELECT current_database() AS name')).rows[0]?.name;
  const isOutOfReach = (work: Promise<unknown>) =>
    assert.rejects(work, (error: unknown) => isUnavailable(error) && error instanceof Error && /read only/.test(error.message));

  assert.deepEqual(await Promise.all([1, 2, 3].map(whereItIs)), Array(3).fill(nameOf(a.database)));

  await a.door.close();
  await eventually(() => database.pool.totalCount === 0, 'the lost connections are noticed');
  await isOutOfReach(database.pool.query('SELECT 1'));
  await isOutOfReach(database.knex('settings').first());

  await b.readOnly(false);
  assert.deepEqual(await Promise.all([1, 2, 3].map(whereItIs)), Array(3).fill(nameOf(b.database)));
  await eventually(() => news.includes('everything'), 'who listens is back');
  const change = { kind: 'settings', id: 'password' } as const;
  await database.transaction((trx) => notifications.publish(trx, change));
  await eventually(() => news.some((one) => JSON.stringify(one) === JSON.stringify(change)), 'and hears what the others tell');

  await a.door.open();
  await Promise.all([...Array(8)].map(() => database.pool.query('SELECT pg_terminate_backend(pg_backend_pid())').catch(() => {})));
  assert.equal(await whereItIs(), nameOf(b.database));
});

test('a server that is named alone is asked, too, where the URL wants one that takes writes', async (t) => {
  const { database: own, readOnly } = await behindDoor(t);
  await readOnly(true);
  const database = await openDatabase({ connection: { connectionString: own.url, servers: [own.url] }, onError: () => {} });
  afterwards(t, () => database.close());
  await assert.rejects(database.ping(), /no server takes writes: read only/);
  await readOnly(false);
  await database.ping();
});

/** Takes connections and says nothing, as one whose machine hangs. */
async function silentServer(t: TestContext): Promise<Pick<Door, 'address'>> {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => void sockets.add(socket.on('error', () => {})));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterwards(t, () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as net.AddressInfo;
  return { address: `127.0.0.1:${port}` };
}

test('silent servers are passed by: who waits for a turn gets it within the time for a connection', async (t) => {
  withProductionTimings(t, 'serverLook', 'serverHeadStart');
  const silent = [await silentServer(t), await silentServer(t), await silentServer(t)];
  const { door, database: own } = await behindDoor(t);
  const database = await openDatabase({ connection: connectionTo(own, ...silent, door), poolSize: 2, onError: () => {} });
  afterwards(t, () => database.close());
  const whereItIs = async () => (await database.pool.query<{ name: string }>('SELECT current_database() AS name')).rows[0]?.name;
  assert.deepEqual(await Promise.all([1, 2, 3, 4].map(whereItIs)), Array(4).fill(nameOf(own)));
});

test('of two that take writes the one named first is used, although the other answers sooner', async (t) => {
  const [slow, quick] = [await behindDoor(t), await behindDoor(t)];
  slow.door.opensAfter = quick.door.left();
  const connection = connectionTo(slow.database, slow.door, quick.door);
  const database = await openDatabase({ connection, onError: () => {} });
  afterwards(t, () => database.close());
  const { rows } = await database.pool.query<{ name: string }>('SELECT current_database() AS name');
  assert.deepEqual(rows, [{ name: nameOf(slow.database) }]);
});

/** Lets one in and shows him out in the same breath, as a server does that is told to stop at that moment (PostgreSQL manual, "Message Formats"). */
async function serverThatStops(t: TestContext): Promise<string> {
  const message = (type: string, body: Buffer) => {
    const head = Buffer.alloc(5);
    head.write(type);
    head.writeInt32BE(body.length + 4, 1);
    return Buffer.concat([head, body]);
  };
  const letIn = [message('R', Buffer.alloc(4)), message('Z', Buffer.from('I'))];
  const showOut = message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0'));
  const server = net.createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(Buffer.concat([...letIn, showOut])));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterwards(t, () => void server.close());
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  return `postgres://somebody@127.0.0.1:${address.port}/gatehouse`;
}

test('a server that ends a connection as it opens it ends no process', async (t) => {
  const connectionString = await serverThatStops(t);
  const database = await openDatabase({ connection: { connectionString }, onError: () => {} });
  afterwards(t, () => database.close());
  for (const ask of [
    () => database.pool.query('SELECT 1'),
    () => database.knex('settings').first(),
    () => database.transaction((trx) => trx('settings').first()),
  ])
    await assert.rejects(ask(), isUnavailable);
  await assert.rejects(openNotifications({ connectionString }, pino({ level: 'silent' })), isUnavailable);
});

test('a connection that did not answer in time is waited for by nobody else: neither by a rollback nor by the next in the pool', async (t) => {
  const own = await testDatabase();
  afterwards(t, () => own.drop());
  for (const how of ['a promise', 'a callback']) {
    const client = new WritableClient({ ...own.connection, query_timeout: 1_000 });
    // The end of the database reaches it, too, if the server is quicker than the client.
    client.on('error', () => {});
    await client.connect();
    const ask = (text: string): Promise<unknown> =>
      how === 'a promise'
        ? client.query(text)
        : new Promise((resolve, reject) =>
            client.query(text, (error: Error | null, result: unknown) => (error ? reject(error) : resolve(result))),
          );
    await ask('BEGIN');
    await assert.rejects(ask('SELECT pg_sleep(60)'), /^Error: Query read timeout$/);
    await assert.rejects(ask('ROLLBACK'), (error: unknown) => isUnavailable(error) && !/read timeout/.test(String(error)), how);
  }

  const pool = new pg.Pool({ ...own.connection, Client: WritableClient, max: 1, query_timeout: 1_000 });
  pool.on('error', () => {});
  afterwards(t, () => pool.end());
  const client = await pool.connect();
  await assert.rejects(client.query('SELECT pg_sleep(60)'), /read timeout/);
  // As knex does, who tells the pool of no error.
  client.release();
  assert.equal((await pool.query('SELECT 1')).rowCount, 1);
});
