/**
 * Starts the service: configuration → database → first start → app → listen; and stops it in the reverse order. `migrate` as the first
 * argument brings the schema up to date and ends.
 */

import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import path from 'node:path';
import type pg from 'pg';
import { type Logger, pino } from 'pino';
import { createApp } from './app.ts';
import { type Config, ConfigurationError, loadConfig } from './config.ts';
import { selfTest } from './oauth/self-test.ts';
import { Keyring } from './secrets.ts';
import type { Services } from './services/dependencies.ts';
import { type FirstAdministrator, firstStart } from './services/first-start.ts';
import { registerPlayground } from './services/playground.ts';
import { type Database, migrate, openDatabase } from './store/database.ts';
import { startEmbeddedPostgres } from './store/embedded-postgres.ts';
import { sweepExpired } from './store/expiry.ts';
import { openNotifications } from './store/notifications.ts';

/** Milliseconds that requests under way are given to end. */
const DRAIN = 10_000;

/** A line for the person who started the service; everything else goes to the log. */
const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function main(): Promise<void> {
  const config = loadConfig(process.env);
  const log = pino({ level: config.logLevel, base: { pid: process.pid } });
  warnOfLaxSettings(config, log);

  const embedded = config.databaseUrl === undefined ? await startEmbeddedPostgres({ dataDir: config.dataDir, say }) : undefined;
  const pooled: pg.ClientConfig = embedded?.connection ?? { connectionString: config.databaseUrl ?? '' };
  const direct: pg.ClientConfig = embedded?.connection ?? { connectionString: config.databaseDirectUrl ?? '' };
  const open = (connection: pg.ClientConfig): Promise<Database> =>
    openDatabase({ connection, onError: (error) => log.warn({ err: error }, 'a database connection broke') });

  const session = await open(direct);
  await migrate(session);
  if (process.argv[2] === 'migrate') {
    say('The schema is up to date.');
    await session.close();
    return embedded?.stop();
  }

  const keyring = new Keyring(config.secretKeys ?? [await ownSecretKey(config.dataDir)]);
  selfTest();
  const notifications = await openNotifications(direct, log);
  const database = await open(pooled);
  const services: Services = { config, log, keyring, notifications, database };
  await firstStart({ ...services, database: session }, (administrator) => tellAdministrator(administrator));
  await registerPlayground(services);
  await session.close();

  const app = createApp(services);
  const server = createServer(app.listener);
  await listen(server, config);
  const sweeper = sweepExpired(database.pool, log);
  tellAddress(config);

  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    log.info({ signal }, 'stopping');
    app.stopAccepting();
    await drain(server);
    await sweeper.stop();
    await notifications.close();
    await database.close();
    await embedded?.stop();
  };
  onceTold(stop, log);
}

/** Stops in order at the first SIGTERM or SIGINT, and ends the process with 0 when that is done. */
function onceTold(stop: (signal: NodeJS.Signals) => Promise<void>, log: Logger): void {
  let told = false;
  const end = (signal: NodeJS.Signals): void => {
    if (told) return;
    told = true;
    stop(signal).then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'the service could not stop in order');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
}

/** The key of a service on its own embedded database: made once, kept beside it, readable by its owner alone. */
async function ownSecretKey(dataDir: string): Promise<Buffer> {
  await mkdir(dataDir, { recursive: true });
  const file = path.join(dataDir, 'secret.key');
  try {
    // Fails when the file is there: of two services that start together, both read what one of them wrote.
    writeFileSync(file, randomBytes(32).toString('base64url'), { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  const key = Buffer.from(readFileSync(file, 'utf8').trim(), 'base64url');
  if (key.length !== 32) throw new Error(`${file} does not hold a key of 32 bytes`);
  return key;
}

function listen(server: Server, { port, host }: Config): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        error.code === 'EADDRINUSE'
          ? new StartFailure(`Port ${port} on ${host} is in use: stop what uses it, or set PORT to another one.`)
          : error,
      );
    });
    server.listen(port, host, resolve);
  });
}

/** Takes no new request, lets those under way end, and closes what is still open after a while. */
async function drain(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const late = setTimeout(() => server.closeAllConnections(), DRAIN);
  await closed;
  clearTimeout(late);
}

function warnOfLaxSettings(config: Config, log: Logger): void {
  if (config.allowInsecureHttp && !config.secure) log.warn('ALLOW_INSECURE_HTTP is on: passwords and tokens travel in the clear');
  if (!config.rateLimits) log.warn('RATE_LIMITS is off: guessing is limited by the lockout of accounts only');
}

function tellAdministrator({ username, generatedPassword }: FirstAdministrator): void {
  if (generatedPassword === undefined) say(`The first administrator is ${username}, with the password of ADMIN_PASSWORD.`);
  else say(`The first administrator: ${username}\nPassword, shown only now: ${generatedPassword}`);
}

function tellAddress(config: Config): void {
  say(`Gatehouse is ready: ${config.baseUrl}`);
  if (config.playground && config.loopback) say(`Try a sign-in:       ${config.baseUrl}/playground`);
}

/** A start that failed for a reason the operator can mend: told in one line, without a stack. */
class StartFailure extends Error {}

main().catch((error: unknown) => {
  if (error instanceof ConfigurationError) {
    process.stderr.write(`The configuration is wrong:\n${error.problems.map((problem) => `  ${problem}\n`).join('')}`);
  } else if (error instanceof StartFailure) process.stderr.write(`${error.message}\n`);
  else process.stderr.write(`Gatehouse could not start: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
