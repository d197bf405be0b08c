/** A small HTTP server of a test's own, on a free port of this machine. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { TestContext } from 'node:test';
import { afterwards } from './afterwards.ts';

/**
 * Listens until the test ends.
 * @param host by which name it is reached: `localhost` and `127.0.0.1` are two sites to a browser
 * @returns its origin
 */
export async function listen(t: TestContext, host: 'localhost' | '127.0.0.1', listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterwards(t, () => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  assert(address !== null && typeof address === 'object');
  return `http://${host}:${address.port}`;
}
