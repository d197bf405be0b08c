/** A door before PostgreSQL: a real network between the service and its database, which a test slows down, makes silent or cuts. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import type { TestContext } from 'node:test';
import pg from 'pg';
import { afterwards } from '../support/afterwards.ts';

/** open · every packet late · accepted, and nothing ever passes · no connection, and those there are cut */
type Weather = 'open' | 'silent' | 'cut' | { readonly late: number };

export interface Door {
  /** The same database, reached through the door. */
  readonly url: string;
  set(weather: Weather): void;
}

/** @param url of a database, by TCP or a unix socket */
export async function openDoor(t: TestContext, url: string): Promise<Door> {
  const { host, port } = new pg.Client({ connectionString: url });
  let weather: Weather = 'open';
  const sockets = new Set<net.Socket>();
  /** What came while nothing passed goes on when the door is open again, as after a network that came back. */
  const held: (() => void)[] = [];
  const pass = (one: net.Socket, other: net.Socket) => {
    let before = Promise.resolve();
    one.on('data', (chunk) => {
      const wait = async () => {
        if (weather === 'silent') await new Promise<void>((resolve) => held.push(resolve));
        else if (typeof weather === 'object') await new Promise((resolve) => setTimeout(resolve, (weather as { late: number }).late));
        if (!other.destroyed) other.write(chunk);
      };
      before = before.then(wait);
    });
    one.on('error', () => other.destroy());
    one.on('close', () => {
      sockets.delete(one);
      other.destroy();
    });
    sockets.add(one);
  };
  const listener = net.createServer((inside) => {
    if (weather === 'cut') return void inside.destroy();
    const outside = host.startsWith('/') ? net.connect(`${host}/.s.PGSQL.${port}`) : net.connect(port, host);
    pass(inside, outside);
    pass(outside, inside);
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  afterwards(t, () => {
    cut();
    listener.close();
  });
  const address = listener.address();
  assert(address !== null && typeof address === 'object');
  const through = new URL(url);
  through.search = '';
  through.host = `127.0.0.1:${address.port}`;
  return {
    url: through.href,
    set(next) {
      weather = next;
      for (const go of held.splice(0)) go();
      if (next === 'cut') cut();
    },
  };
}
