/** Lists as files: their values, and errors while they are read. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import Koa from 'koa';
import { type FileFormat, listFile } from '../../../src/platform/http/list-files.ts';
import { afterwards } from '../../support/afterwards.ts';

test('an error in the middle of a list breaks off its file, and the process goes on', async (t) => {
  const app = new Koa();
  const errors: unknown[] = [];
  app.on('error', (error: Error) => errors.push(error.message));
  app.use((ctx) => {
    async function* records() {
      // More than the buffers on the way take: the response has begun.
      for (let n = 0; n < 20_000; n += 1) yield { name: `the one with the number ${n}` };
      throw new Error(`no database for ${ctx.path}`);
    }
    ctx.body = listFile('list', ctx.path.slice(1) as FileFormat, ['name'], records()).content;
  });
  const server = createServer(app.callback()).listen(0, '127.0.0.1');
  afterwards(t, () => new Promise<void>((resolve) => server.close(() => resolve())));
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  for (const format of ['csv', 'ndjson']) {
    await assert.rejects(async () => (await fetch(`http://127.0.0.1:${port}/${format}`)).text(), TypeError, format);
  }
  assert.deepEqual([...new Set(errors)], ['no database for /csv', 'no database for /ndjson']);
});

test('a file has times in ISO 8601 and a list in one cell', async () => {
  async function* records() {
    yield { name: 'one', created: new Date('2026-11-27T01:00:00Z'), lastUsed: null, tags: ['a', 'b'], isActive: true };
  }
  const contentOf = (format: FileFormat) =>
    text(listFile('list', format, ['name', 'created', 'lastUsed', 'tags', 'isActive'], records()).content);
  assert.equal(await contentOf('csv'), 'name,created,lastUsed,tags,isActive\none,2026-11-27T01:00:00.000Z,,"[""a"",""b""]",true\n');
  assert.equal(
    await contentOf('ndjson'),
    '{"name":"one","created":"2026-11-27T01:00:00.000Z","lastUsed":null,"tags":["a","b"],"isActive":true}\n',
  );
});
