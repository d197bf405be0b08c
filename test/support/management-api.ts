/** The management API alone, served over HTTP from a fresh database, with an administrator's token to call it by. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import Koa from 'koa';
import { pino } from 'pino';
import { type ManagementApiOptions, managementApi } from '../../src/api/index.ts';
import { createApiToken } from '../../src/features/api-tokens/api-tokens.service.ts';
import { SYSTEM } from '../../src/features/audit/audit-event.policy.ts';
import { createUser } from '../../src/features/users/users.service.ts';
import { loadConfig } from '../../src/platform/config/config.ts';
import { Keyring, randomToken } from '../../src/platform/crypto/secrets.ts';
import { openDatabase } from '../../src/platform/database/database.ts';
import type { Services } from '../../src/platform/database/dependencies.ts';
import { openNotifications } from '../../src/platform/database/notifications.ts';
import { publicFiles } from '../../src/platform/http/static.ts';
import { createPages } from '../../src/platform/http/views.ts';
import { testDatabase } from './database.ts';
import { startDns, type TestDns } from './dns.ts';
import { sendRequest } from './requests.ts';

/** The documented error object. */
export interface ErrorObject {
  errorCode: string;
  errorSummary: string;
  errorLink: string;
  errorId: string;
  errorCauses: { errorSummary: string }[];
}

export interface Answer<T> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: T;
}

export interface ManagementApi {
  readonly services: Services;
  /** Where the service looks domains up. */
  readonly dns: TestDns;
  /** The administrator whose token signs the calls. */
  readonly admin: { readonly userId: string; readonly token: string };
  /** Calls as the administrator; a body that is no string goes as JSON. Headers given replace those it would set. */
  call<T = ErrorObject>(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer<T>>;
  /** Where it is, for calls of another form. */
  readonly base: string;
  close(): Promise<void>;
}

/** @returns everything a service needs, on a database of its own */
export async function testServices(): Promise<{ services: Services; dns: TestDns; close(): Promise<void> }> {
  const testDb = await testDatabase();
  const dns = await startDns();
  const log = pino({ level: 'silent' });
  const database = await openDatabase({ connection: testDb.connection, onError: () => {} });
  const notifications = await openNotifications(testDb.connection, log);
  const services = {
    database,
    notifications,
    keyring: new Keyring([randomBytes(32)]),
    config: loadConfig({ ALLOW_PRIVATE_NETWORK: 'true', DNS_SERVERS: dns.server }),
    log,
  };
  const close = async () => {
    await notifications.close();
    await database.close();
    await testDb.drop();
    dns.close();
  };
  return { services, dns, close };
}

/** The API alone has no sign-in, hence no browser has a session. */
const SIGNED_IN_NOWHERE: ManagementApiOptions['sessions'] = { current: async () => undefined, forget: async () => undefined };

/** Listens on a port of its own. */
export async function serve(services: Services, options: Partial<ManagementApiOptions> = {}): Promise<{ base: string; close(): void }> {
  const app = new Koa();
  app.use((ctx, next) => {
    ctx.state.requestId = ctx.get('X-Request-Id') || randomToken();
    return next();
  });
  app.use(publicFiles);
  app.use(managementApi(services, { pages: createPages(services), sessions: SIGNED_IN_NOWHERE, ...options }));
  const server = createServer(app.callback()).listen(0, '127.0.0.1');
  // See service.ts.
  server.keepAliveTimeout = 65_000;
  await once(server, 'listening');
  const address = server.address();
  assert(address !== null && typeof address === 'object');
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { base: `http://127.0.0.1:${address.port}/api/v1`, close };
}

export async function startManagementApi(options: Partial<ManagementApiOptions> = {}): Promise<ManagementApi> {
  const { services, dns, close } = await testServices();
  const server = await serve(services, options);
  const { id } = await createUser(
    services,
    { profile: { login: 'root' }, passwordHash: 'nobody signs in', activate: true, roles: [{ type: 'SUPER_ADMIN' }] },
    SYSTEM,
  );
  const { value } = await createApiToken(services, { name: 'tests', userId: id }, SYSTEM);

  return {
    services,
    dns,
    admin: { userId: id, token: value },
    base: server.base,
    async call(method, path, body, headers) {
      const response = await sendRequest(server.base + path, {
        method,
        headers: { authorization: `SSWS ${value}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
    },
    async close() {
      server.close();
      await close();
    },
  };
}

/** @returns the causes of a refusal, in alphabetical order */
export const causes = (answer: Answer<ErrorObject>): string[] => answer.body.errorCauses.map(({ errorSummary }) => errorSummary).sort();
