/**
 * The hosted pages on a server of their own, with the real services on a real database. Instead of authorization servers there is
 * an implementation of the pages' own interface that keeps interactions and sessions in memory, bound to cookies; the interaction
 * `unreachable` asks a database that is not there.
 */

import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { pino } from 'pino';
import { SYSTEM } from '../../../src/features/audit/audit-event.policy.ts';
import { errorPage } from '../../../src/features/sign-in/error-page.hosted.ts';
import { explainFailures, unknownPage } from '../../../src/features/sign-in/failures.hosted.ts';
import { type InteractionDetails, InteractionEnded, type Interactions } from '../../../src/features/sign-in/interactions.hosted.ts';
import type { InteractionResult } from '../../../src/features/sign-in/interactions.resource.ts';
import { logoutPage } from '../../../src/features/sign-in/logout-page.hosted.ts';
import { hostedPages } from '../../../src/features/sign-in/routes.hosted.ts';
import { createUser } from '../../../src/features/users/users.service.ts';
import { accountPages } from '../../../src/pages/account/routes.ts';
import { createHostedDeps } from '../../../src/pages/hosted/deps.ts';
import type { ApplicationLink } from '../../../src/pages/hosted/page-models.ts';
import type { BrowserSessions } from '../../../src/pages/hosted/sessions.ts';
import { type Config, loadConfig } from '../../../src/platform/config/config.ts';
import { Keyring } from '../../../src/platform/crypto/secrets.ts';
import { openDatabase } from '../../../src/platform/database/database.ts';
import type { Services } from '../../../src/platform/database/dependencies.ts';
import { openNotifications } from '../../../src/platform/database/notifications.ts';
import { createFormTokens } from '../../../src/platform/http/csrf.ts';
import { securityHeaders } from '../../../src/platform/http/security-headers.ts';
import { publicFiles } from '../../../src/platform/http/static.ts';
import { createPages } from '../../../src/platform/http/views.ts';
import { onServer, testDatabase } from '../../support/database.ts';
import { type Received, sendRequest } from '../../support/requests.ts';

export const ALICE = { login: 'alice@example.com', password: 'correct horse battery' };

const REQUEST_ID = { 'x-request-id': 'req-0815' };

export interface House {
  readonly config: Config;
  readonly aliceId: string;
  /** Interactions under way by uid; a test adds and changes them. */
  readonly interactions: Map<string, InteractionDetails>;
  /** What the pages reported, in order. */
  readonly results: { readonly uid: string; readonly result: InteractionResult }[];
  /** Asks for a path; does not follow redirects. */
  get(path: string, headers?: Record<string, string>): Promise<Received>;
  /** Posts a form as a browser does from a page of this service. */
  post(path: string, form: Record<string, string> | URLSearchParams, headers?: Record<string, string>): Promise<Received>;
  /** @returns his id */
  createAdministrator(user: { readonly login: string; readonly password: string }): Promise<string>;
  close(): Promise<void>;
}

export const LOGIN: InteractionDetails = {
  uid: 'uid-1',
  serverId: 'default',
  prompt: 'login',
  application: { id: 'app', label: 'Fern & Sons', clientUri: 'https://fern.example/' },
  redirectOrigins: ['https://fern.example'],
};

export const CONSENT: InteractionDetails = {
  ...LOGIN,
  uid: 'uid-2',
  prompt: 'consent',
  account: { id: 'usr_1', login: ALICE.login, name: 'Alice Liddell' },
  consent: {
    scopes: [
      {
        name: 'profile',
        displayName: 'Your profile',
        description: 'Your name, user name, picture, web pages, gender, birthdate, language and time zone',
        optional: false,
      },
      { name: 'orders:read', displayName: 'Read your orders', description: '', optional: false },
      { name: 'orders:write', displayName: 'Change your orders', description: 'Place and cancel orders in your name', optional: true },
      { name: 'mail', displayName: '', description: '', optional: true },
    ],
    details: [],
    resources: [],
    wholeProfile: true,
    staysConnected: true,
  },
};

/** The cookie that binds a browser to an interaction. */
export const cookieOf = (uid: string): Record<string, string> => ({ cookie: `interaction=${uid}` });

const cookieIn = (req: IncomingMessage, name: string): string | undefined =>
  (req.headers.cookie ?? '')
    .split('; ')
    .find((pair) => pair.startsWith(`${name}=`))
    ?.slice(name.length + 1);

class MemoryInteractions implements Interactions {
  readonly underWay = new Map<string, InteractionDetails>();
  readonly results: { uid: string; result: InteractionResult }[] = [];

