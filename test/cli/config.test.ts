/** The environment as docs/reference/environment.md documents it: what each variable accepts, what it refuses, and that no mistake hides another. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { type Config, ConfigurationError, loadConfig } from '../../src/platform/config/config.ts';

const KEY = Buffer.alloc(32, 7).toString('base64url');
const OTHER_KEY = Buffer.alloc(32, 8).toString('base64url');
const URL_OF_DATABASE = 'postgres://user:database-password@db.example/gatehouse';
const SEVERAL = 'postgres://user:database-password@a.example:5432,[::1]:5433,c.example/gatehouse?target_session_attrs=read-write';

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    loadConfig(env);
    return [];
  } catch (error) {
    assert.ok(error instanceof ConfigurationError);
    return error.problems;
  }
}

test('nothing needs to be said', () => {
  const config = loadConfig({});
  assert.deepEqual(
    { ...config, admin: { ...config.admin } },
    {
      port: 3000,
      host: '127.0.0.1',
      baseUrl: 'http://localhost:3000',
      secure: false,
      loopback: true,
      databaseUrl: undefined,
      databaseDirectUrl: undefined,
      readDatabase: undefined,
      notifications: 'listen',
      dnsServers: [],
      dataDir: path.resolve('data'),
      secretKeys: undefined,
      admin: { username: 'admin', password: undefined, apiToken: undefined },
      trustProxy: 0,
      allowInsecureHttp: false,
      allowPrivateNetwork: false,
      workers: 1,
      logLevel: 'info',
      rateLimits: true,
      mtls: undefined,
      passkeyRpId: undefined,
      geoDatabaseFile: undefined,
      strictAssertionAudience: false,
      smtpUrl: undefined,
      mailFrom: undefined,
      playground: true,
      telemetry: undefined,
    },
  );
  assert.ok(Object.isFrozen(config));
});

const COLLECTOR = 'http://collector.example:4318';
const OTLP = { headers: {}, protocol: 'http/protobuf', compression: 'none', timeout: 10_000 } as const;
const TELEMETRY = {
  traces: { ...OTLP, url: `${COLLECTOR}/v1/traces` },
  metrics: { ...OTLP, url: `${COLLECTOR}/v1/metrics` },
  resource: { 'service.name': 'gatehouse' },
  sampler: { isParentBased: true, root: 'always_on', ratio: 1 },
  propagates: true,
  spanDelay: 5000,
  metricInterval: 60_000,
} as const;
const REPLICA = 'postgres://user:password@replica.example/gatehouse';
const ON_SERVER = { DATABASE_URL: URL_OF_DATABASE, SECRET_KEY: KEY };
const accepted: readonly (readonly [Record<string, string>, Partial<Config>])[] = [
  [{ PORT: '1' }, { port: 1, baseUrl: 'http://localhost:1' }],
  [{ PORT: '65535' }, { port: 65535 }],
  [{ PORT: '' }, { port: 3000 }],
  [{ HOST: '0.0.0.0' }, { host: '0.0.0.0', baseUrl: 'http://localhost:3000' }],
  [{ BASE_URL: 'https://ID.example:443/' }, { baseUrl: 'https://id.example', secure: true, loopback: false, playground: false }],
  [{ BASE_URL: 'https://id.example:8443' }, { baseUrl: 'https://id.example:8443' }],
  [{ BASE_URL: 'http://127.0.0.1:8080' }, { baseUrl: 'http://127.0.0.1:8080', loopback: true }],
  [{ BASE_URL: 'http://[::1]:8080' }, { loopback: true }],
  [{ BASE_URL: 'http://id.localhost' }, { loopback: true }],
  [
    { BASE_URL: 'http://id.test', ALLOW_INSECURE_HTTP: 'true' },
    { baseUrl: 'http://id.test', secure: false, loopback: false },
  ],
  [ON_SERVER, { databaseUrl: URL_OF_DATABASE, databaseDirectUrl: URL_OF_DATABASE }],
  [
    { ...ON_SERVER, DATABASE_DIRECT_URL: 'postgresql://direct.example/gatehouse' },
    { databaseDirectUrl: 'postgresql://direct.example/gatehouse' },
  ],
  [{ ...ON_SERVER, DATABASE_URL: SEVERAL }, { databaseUrl: SEVERAL }],
  [{ NOTIFICATIONS: 'poll' }, { notifications: 'poll' }],
  [{ ...ON_SERVER, READ_DATABASE_URL: REPLICA, READ_DATABASE_MAX_LAG_MS: '500' }, { readDatabase: { url: REPLICA, maxLag: 500 } }],
  [{ DATA_DIR: '/srv/gatehouse' }, { dataDir: path.resolve('/srv/gatehouse') }],
  [{ SECRET_KEY: KEY }, { secretKeys: [Buffer.alloc(32, 7)] }],
  [{ SECRET_KEY: `${KEY}, ${OTHER_KEY}=` }, { secretKeys: [Buffer.alloc(32, 7), Buffer.alloc(32, 8)] }],
  [
    { ADMIN_USERNAME: ' root ', ADMIN_PASSWORD: '8 chars ', ADMIN_API_TOKEN: 't'.repeat(32) },
    { admin: { username: 'root', password: '8 chars ', apiToken: 't'.repeat(32) } },
  ],
  [{ TRUST_PROXY: 'off' }, { trustProxy: 0 }],
  [{ TRUST_PROXY: '2' }, { trustProxy: 2 }],
  [{ ALLOW_PRIVATE_NETWORK: '1' }, { allowPrivateNetwork: true }],
  [{ ALLOW_PRIVATE_NETWORK: 'off' }, { allowPrivateNetwork: false }],
  [{ WORKERS: '4' }, { workers: 4 }],
  [{ LOG_LEVEL: 'trace' }, { logLevel: 'trace' }],
  [{ RATE_LIMITS: 'off' }, { rateLimits: false }],
  [{ STRICT_ASSERTION_AUDIENCE: 'true' }, { strictAssertionAudience: true }],
  [
    { TRUST_PROXY: '1', MTLS_HEADER: 'Client-Cert', MTLS_PROXIES: '10.1.0.0/16, ::1', MTLS_BASE_URL: 'https://mtls.example/' },
    { mtls: { header: 'client-cert', proxies: ['10.1.0.0/16', '::1'], caFile: undefined, baseUrl: 'https://mtls.example' } },
  ],
  [
    { TRUST_PROXY: '1', MTLS_HEADER: 'Client-Cert' },
    { mtls: { header: 'client-cert', proxies: ['127.0.0.0/8', '::1'], caFile: undefined, baseUrl: undefined } },
  ],
  [
    { SMTP_URL: 'smtps://mail.example', MAIL_FROM: 'id@example.com' },
    { smtpUrl: 'smtps://mail.example', mailFrom: 'id@example.com' },
  ],
  ...[
    { OTEL_EXPORTER_OTLP_ENDPOINT: COLLECTOR, OTEL_SDK_DISABLED: 'TRUE' },
    { OTEL_EXPORTER_OTLP_ENDPOINT: COLLECTOR, OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' },
    { OTEL_EXPORTER_OTLP_HEADERS: 'a=b', OTEL_SERVICE_NAME: 'sign-in' },
  ].map((env) => [env, { telemetry: undefined }] as const),
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: `${COLLECTOR}/` }, { telemetry: TELEMETRY }],
  [
    {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces.example/own',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20Og==, x-tenant = 1,',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      OTEL_EXPORTER_OTLP_TIMEOUT: '500',
      OTEL_RESOURCE_ATTRIBUTES: 'service.name=other,deployment.environment.name=a%2Cb',
      OTEL_SERVICE_NAME: 'sign-in',
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
      OTEL_PROPAGATORS: 'none',
      OTEL_BSP_SCHEDULE_DELAY: '1000',
      OTEL_METRIC_EXPORT_INTERVAL: '10000',
    },
    {
      telemetry: {
        traces: {
          url: 'https://traces.example/own',
          headers: { authorization: 'Basic Og==', 'x-tenant': '1' },
          protocol: 'http/json',
          compression: 'gzip',
          timeout: 500,
        },
        metrics: undefined,
        resource: { 'service.name': 'sign-in', 'deployment.environment.name': 'a,b' },
        sampler: { isParentBased: false, root: 'traceidratio', ratio: 0.25 },
        propagates: false,
        spanDelay: 1000,
        metricInterval: 10_000,
      },
    },
  ],
  [
    { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: COLLECTOR, OTEL_EXPORTER_OTLP_HEADERS: 'a=b', OTEL_EXPORTER_OTLP_METRICS_HEADERS: 'c=d' },
    { telemetry: { ...TELEMETRY, traces: undefined, metrics: { ...OTLP, url: COLLECTOR, headers: { c: 'd' } } } },
  ],
  [{ PLAYGROUND: 'false' }, { playground: false }],
  [{ PLAYGROUND: 'true', BASE_URL: 'https://id.example' }, { playground: true }],
];

for (const [env, expected] of accepted) {
  test(`accepted: ${JSON.stringify(env)}`, () => {
    const config = loadConfig(env);
    for (const [name, value] of Object.entries(expected)) assert.deepEqual(config[name as keyof Config], value, name);
  });
}

const refused: readonly (readonly [Record<string, string>, RegExp])[] = [
  [{ PORT: '0' }, /^PORT must be a whole number from 1 to 65535$/],
  [{ PORT: '65536' }, /^PORT must be/],
  [{ PORT: '3000x' }, /^PORT must be/],
  [{ PORT: '-1' }, /^PORT must be/],
  [{ BASE_URL: 'id.example' }, /^BASE_URL must be a URL that begins with https/],
  [{ BASE_URL: 'ftp://id.example' }, /^BASE_URL must be a URL that begins with https/],
  [{ BASE_URL: 'https://id.example/auth' }, /^BASE_URL must name scheme, host and port only/],
  [{ BASE_URL: 'https://id.example/?a' }, /^BASE_URL must name scheme, host and port only/],
  [{ BASE_URL: 'http://id.example' }, /^BASE_URL must be https unless it is a loopback address/],
  [{ DATABASE_URL: 'mysql://db.example', SECRET_KEY: KEY }, /^DATABASE_URL must be a URL that begins with postgres:\/\//],
  [
    { ...ON_SERVER, DATABASE_URL: 'postgres://a.example:5432,b.example:x/gatehouse' },
    /^DATABASE_URL must be a URL that begins with postgres:/,
  ],
  [
    { ...ON_SERVER, DATABASE_URL: `${URL_OF_DATABASE}?target_session_attrs=standby` },
    /^DATABASE_URL must not connect to a read-only server/,
  ],
  [{ DATABASE_URL: URL_OF_DATABASE }, /^SECRET_KEY is required with DATABASE_URL/],
  [{ DATABASE_DIRECT_URL: URL_OF_DATABASE }, /^DATABASE_DIRECT_URL requires DATABASE_URL/],
  [{ ...ON_SERVER, READ_DATABASE_URL: REPLICA }, /^READ_DATABASE_MAX_LAG_MS is required with READ_DATABASE_URL/],
  [{ READ_DATABASE_URL: REPLICA, READ_DATABASE_MAX_LAG_MS: '500' }, /^READ_DATABASE_URL requires DATABASE_URL/],
  [{ READ_DATABASE_MAX_LAG_MS: '500' }, /^READ_DATABASE_MAX_LAG_MS requires READ_DATABASE_URL/],
  [{ ...ON_SERVER, READ_DATABASE_URL: SEVERAL, READ_DATABASE_MAX_LAG_MS: '500' }, /^READ_DATABASE_URL must name one server$/],
  [
    { ...ON_SERVER, READ_DATABASE_URL: REPLICA, READ_DATABASE_MAX_LAG_MS: '99' },
    /^READ_DATABASE_MAX_LAG_MS must be a whole number from 100 to 60000$/,
  ],
  [{ NOTIFICATIONS: 'push' }, /^NOTIFICATIONS must be listen or poll$/],
  [{ SECRET_KEY: 'short' }, /^SECRET_KEY must be 32 random bytes in base64url/],
  [{ SECRET_KEY: `${KEY},` }, /^SECRET_KEY must be 32 random bytes in base64url/],
  [{ ADMIN_USERNAME: '   ' }, /^ADMIN_USERNAME must not be empty$/],
  [{ ADMIN_PASSWORD: '1234567' }, /^ADMIN_PASSWORD must have at least 8 characters$/],
  [{ ADMIN_API_TOKEN: 't'.repeat(31) }, /^ADMIN_API_TOKEN must have at least 32 characters$/],
  [{ ADMIN_API_TOKEN: 'with a space '.repeat(3) }, /^ADMIN_API_TOKEN must be printable ASCII without spaces$/],
  [{ TRUST_PROXY: 'true' }, /^TRUST_PROXY must be off, or the number of proxies in front/],
  [{ TRUST_PROXY: '17' }, /^TRUST_PROXY must be off, or the number of proxies in front/],
  [{ ALLOW_INSECURE_HTTP: 'yes' }, /^ALLOW_INSECURE_HTTP must be true or false$/],
  [{ ALLOW_PRIVATE_NETWORK: 'yes' }, /^ALLOW_PRIVATE_NETWORK must be true or false$/],
  [{ WORKERS: '0' }, /^WORKERS must be a whole number from 1 to 256$/],
  [{ LOG_LEVEL: 'verbose' }, /^LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent$/],
  [{ RATE_LIMITS: 'none' }, /^RATE_LIMITS must be true or false$/],
  [{ SMTP_URL: 'mail.example', MAIL_FROM: 'id@example.com' }, /^SMTP_URL must be a URL that begins with smtp/],
  [{ SMTP_URL: 'smtp://mail.example' }, /^MAIL_FROM is required with SMTP_URL/],
  [{ MTLS_HEADER: 'Client-Cert' }, /^MTLS_HEADER requires TRUST_PROXY/],
  [{ MTLS_CA_FILE: '/ca.pem' }, /^MTLS_CA_FILE requires MTLS_HEADER/],
  [{ TRUST_PROXY: '1', MTLS_HEADER: 'a b' }, /^MTLS_HEADER must be the name of a header/],
  [{ TRUST_PROXY: '1', MTLS_HEADER: 'Client-Cert', MTLS_PROXIES: 'everywhere' }, /^MTLS_PROXIES must be IP addresses or networks/],
  ...['nobody', 'a@example.com, b@example.com', 'Name <a@example.com>\nBcc: x@example.com', 'a b@example.com'].map(
    (from) =>
      [{ SMTP_URL: 'smtp://mail.example', MAIL_FROM: from }, /^MAIL_FROM must be an e-mail address, or a name and an address/] as const,
  ),
  [{ PLAYGROUND: 'maybe' }, /^PLAYGROUND must be true or false$/],
  [{ OTEL_SDK_DISABLED: 'yes' }, /^OTEL_SDK_DISABLED must be true or false$/],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317' }, /^OTEL_EXPORTER_OTLP_ENDPOINT must be a URL that begins with https/],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://user:secret@collector.example' }, /^OTEL_EXPORTER_OTLP_ENDPOINT must have no user, query or/],
  ...['secret', 'a b=c', 'a=%zz', 'a=b%0d%0ac'].map(
    (list) => [{ OTEL_EXPORTER_OTLP_HEADERS: list }, /^OTEL_EXPORTER_OTLP_HEADERS must be name=value pairs separated by commas/] as const,
  ),
  [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, /^OTEL_EXPORTER_OTLP_PROTOCOL must be one of http\/protobuf, http\/json$/],
  [{ OTEL_TRACES_EXPORTER: 'zipkin' }, /^OTEL_TRACES_EXPORTER must be one of otlp, none$/],
  [{ OTEL_TRACES_SAMPLER: 'jaeger_remote' }, /^OTEL_TRACES_SAMPLER must be one of always_on, /],
  [{ OTEL_TRACES_SAMPLER_ARG: '1.5' }, /^OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1$/],
  [{ OTEL_PROPAGATORS: 'b3' }, /^OTEL_PROPAGATORS must be one or several of tracecontext, baggage, none, separated by commas$/],
  [{ OTEL_METRIC_EXPORT_INTERVAL: '0' }, /^OTEL_METRIC_EXPORT_INTERVAL must be a whole number from 10 to/],
];

for (const [env, problem] of refused) {
  test(`refused, by one sentence: ${JSON.stringify(env)}`, () => {
    const problems = problemsOf(env);
    assert.equal(problems.length, 1, problems.join('\n'));
    assert.match(problems[0] ?? '', problem);
  });
}

test('all that is wrong is listed at once, without the value of a secret', () => {
  const secrets = {
    SECRET_KEY: 'secret-key-too-short',
    ADMIN_PASSWORD: 'pass-1',
    ADMIN_API_TOKEN: 'token-too-short',
    DATABASE_URL: 'mysql://user:password-of-database@db.example/x',
    SMTP_URL: 'http://user:password-of-mail@mail.example',
    OTEL_EXPORTER_OTLP_HEADERS: 'key-of-the-collector',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'https://user:password-of-collector@collector.example',
  };
  const problems = problemsOf({
    ...secrets,
    PORT: 'x',
    BASE_URL: 'http://id.example',
    WORKERS: '0',
    LOG_LEVEL: 'loud',
    TRUST_PROXY: 'yes',
  });
  const named = problems.map((problem) => problem.split(' ', 1)[0]).sort();
  assert.deepEqual(named, [
    'ADMIN_API_TOKEN',
    'ADMIN_PASSWORD',
    'BASE_URL',
    'DATABASE_URL',
    'LOG_LEVEL',
    'MAIL_FROM',
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'OTEL_EXPORTER_OTLP_HEADERS',
    'PORT',
    'SECRET_KEY',
    'SMTP_URL',
    'TRUST_PROXY',
    'WORKERS',
  ]);
  for (const value of Object.values(secrets)) assert.ok(!problems.join('\n').includes(value), value);
});
