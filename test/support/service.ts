/** The whole service in this process, on a port and a database of its own; tests reach it over HTTP only. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { TestContext } from 'node:test';
import { pino } from 'pino';
import { createApp } from '../../src/app.ts';
import { registerSystemApplications } from '../../src/features/applications/system-applications.service.ts';
import { rollUpInTime } from '../../src/features/dashboard/activity-counts.service.ts';
import { firstStart } from '../../src/features/settings/first-start.service.ts';
import { type Config, loadConfig } from '../../src/platform/config/config.ts';
import { Keyring } from '../../src/platform/crypto/secrets.ts';
import { type Database, openDatabase } from '../../src/platform/database/database.ts';
import { openNotifications } from '../../src/platform/database/notifications.ts';
import type { Connection } from '../../src/platform/database/writable-server.ts';
import { afterwards } from './afterwards.ts';
import { startedDatabase, type TestDatabase, testDatabase } from './database.ts';
import { sendRequest } from './requests.ts';

export const API_TOKEN = 'test-api-token-0123456789-0123456789';
export const ADMIN = { username: 'admin', password: 'the-administrators-password' };
/** What the services of most tests begin with: their first start was carried out once for all (support/run.ts), which spares each four RSA keys. */
export const STARTED = {
  SECRET_KEY: createHash('sha256').update('the key of all test services').digest('base64url'),
  ADMIN_PASSWORD: ADMIN.password,
  ADMIN_API_TOKEN: API_TOKEN,
};

/** Of the service that carried their first start out (support/run.ts). */
export const firstConfig = (databaseUrl: string): Config => loadConfig({ ...STARTED, DATABASE_URL: databaseUrl });

/** Its own applications know where the service is. To move them costs one statement; to register them in each test, sixteen. */
async function moveSystemApplications({ pool }: Database, { baseUrl, databaseUrl }: Config): Promise<void> {
  const from = firstConfig(databaseUrl ?? '').baseUrl;
  await pool.query(
    "UPDATE applications SET settings = replace(settings::text, $1, $2)::jsonb WHERE system AND starts_with(settings->>'client_uri', $1)",
    [from, baseUrl],
  );
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: what the API answers is asserted field by field in the tests
  readonly body: any;
}

/** A running service as it is seen from outside. */
export interface ServiceCalls {
  /** As configured; where nothing else is said, where it listens. */
  readonly baseUrl: string;
  readonly listensAt: string;
  /** The issuer of a server: `built-in`, or a custom one's id. */
  issuer(serverId: string): string;
  /** Calls the management API as the first administrator. */
  api(method: string, path: string, body?: unknown): Promise<Answer>;
  /** A user who can sign in. */
  createUser(profile?: Record<string, unknown>): Promise<{ id: string; login: string; password: string }>;
  /** An application with these settings; @returns its client_id and, for a confidential one, its secret */
  createApp(
    settings: Record<string, unknown>,
    credentials?: Record<string, unknown>,
  ): Promise<{ clientId: string; clientSecret: string | undefined }>;
}

export interface Service extends ServiceCalls {
  readonly database: TestDatabase;
}

export interface ServiceOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Does what the outbox holds leave this process? */
  readonly sendsOutbox?: boolean;
  /** A process beside another one: the same database and the same secrets. */
  readonly beside?: { readonly database: TestDatabase; readonly secretKey: string };
  /** Gets each line of the log; LOG_LEVEL decides which. */
  readonly onLog?: (line: string) => void;
}

export const newSecretKey = (): string => randomBytes(32).toString('base64url');

/** Through the pooler in transaction mode at TEST_POOLER (`host:port`), where one is given: a run by hand, see test/rehearsals/pooler.ts. */
function pooled(direct: string): Connection {
  const url = new URL(direct);
  if (process.env.TEST_POOLER === undefined) return { connectionString: direct };
  url.host = process.env.TEST_POOLER;
  return { connectionString: url.href, pooler: true };
}

