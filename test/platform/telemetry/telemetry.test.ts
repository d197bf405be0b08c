/** Traces and metrics by OTLP, as a collector gets them from the service in a process of its own: the standard variables, the spans of a request, and no secret. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createClient, tokensFor } from '../../protocol/servers/relying-party.ts';
import { setPolicies } from '../../support/access-policies.ts';
import { afterwards } from '../../support/afterwards.ts';
import { startedDatabase } from '../../support/database.ts';
import { createInlineHook, inlineReceiver, TOKENS } from '../../support/inline-hooks.ts';
import { startMailServer } from '../../support/mail.ts';
import { type Collector, type ReceivedSpan, startCollector } from '../../support/otlp.ts';
import { eventually, freePort, runService } from '../../support/process.ts';
import { ADMIN, API_TOKEN, STARTED } from '../../support/service.ts';
import { timingsOfProcess } from '../../support/short-waits.ts';
import { UserAgent } from '../../support/user-agent.ts';

/** All attributes that may leave the service. */
const ALLOWED = [
  ...['http.request.method', 'http.route', 'http.response.status_code', 'server.address', 'server.port', 'error.type'],
  ...['db.system.name', 'db.query.summary', 'db.operation.batch.size'],
  ...['gatehouse.queue.wait', 'gatehouse.outbox.kind', 'gatehouse.outbox.outcome'],
];

