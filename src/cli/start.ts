/** Starts the service, in one process or several, until a stop signal; or migrates the schema and exits. */
import cluster from 'node:cluster';
import type { Logger } from 'pino';
import type { FirstAdministrator } from '../features/settings/first-start.service.ts';
import { type Config, loadConfig } from '../platform/config/config.ts';
import { looksGuessable } from '../platform/crypto/secrets.ts';
import { createLog } from '../platform/log/log.ts';
import { traceIds } from '../platform/telemetry/tracing.ts';
import { command } from './command.ts';
import { OpenResources, runUntilStopped } from './lifecycle.ts';
import { completeFirstStart, findDatabase, migrateSchema, type StartupContext } from './startup.ts';
import { startWorkers, waitForTurn } from './workers.ts';

/** The oldest major version that oidc-provider supports. */
const RECOMMENDED_NODE = 22;

/** Prints a line for the person who started the service; everything else is logged. */
const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function startAlone(config: Config, log: Logger, open: OpenResources): Promise<void> {
  warnOfLaxSettings(config, log);
  warnOfRoot(log);
  recommendNode(log);
  const foundation = await findDatabase(config, log, open, say);
  await migrateSchema(foundation);
  await completeFirstStart(foundation, printAdministrator);
  if (config.workers > 1) await startWorkers(config.workers, log, open);
  else await serveRequests(foundation, open);
  printAddress(config);
}

/** The primary has prepared everything. */
async function startAsWorker(config: Config, log: Logger, open: OpenResources): Promise<void> {
  await serveRequests(await findDatabase(config, log, open, (line) => log.info(line)), open, waitForTurn);
}

/** Loaded only to serve requests: the primary, `migrate` and an invalid configuration do not need it. */
async function serveRequests(foundation: StartupContext, open: OpenResources, turn?: () => Promise<void>): Promise<void> {
  const { serve } = await import('./serving.ts');
  await serve(foundation, open, turn);
}

async function migrateOnly(config: Config, log: Logger): Promise<void> {
  const open = new OpenResources();
  try {
    await migrateSchema(await findDatabase(config, log, open, say));
  } finally {
    await open.close();
  }
  say('The database schema is up to date.');
}

function warnOfLaxSettings(config: Config, log: Logger): void {
  if (config.allowInsecureHttp && !config.secure)
    log.warn('ALLOW_INSECURE_HTTP is on: passwords and tokens are sent without encryption. Use it for tests only');
  if (config.secretKeys?.some(looksGuessable)) log.warn('SECRET_KEY is not random: add a new key in front of it and run gatehouse reseal');
  if (!config.rateLimits) log.warn('RATE_LIMITS is off: nothing slows down password guessing. Use it for load tests only');
}

/** PostgreSQL's files may belong to another user: a service that had dropped its privileges could not restart it after a crash. */
function warnOfRoot(log: Logger): void {
  if (process.getuid?.() === 0) log.warn('Gatehouse runs as root and does not need to: start it as an ordinary user');
}

function recommendNode(log: Logger): void {
  if (Number.parseInt(process.versions.node, 10) < RECOMMENDED_NODE)
    log.info(`Node.js ${process.versions.node} works; version ${RECOMMENDED_NODE} or later is recommended`);
}

function printAdministrator({ username, generatedPassword }: FirstAdministrator): void {
  if (generatedPassword === undefined) say(`The first administrator: ${username}, with the password of ADMIN_PASSWORD`);
  else say(`The first administrator: ${username}\nPassword, shown only now: ${generatedPassword}`);
}

function printAddress(config: Config): void {
  say(`Gatehouse is ready: ${config.baseUrl}`);
  say(`Admin console:       ${config.baseUrl}/admin`);
  if (config.playground && config.loopback) say(`Try a sign-in:       ${config.baseUrl}/playground`);
}

const configured = (env: NodeJS.ProcessEnv): [Config, Logger] => {
  const config = loadConfig(env);
  const mixin = config.telemetry?.traces && { mixin: traceIds };
  return [config, createLog({ level: config.logLevel, base: { pid: process.pid }, ...mixin })];
};

export const start = command(1, async ({ env }) => {
  const [config, log] = configured(env);
  await runUntilStopped((open) => (cluster.isWorker ? startAsWorker(config, log, open) : startAlone(config, log, open)));
  return 0;
});

export const runMigrations = command(1, async ({ env }) => {
  await migrateOnly(...configured(env));
  return 0;
});
