/** Spans where work of several requests meets: batches and the pool of connections; and what is loaded while nothing is exported. */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { type TestContext, test } from 'node:test';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { batch } from '../../../src/platform/database/batch.ts';
import { openDatabase } from '../../../src/platform/database/database.ts';
import { sdkTracer } from '../../../src/platform/telemetry/sdk-tracer.ts';
import { inSpan, inTrace, useTracer } from '../../../src/platform/telemetry/tracing.ts';
import { afterwards } from '../../support/afterwards.ts';
import { testDatabase } from '../../support/database.ts';

async function traced(t: TestContext) {
  const { connection, drop } = await testDatabase();
  const database = await openDatabase({ connection, poolSize: 2, onError: () => undefined });
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  useTracer(sdkTracer(provider.getTracer('test'), { continuesTraces: false, propagates: true }));
  afterwards(t, async () => {
    useTracer(undefined);
    await database.close();
    await drop();
  });
  return { ...database, spans: () => exporter.getFinishedSpans() };
}

const SDK = /@opentelemetry\/(?!api\/)/;
const FACTS = { kind: 'internal' } as const;

test('statements that wait for a connection belong to the request that asked for them', async (t) => {
  const { pool, knex, transaction, spans } = await traced(t);
  // knex asks once for the version.
  await knex('users').select('id').limit(1);
  const requests = Array.from({ length: 12 }, (_, n) => `request ${n}`);
  await Promise.all(
    requests.map((name, n) =>
      inTrace({ name, ...FACTS }, async () => {
        await pool.query({ name: `statement of-${'abcdefghijkl'[n]}`, text: 'SELECT pg_sleep(0.01)' });
        await knex('users').where({ id: 'a user' }).select('id');
        await transaction((trx) => trx('groups').select('id').limit(1));
      }),
    ),
  );
  for (const [n, name] of requests.entries()) {
    const root = spans().find((span) => span.name === name);
    const own = spans().filter(({ parentSpanContext }) => parentSpanContext?.spanId === root?.spanContext().spanId);
    assert.deepEqual(
      // One that opens a connection sets it up, too.
      own.map((span) => span.name).filter((statement) => statement !== 'SET'),
      [`statement of-${'abcdefghijkl'[n]}`, 'SELECT users', 'BEGIN', 'SELECT groups', 'COMMIT'],
    );
    assert.ok(own.every((span) => span.spanContext().traceId === root?.spanContext().traceId));
  }
  await pool.query('SELECT 1');
  assert.equal(spans().filter((span) => span.name !== 'SET').length, 12 * 6, 'a statement that belongs to nobody has no span');
});

test('a statement of several requests is a span in each of their traces; a failed one says its code', async (t) => {
  const { pool, spans } = await traced(t);
  const ask = batch(async (on, questions: readonly number[]) => {
    await on.query({ name: 'find-all', text: 'SELECT unnest($1::int[])', values: [questions] });
    return questions;
  }, 10);
  await Promise.all([1, 2, 3].map((n) => inTrace({ name: `request ${n}`, ...FACTS }, () => ask(pool, n))));
  const asked = spans().filter(({ name }) => name === 'find-all');
  assert.equal(new Set(asked.map((span) => span.spanContext().traceId)).size, 3);
  for (const { attributes } of asked) assert.equal(attributes['db.operation.batch.size'], 3);

  await assert.rejects(inTrace({ name: 'refused', ...FACTS }, () => pool.query("SELECT 'a secret'::int")));
  const [refused] = spans().filter(({ name, status }) => name === 'SELECT' && status.code === 2);
  assert.deepEqual([refused?.attributes['error.type'], refused?.status.message], ['22P02', undefined]);
  assert.doesNotMatch(
    JSON.stringify(spans().map(({ name, attributes, status, events }) => ({ name, attributes, status, events }))),
    /secret/,
  );
});

test('without a collector nothing of OpenTelemetry is loaded, and work goes its way without a span', async () => {
  const { cache } = createRequire(import.meta.url);
  // Its interface without the SDK is what prom-client loads.
  const loaded = () => Object.keys(cache).filter((file) => SDK.test(file));
  assert.ok(loaded().length > 0, 'this test has loaded it: that is how it would be noticed');
  const { execFileSync } = await import('node:child_process');
  const app = new URL('../../../src/app.js', import.meta.url).href;
  const serving = new URL('../../../src/cli/serving.js', import.meta.url).href;
  const program = `
    import { createRequire } from 'node:module';
    await import(${JSON.stringify(app)});
    await import(${JSON.stringify(serving)});
    const files = Object.keys(createRequire(${JSON.stringify(import.meta.url)}).cache);
    process.stdout.write(JSON.stringify([files.length > 0, files.filter((file) => ${SDK}.test(file)).length]));
    process.exit(0);`;
  assert.equal(execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' }), '[true,0]');
  const before = { run: false };
  await inSpan({ name: 'none', ...FACTS }, async (span) => {
    span.set({ 'error.type': 'none' });
    before.run = true;
  });
  assert.ok(before.run);
});
