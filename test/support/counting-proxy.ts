/** A door before PostgreSQL that writes down which statements pass (PostgreSQL manual, "Message Formats"): measures a service from outside. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import type { TestContext } from 'node:test';
import pg from 'pg';
import { afterwards } from './afterwards.ts';
import type { TestDatabase } from './database.ts';

export interface CountedDatabase extends TestDatabase {
  /** The text of every statement that was carried out, since the last call. */
  taken(): string[];
  /** The same with what was bound to the parameters, as it was sent. */
  takenWithValues(): { text: string; values: string }[];
  /** Breaks every connection that there is. */
  cut(): void;
  /** From now on there is no way in: whoever comes is refused, and whoever is inside is cut off. */
  shut(): void;
}

/** @returns the same database, reached through the door */
export async function countingProxy(t: TestContext, database: TestDatabase): Promise<CountedDatabase> {
  let statements: { text: string; values: string }[] = [];
  const { host, port } = new pg.Client(database.connection);
  const sockets = new Set<net.Socket>();
  const proxy = net.createServer((inside) => {
    const outside = host.startsWith('/') ? net.connect(`${host}/.s.PGSQL.${port}`) : net.connect(port, host);
    const read = reader((text, values) => statements.push({ text, values }));
    inside.on('data', read);
    for (const [one, other] of [
      [inside, outside],
      [outside, inside],
    ] as const) {
      sockets.add(one);
      one.pipe(other);
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  const take = () => {
    const taken = statements;
    statements = [];
    return taken;
  };
  const shut = (): void => {
    proxy.close();
    cut();
  };
  afterwards(t, shut);

  const address = proxy.address();
  assert(address !== null && typeof address === 'object');
  const url = new URL(database.url);
  url.search = '';
  url.host = `127.0.0.1:${address.port}`;
  return {
    ...database,
    url: url.href,
    connection: { connectionString: url.href },
    taken: () => take().map(({ text }) => text),
    takenWithValues: take,
    cut,
    shut,
  };
}

/** Follows one connection: simple queries, and executions of what was parsed and bound before. */
function reader(note: (text: string, values: string) => void): (chunk: Buffer) => void {
  const prepared = new Map<string, string>();
  let bound = '';
  let values = '';
  let rest = Buffer.alloc(0);
  let started = false;
  const message = (type: string, body: Buffer): void => {
    const [first = '', second = ''] = body.toString('latin1').split('\0', 2);
    if (type === 'Q') note(first, '');
    if (type === 'P') prepared.set(first, second);
    if (type === 'B') {
      bound = prepared.get(second) ?? `unknown ${second}`;
      values = body.toString('latin1', first.length + second.length + 2);
    }
    if (type === 'E') note(bound, values);
  };
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      // The first message of a connection has no type.
      const head = started ? 1 : 0;
      if (rest.length < head + 4) return;
      const length = head + rest.readInt32BE(head);
      if (rest.length < length) return;
      if (started) message(String.fromCharCode(rest[0] ?? 0), rest.subarray(5, length));
      started = true;
      rest = rest.subarray(length);
    }
  };
}