  async details(req: IncomingMessage, _res: ServerResponse, _serverId: string, uid: string): Promise<InteractionDetails> {
    if (uid === 'unreachable') await onServer('postgres://127.0.0.1:1/none', async () => undefined);
    const cookie = cookieIn(req, 'interaction');
    if (cookie === undefined) throw new InteractionEnded('other-browser');
    const details = this.underWay.get(cookie);
    if (details === undefined) throw new InteractionEnded(uid === 'changed' ? 'session-changed' : 'expired');
    return details;
  }

  async waiting(_serverId: string, uid: string) {
    const found = [...this.underWay.values()].find((details) => details.uid === uid);
    return found && { applicationId: found.application.id, redirectOrigins: found.redirectOrigins };
  }

  async finish(_req: IncomingMessage, _res: ServerResponse, serverId: string, uid: string, result: InteractionResult): Promise<string> {
    this.results.push({ uid, result });
    return `/oauth/v1/${serverId}/authorize/${uid}`;
  }
}

const sessions: BrowserSessions = {
  current: async (req) => {
    const accountId = cookieIn(req, 'session');
    return accountId === undefined ? undefined : { uid: 'session', accountId, amr: ['pwd'], signedInAt: Math.floor(Date.now() / 1000) };
  },
  signIn: async (_req, res, accountId) => void res.appendHeader('Set-Cookie', `session=${accountId}; Path=/; HttpOnly`),
  strengthen: async () => {},
};

/** The only application there is to return to. */
const wayBack = async (serverId: string, id: string): Promise<ApplicationLink | undefined> =>
  serverId === 'default' && id === 'app' ? { label: 'Fern & Sons', clientUri: 'https://fern.example/' } : undefined;

/** Starts the pages. The caller closes them. */
export async function openHouse(): Promise<House> {
  const log = pino({ level: 'silent' });
  const testbed = await testDatabase();
  const database = await openDatabase({ connection: testbed.connection, onError: () => {} });
  const notifications = await openNotifications(testbed.connection, log);
  const server = http.createServer();
  server.listen(0, 'localhost');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const config = loadConfig({ PORT: String(port), LOG_LEVEL: 'silent', PLAYGROUND: 'true' });
  const keyring = new Keyring([Buffer.alloc(32, 7)]);
  const services: Services = { database, notifications, keyring, config, log };
  const profile = { login: ALICE.login, email: ALICE.login, firstName: 'Alice', lastName: 'Liddell' };
  const alice = await createUser(services, { profile, password: ALICE.password, activate: true }, SYSTEM);

  const pages = createPages({ config });
  const interactions = new MemoryInteractions();
  const deps = createHostedDeps({ services, sessions, pages, config, outbound: fetch });
  const tokens = createFormTokens(config, keyring);
  const app = new Koa();
  app.use(securityHeaders(config)).use(publicFiles).use(explainFailures({ pages, log, wayBack }));
  app.use(hostedPages({ ...deps, interactions, findDeviceRequest: async () => undefined }));
  app.use(accountPages({ ...deps, playgroundPresent: () => true, wayBack: (id) => wayBack('default', id) }));
  app.use(async (ctx, next) => {
    const application = { label: 'Fern & Sons', clientUri: 'https://fern.example/' };
    if (ctx.path === '/oauth/v1/authorize') {
      return errorPage(pages, ctx, {
        status: 400,
        code: 'invalid_redirect_uri',
        description: 'redirect_uri is not registered',
        application,
      });
    }
    if (ctx.path !== '/oauth/v1/logout') return next();
    const account = { login: ALICE.login, name: 'Alice Liddell' };
    const facts = {
      action: '/oauth/v1/logout',
      application,
      account,
      csrfField: tokens.field(ctx),
      redirectOrigins: ['https://fern.example'],
    };
    return logoutPage(pages, ctx, facts);
  });
  app.use(unknownPage(pages));
  server.on('request', app.callback());

  return {
    config,
    aliceId: alice.id,
    interactions: interactions.underWay,
    results: interactions.results,
    get: (path, headers = {}) => sendRequest(config.baseUrl + path, { headers: { ...REQUEST_ID, ...headers } }),
    post: (path, form, headers = {}) =>
      sendRequest(config.baseUrl + path, {
        method: 'POST',
        body: new URLSearchParams(form),
        headers: { ...REQUEST_ID, origin: config.baseUrl, ...headers },
      }),
    createAdministrator: async ({ login, password }) => {
      const input = { profile: { login }, password, activate: true, roles: [{ type: 'SUPER_ADMIN' as const }] };
      return (await createUser(services, input, SYSTEM)).id;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await notifications.close();
      await database.close();
      await testbed.drop();
    },
  };
}
