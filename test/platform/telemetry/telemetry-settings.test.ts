/** The standard variables of OTLP, and collectors that are away, refuse or never answer. Neither the database nor the version of Node matters to them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { afterwards } from '../../support/afterwards.ts';
import { startCollector } from '../../support/otlp.ts';
import { eventually, freePort } from '../../support/process.ts';
import { isRequest, OFTEN, PARENT, runExporting, toCollector } from './exporting.ts';

for (const { env, continued } of [
  { env: { TRUST_PROXY: '1' }, continued: true },
  { env: { TRUST_PROXY: '1', OTEL_PROPAGATORS: 'none' }, continued: false },
]) {
  test(`a request with traceparent ${continued ? 'continues' : 'does not continue'} that trace: ${JSON.stringify(env)}`, async (t) => {
    const collector = await startCollector(t);
    const service = await runExporting(t, { ...toCollector(collector), OTEL_METRICS_EXPORTER: 'none', ...(env as Record<string, string>) });
    await fetch(`${service.baseUrl}/health/live`, { headers: { traceparent: `00-${PARENT.trace}-${PARENT.span}-01` } });
    const span = await collector.span('of the request', isRequest('GET /health'));
    assert.equal(span.traceId === PARENT.trace, continued);
    assert.equal(span.parentSpanId, continued ? PARENT.span : undefined);
    assert.ok(collector.requests.every(({ path }) => path === '/v1/traces'));
  });
}

test('by default it speaks protobuf; samplers and paths of endpoints are heeded', async (t) => {
  const collector = await startCollector(t);
  const service = await runExporting(t, {
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/own/path`,
    OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    ...OFTEN,
  });
  await fetch(`${service.baseUrl}/health/live`);
  const sent = await eventually(() => collector.requests.find(({ body }) => body.includes('GET /health')), 'the span comes');
  assert.deepEqual(
    [sent.path, sent.headers['content-type'], sent.headers['content-encoding']],
    ['/own/path', 'application/x-protobuf', 'gzip'],
  );
  assert.ok(sent.body.includes('service.name') && sent.body.includes('gatehouse'));
  await service.stop();

  const other = await startCollector(t);
  const silent = await runExporting(t, { ...toCollector(other), OTEL_TRACES_SAMPLER: 'always_off' });
  await fetch(`${silent.baseUrl}/health/live`);
  await eventually(() => other.metrics().size > 0, 'metrics come');
  await silent.stop();
  assert.deepEqual(other.spans(), []);
});

test('a collector that is away, or refuses, costs no request anything, is told of once, and delays the end by three seconds at most', async (t) => {
  const refusing = await startCollector(t, 400);
  for (const url of [`http://127.0.0.1:${await freePort()}`, refusing.url]) {
    const service = await runExporting(t, {
      ...OFTEN,
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      OTEL_METRICS_EXPORTER: 'none',
      OTEL_EXPORTER_OTLP_TIMEOUT: '100',
    });
    await eventually(async () => {
      assert.equal((await fetch(`${service.baseUrl}/health/ready`)).status, 200);
      return service.output.stdout.includes('could not export telemetry');
    }, 'the failure is told');
    for (let n = 0; n < 50; n += 1) assert.equal((await service.api('GET', '/users?limit=1')).status, 200);
    assert.equal(await service.stop(), 0);
    assert.equal(service.output.stdout.split('could not export telemetry').length, 2);
  }
});

test('a collector that takes connections and never answers does not keep the process', async (t) => {
  const { createServer } = await import('node:net');
  const sockets: { destroy(): void }[] = [];
  const server = createServer((socket) => void sockets.push(socket)).listen(0, '127.0.0.1');
  afterwards(t, () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  const service = await runExporting(t, { ...OFTEN, OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` });
  await fetch(`${service.baseUrl}/health/live`);
  await eventually(() => sockets.length > 0, 'it is asked');
  // By its own end, not by the last moment, which is a failure.
  assert.equal(await service.stop(), 0);
});