/** Starts a service that ends with the test. */
export async function startService(
  t: TestContext,
  { env = {}, sendsOutbox = false, beside, onLog }: ServiceOptions = {},
): Promise<Service> {
  const isOrdinary = Object.keys(env).every((name) => !(name in STARTED) && name !== 'ADMIN_USERNAME');
  const database = beside?.database ?? (await (isOrdinary ? startedDatabase() : testDatabase()));
  if (beside === undefined) afterwards(t, () => database.drop());

  let listener: RequestListener = (_req, res) => res.writeHead(503).end();
  const server = createServer((req, res) => listener(req, res)).listen(0, '127.0.0.1');
  // As in production: with Node's five seconds a busy test process closes connections while its requests are on their way.
  server.keepAliveTimeout = 65_000;
  await once(server, 'listening');
  afterwards(t, async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  assert(address !== null && typeof address === 'object');

  const config = loadConfig({
    PORT: String(address.port),
    DATABASE_URL: database.url,
    ...STARTED,
    ...(beside !== undefined && { SECRET_KEY: beside.secretKey }),
    LOG_LEVEL: 'silent',
    ...env,
  });
  const log = pino({ level: config.logLevel }, ...(onLog === undefined ? [] : [{ write: onLog }]));
  const connection = { connectionString: database.url };
  const opened = await openDatabase({ connection: pooled(database.url), onError: () => {} });
  afterwards(t, () => opened.close());
  const notifications = await openNotifications(connection, log);
  afterwards(t, () => notifications.close());
  const services = { config, log, database: opened, notifications, keyring: new Keyring(config.secretKeys ?? []) };
  await firstStart(services, () => {});
  if (isOrdinary) await moveSystemApplications(opened, config);
  await registerSystemApplications(services);
  const app = createApp(services);
  listener = app.listener;
  if (sendsOutbox) {
    const sender = app.sendOutbox();
    afterwards(t, () => sender.stop());
    const counter = rollUpInTime(opened, log);
    afterwards(t, () => counter.stop());
    const counted = app.writeCounted();
    afterwards(t, () => counted.stop());
  }

  return { ...callsTo(config.baseUrl, `http://127.0.0.1:${address.port}`), database };
}

/** @param listensAt where it can be reached, whatever its public address is */
export function callsTo(baseUrl: string, listensAt: string = baseUrl): ServiceCalls {
  const api = async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const response = await sendRequest(`${listensAt}/api/v1${path}`, {
      method,
      headers: {
        authorization: `SSWS ${API_TOKEN}`,
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
  };
  const created = (answer: Answer) => {
    assert.ok(answer.status === 200 || answer.status === 201, `${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };

  return {
    baseUrl,
    listensAt,
    issuer: (serverId) => `${baseUrl}/oauth/v1${serverId === 'built-in' ? '' : `/${serverId}`}`,
    api,
    async createUser(profile = {}) {
      const login = `user-${randomBytes(6).toString('hex')}`;
      const password = randomBytes(12).toString('base64url');
      const input = { profile: { login, ...profile }, credentials: { password: { value: password } } };
      const { id } = created(await api('POST', '/users', input));
      return { id, login: String(input.profile.login), password };
    },
    async createApp(settings, credentials = {}) {
      const body = { name: 'oidc_client', label: 'Test application', signOnMode: 'OPENID_CONNECT' };
      const { id, credentials: given } = created(
        await api('POST', '/apps', { ...body, credentials: { oauthClient: credentials }, settings: { oauthClient: settings } }),
      );
      return { clientId: id, clientSecret: given.oauthClient.client_secret };
    },
  };
}

/** Two processes on one database, one service to the outside: both have the first one's issuers, and each is reached where it listens. */
export async function startTwo(t: TestContext, env: Readonly<Record<string, string>> = {}): Promise<[Service, Service]> {
  const beside = { database: await startedDatabase(), secretKey: STARTED.SECRET_KEY };
  afterwards(t, () => beside.database.drop());
  const first = await startService(t, { beside, env });
  const second = await startService(t, { beside, env: { ...env, BASE_URL: first.baseUrl } });
  return [first, { ...second, issuer: (id) => first.issuer(id).replace(first.baseUrl, second.listensAt) }];
}