const OFTEN = { OTEL_BSP_SCHEDULE_DELAY: '50', OTEL_METRIC_EXPORT_INTERVAL: '100' };
const json = (collector: Collector) => ({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json', ...OFTEN });

async function run(t: TestContext, env: Record<string, string>) {
  const database = await startedDatabase();
  afterwards(t, () => database.drop());
  const port = await freePort();
  return runService(t, {
    ...STARTED,
    DATABASE_URL: database.url,
    PORT: port,
    LOG_LEVEL: 'info',
    RATE_LIMITS: 'off',
    ...timingsOfProcess({ outboxPause: 50, sealPause: 50 }),
    ...env,
  });
}

const isRequest = (name: string) => (span: ReceivedSpan) => span.name === name && span.kind === 2;
const childrenOf = (collector: Collector, { spanId }: ReceivedSpan) => collector.spans().filter((span) => span.parentSpanId === spanId);

test('a token request is a tree of spans: its statements and the hook that it asked, which knows the trace; and nothing in any byte is secret', async (t) => {
  const collector = await startCollector(t);
  const mail = await startMailServer(t);
  const receiver = await inlineReceiver(t);
  const service = await run(t, {
    ...json(collector),
    ...mail.env,
    ALLOW_PRIVATE_NETWORK: 'true',
    OTEL_SERVICE_NAME: 'sign-in',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=a%20test',
    OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=of%20the%20collector',
  });
  const id = await createInlineHook(service, receiver, TOKENS);
  await setPolicies(service, 'default', [{ rules: [{ actions: { token: { inlineHook: { id } } } }] }]);
  const user = await service.createUser({ firstName: 'Ada-the-first', lastName: 'Lovelace-the-last', email: 'ada@user.example' });
  const client = await createClient(service, { grant_types: ['authorization_code', 'refresh_token'] });
  receiver.answers({ commands: [] });
  const browser = new UserAgent(service.baseUrl);
  const { status, body } = await tokensFor(service, browser, user, client, { serverId: 'default', scope: 'openid profile offline_access' });
  assert.equal(status, 200, JSON.stringify(body));

  const request = await collector.span('of the token request', isRequest('POST /oauth/token'));
  assert.equal(request.parentSpanId, undefined);
  assert.deepEqual(request.attributes, {
    'http.request.method': 'POST',
    'http.route': '/oauth/token',
    'http.response.status_code': 200,
  });
  assert.equal(request.resource['service.name'], 'sign-in');
  assert.equal(request.resource['deployment.environment.name'], 'a test');
  assert.equal(collector.requests[0]?.headers['x-collector-key'], 'of the collector');
  const children = childrenOf(collector, request);
  const statements = children.filter(({ attributes }) => attributes['db.system.name'] === 'postgresql');
  assert.ok(statements.length >= 2, `a read and a write: ${children.map(({ name }) => name)}`);
  for (const { name, kind, attributes } of statements) {
    assert.equal(kind, 3);
    assert.equal(attributes['db.query.summary'], name);
    assert.match(name, /^[a-zA-Z_ -]+$/);
  }
  const [hook] = children.filter(({ attributes }) => attributes['http.request.method'] === 'POST');
  assert.equal(hook?.attributes['server.address'], '127.0.0.1');
  assert.equal(hook.attributes['http.response.status_code'], 200);
  const [asked] = receiver.asked;
  assert.equal(asked?.headers.traceparent, `00-${request.traceId}-${hook.spanId}-01`);
  assert.deepEqual([asked.headers.tracestate, asked.headers.baggage], [undefined, undefined]);

  // The hash of the sign-in, with its turn.
  const hash = await collector.span('of the password hash', ({ name }) => name === 'password hash');
  assert.ok(Number(hash.attributes['gatehouse.queue.wait']) >= 0);
  assert.notEqual(hash.parentSpanId, undefined);

  // What goes on behind the requests has traces of its own.
  const tried = await service.api('POST', `/users/${user.id}/lifecycle/reset_password?sendEmail=true`);
  assert.equal(tried.status, 200, JSON.stringify(tried.body));
  const delivery = await collector.span(
    'of a delivered mail',
    ({ name, attributes }) => name === 'outbox mail' && attributes['gatehouse.outbox.outcome'] === 'delivered',
  );
  assert.equal(delivery.parentSpanId, undefined);
  const sent = childrenOf(collector, delivery).find(({ name }) => name === 'SMTP');
  assert.equal(sent?.attributes['server.address'], '127.0.0.1');
  const link = (await mail.mail('ada@user.example')).link;

  assert.equal(await service.stop(), 0);
  for (const span of collector.spans()) {
    assert.deepEqual(
      Object.keys(span.attributes).filter((name) => !ALLOWED.includes(name)),
      [],
      span.name,
    );
    assert.equal(span.events, 0);
  }
  const bytes = Buffer.concat(collector.requests.map(({ body }) => body)).toString();
  const secrets = {
    ...{
      email: 'ada@user.example',
      login: user.login,
      password: user.password,
      firstName: 'Ada-the-first',
      lastName: 'Lovelace-the-last',
      userId: user.id,
    },
    ...{
      clientId: client.clientId,
      clientSecret: client.clientSecret,
      code: body.code,
      access: body.access_token,
      refresh: body.refresh_token,
    },
    ...{ idToken: body.id_token, apiToken: API_TOKEN, admin: ADMIN.password, key: STARTED.SECRET_KEY, database: service.baseUrl },
    ...{ link: new URL(link).pathname.split('/').at(-1), header: 'of the collector', cookie: 'gatehouse_session' },
  };
  for (const [name, value] of Object.entries(secrets)) if (value !== undefined) assert.ok(!bytes.includes(String(value)), name);

  // A line of the log leads to the trace.
  const line = service.output.stdout.split('\n').find((one) => one.includes('/token"'));
  assert.equal(JSON.parse(line ?? '{}').trace_id, request.traceId);
  assert.equal(JSON.parse(line ?? '{}').span_id, request.spanId);
});

test('the metrics that go out are those of /metrics, and a bucket leads to a trace by its exemplar', async (t) => {
  const collector = await startCollector(t);
  const service = await run(t, json(collector));
  for (let n = 0; n < 3; n += 1) assert.equal((await service.api('GET', '/users?limit=1')).status, 200);
  const counted = () =>
    collector
      .metrics()
      .get('gatehouse_http_requests_total')
      ?.find(({ attributes }) => attributes.family === '/api/v1/users');
  await eventually(() => counted()?.value === 3, 'three requests are counted');
  assert.deepEqual(counted()?.attributes, { method: 'GET', family: '/api/v1/users', status: 200 });
  const times = collector
    .metrics()
    .get('gatehouse_http_request_duration_seconds')
    ?.find(({ attributes }) => attributes.family === '/api/v1/users');
  assert.equal(times?.count, 3);
  assert.equal(times.counts.length, 12);
  assert.equal(
    times.counts.reduce((sum, one) => sum + one, 0),
    3,
  );

  const plain = await fetch(`${service.baseUrl}/metrics`);
  assert.match(plain.headers.get('content-type') ?? '', /^text\/plain/);
  const names = new Set([...(await plain.text()).matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
  assert.deepEqual(new Set(collector.metrics().keys()), names);

  const accept = 'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,text/plain;version=0.0.4;q=0.3';
  const open = await fetch(`${service.baseUrl}/metrics`, { headers: { accept } });
  assert.match(open.headers.get('content-type') ?? '', /^application\/openmetrics-text; version=1\.0\.0/);
  const text = await open.text();
  assert.match(text, /\n# EOF\n$/);
  assert.match(text, /^# TYPE gatehouse_http_requests counter$/m);
  assert.match(text, /^gatehouse_http_requests_total\{method="GET",family="\/api\/v1\/users",status="200"\} 3$/m);
  const [, traceId] = /_bucket\{le="[\d.]+",family="\/api\/v1\/users"\} \d+ # \{trace_id="([0-9a-f]{32})"\}/.exec(text) ?? [];
  await collector.span('of the exemplar', (span) => span.traceId === traceId && span.name === 'GET /api/v1/users');
  // The counters' names are as before.
  assert.match(await (await fetch(`${service.baseUrl}/metrics`)).text(), /^# TYPE gatehouse_http_requests_total counter$/m);
});

const PARENT = { trace: 'af7651916cd43dd8448eb211c80319c7', span: 'b7ad6b7169203331' };

for (const { env, continued } of [
  { env: {}, continued: false },
  { env: { TRUST_PROXY: '1' }, continued: true },
  { env: { TRUST_PROXY: '1', OTEL_PROPAGATORS: 'none' }, continued: false },
]) {
  test(`a request with traceparent ${continued ? 'continues' : 'does not continue'} that trace: ${JSON.stringify(env)}`, async (t) => {
    const collector = await startCollector(t);
    const service = await run(t, { ...json(collector), OTEL_METRICS_EXPORTER: 'none', ...(env as Record<string, string>) });
    await fetch(`${service.baseUrl}/health/live`, { headers: { traceparent: `00-${PARENT.trace}-${PARENT.span}-01` } });
    const span = await collector.span('of the request', isRequest('GET /health'));
    assert.equal(span.traceId === PARENT.trace, continued);
    assert.equal(span.parentSpanId, continued ? PARENT.span : undefined);
    assert.ok(collector.requests.every(({ path }) => path === '/v1/traces'));
  });
}

test('by default it speaks protobuf; samplers and paths of endpoints are heeded', async (t) => {
  const collector = await startCollector(t);
  const service = await run(t, {
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
  const silent = await run(t, { ...json(other), OTEL_TRACES_SAMPLER: 'always_off' });
  await fetch(`${silent.baseUrl}/health/live`);
  await eventually(() => other.metrics().size > 0, 'metrics come');
  await silent.stop();
  assert.deepEqual(other.spans(), []);
});

test('a collector that is away, or refuses, costs no request anything, is told of once, and delays the end by three seconds at most', async (t) => {
  const refusing = await startCollector(t, 400);
  for (const url of [`http://127.0.0.1:${await freePort()}`, refusing.url]) {
    const service = await run(t, {
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
  const service = await run(t, { ...OFTEN, OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` });
  await fetch(`${service.baseUrl}/health/live`);
  await eventually(() => sockets.length > 0, 'it is asked');
  // By its own end, not by the last moment, which is a failure.
  assert.equal(await service.stop(), 0);
});
