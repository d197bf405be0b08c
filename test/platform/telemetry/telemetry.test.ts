/** Traces and metrics by OTLP, as a collector gets them from the service in a process of its own: the standard variables, the spans of a request, and no secret. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient, tokensFor } from '../../protocol/servers/relying-party.ts';
import { setPolicies } from '../../support/access-policies.ts';
import { createInlineHook, inlineReceiver, TOKENS } from '../../support/inline-hooks.ts';
import { startMailServer } from '../../support/mail.ts';
import { type Collector, type ReceivedSpan, startCollector } from '../../support/otlp.ts';
import { eventually } from '../../support/process.ts';
import { ADMIN, API_TOKEN, STARTED } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { isRequest, PARENT, runExporting, toCollector } from './exporting.ts';

/** All attributes that may leave the service. */
const ALLOWED = [
  ...['http.request.method', 'http.route', 'http.response.status_code', 'server.address', 'server.port', 'error.type'],
  ...['db.system.name', 'db.query.summary', 'db.operation.batch.size'],
  ...['gatehouse.queue.wait', 'gatehouse.outbox.kind', 'gatehouse.outbox.outcome'],
];

const childrenOf = (collector: Collector, { spanId }: ReceivedSpan) => collector.spans().filter((span) => span.parentSpanId === spanId);

test('a token request is a tree of spans: its statements and the hook that it asked, which knows the trace; and nothing in any byte is secret', async (t) => {
  const collector = await startCollector(t);
  const mail = await startMailServer(t);
  const receiver = await inlineReceiver(t);
  const service = await runExporting(t, {
    ...toCollector(collector),
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

test('the metrics that go out are those of /metrics, a bucket leads to a trace by its exemplar, and no caller’s traceparent is continued', async (t) => {
  const collector = await startCollector(t);
  const service = await runExporting(t, toCollector(collector));
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

  await fetch(`${service.baseUrl}/health/live`, { headers: { traceparent: `00-${PARENT.trace}-${PARENT.span}-01` } });
  const asked = await collector.span('of the request of a caller with a trace', isRequest('GET /health'));
  assert.notEqual(asked.traceId, PARENT.trace);
  assert.equal(asked.parentSpanId, undefined);
});
