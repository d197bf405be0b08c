/** A process that serves requests: from its connections to the open port, and its graceful shutdown. */
import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { type App, createApp } from '../app.ts';
import { sealAuditLog } from '../features/audit/audit-seals.service.ts';
import { startKeyRotation } from '../features/authorization-servers/signing-keys.service.ts';
import { rollUpInTime } from '../features/dashboard/activity-counts.service.ts';
import { sweepExpired } from '../features/expiry/expiry.service.ts';
import type { Config } from '../platform/config/config.ts';
import { selfTest } from '../protocol/library/self-test.ts';
import { type OpenResources, StartFailure } from './lifecycle.ts';
import { connectToDatabase, listenForChanges, openKeyring, type StartupContext, withReadReplica } from './startup.ts';
import { version } from './version.ts';

/** Milliseconds that pending requests get to end. */
const DRAIN = 10_000;
/** Milliseconds between checks for idle connections: kept-alive ones do not close on their own. */
const CHECK_MS = 50;
/**
 * Milliseconds until idle connections are closed. Their next request may already be on its way, and its response closes the connection. A proxy sends
 * requests on them until its health checks fail, and loses a request if the connection closes at that moment.
 */
const GRACE = { direct: 200, behindProxies: 3000 };
/** Milliseconds that a connection without any request stays open: browsers open some in advance, but a first request may be on its way. */
const SILENCE = 1000;
/** Milliseconds: a slower request, or a slower head of one, gets 408 (RFC 9110 section 15.5.9). */
const SLOW_CLIENTS = { headersTimeout: 10_000, requestTimeout: 60_000, connectionsCheckingInterval: 2000 };
/**
 * Keep-alive timeout in milliseconds. A proxy with a longer one may send a request while the connection closes, and respond 502: common proxies keep
 * it for 60 s, Google's load balancer for 600.
 */
const IDLE = { direct: 65_000, behindProxies: 620_000 };

/** @param turn awaited before the port is opened @throws {StartFailure} the port is in use */
export async function serve(foundation: StartupContext, open: OpenResources, turn = async (): Promise<void> => {}): Promise<void> {
  const { config, log, pooled } = foundation;
  await selfTest();
  // Closed last, so that the last spans of the others are exported.
  let telemetry: { stop(): Promise<void> } | undefined;
  open.add(() => telemetry?.stop());
  const keyring = await openKeyring(config);
  const primary = await connectToDatabase(pooled, log);
  open.add(() => primary.close());
  const database = await withReadReplica(foundation, primary, open);
  const notifications = await listenForChanges(foundation, database);
  open.add(() => notifications.close());

  const services = { config, log, keyring, notifications, database };
  const app = createApp(services);
  telemetry = await exportTelemetry(foundation, app);
  const place = config.trustProxy > 0 ? 'behindProxies' : 'direct';
  const { announceEnd, ...answers } = lastResponses();
  const server = createServer({ ...SLOW_CLIENTS, ...answers, keepAliveTimeout: IDLE[place] }, app.listener);
  const silent = silentConnections(server);
  await turn();
  await listen(server, config);
  const sweeper = sweepExpired(services);
  open.add(() => sweeper.stop());
  const rotation = startKeyRotation({ database, notifications, keyring, log });
  open.add(() => rotation.stop());
  const counter = rollUpInTime(database, log);
  open.add(() => counter.stop());
  const counted = app.writeCounted();
  open.add(() => counted.stop());
  const sender = app.sendOutbox();
  open.add(() => sender.stop());
  const sealer = sealAuditLog({ database, keyring, log });
  open.add(() => sealer.stop());
  open.add(() => {
    log.info('stopping');
    app.stopAccepting();
    announceEnd();
    return drain(server, silent, GRACE[place]);
  });
}

/** OpenTelemetry is loaded only if something is exported. */
async function exportTelemetry({ config, log }: StartupContext, { registry }: App): Promise<{ stop(): Promise<void> } | undefined> {
  const { telemetry } = config;
  if (telemetry === undefined) return undefined;
  const { startTelemetry } = await import('../platform/telemetry/sdk.ts');
  return startTelemetry({ telemetry, log, registry, version: version(), isBehindProxy: config.trustProxy > 0 });
}

function listen(server: Server, { port, host }: Config): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(explain(error, port, host)));
    server.listen(port, host, resolve);
  });
}

function explain(error: NodeJS.ErrnoException, port: number, host: string): Error {
  if (error.code === 'EADDRINUSE')
    return new StartFailure(`Port ${port} on ${host} is in use. Stop the process that uses it, or set PORT to another port.`);
  if (error.code === 'EACCES')
    return new StartFailure(`This user is not allowed to listen on port ${port}. Set PORT to a port above 1023.`);
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND')
    return new StartFailure(`HOST ${host} is not an address of this machine. Set HOST to one, such as 127.0.0.1 or 0.0.0.0.`);
  return error;
}

/** @returns the connections without any request so far; Node does not close these as idle */
function silentConnections(server: Server): ReadonlySet<Socket> {
  const silent = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
  });
  server.on('request', ({ socket }) => silent.delete(socket));
  return silent;
}

/**
 * After announceEnd(), every response, including those in progress, closes its connection (RFC 9112 section 9.6). There is no list of open responses:
 * V8 would move each response and its request to the old generation and keep them until the next full collection.
 */
function lastResponses(): { readonly ServerResponse: typeof ServerResponse; readonly announceEnd: () => void } {
  let isEnding = false;
  class Answer<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
    // Called for every response, even those that Node itself writes.
    override writeHead(...head: [statusCode: number, ...rest: never[]]): this {
      if (isEnding) this.shouldKeepAlive = false;
      return super.writeHead(...head);
    }
  }
  return {
    ServerResponse: Answer,
    announceEnd() {
      isEnding = true;
    },
  };
}

/** Accepts no new connections, lets pending requests end, and closes the rest after a while. */
async function drain(server: Server, silent: ReadonlySet<Socket>, grace: number): Promise<void> {
  // Closing an HTTP server would cut connections that are idle at this moment, although requests may be on their way.
  const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
  let looking: NodeJS.Timeout | undefined;
  const graceful = setTimeout(() => {
    server.closeIdleConnections();
    looking = setInterval(() => server.closeIdleConnections(), CHECK_MS);
  }, grace);
  const unused = setTimeout(() => {
    for (const socket of silent) socket.destroy();
  }, SILENCE);
  const late = setTimeout(() => server.closeAllConnections(), DRAIN);
  await closed;
  // Only now, because it also stops the timeouts of slow clients.
  server.close();
  for (const timer of [graceful, looking, unused, late]) clearTimeout(timer);
}
