/**
 * The command `gatehouse doctor`, on the machine of the service or elsewhere. It checks the installation, tests every flow and error of the
 * specification with its own client, and removes what it created. Exit code: 0 when no problem was found, otherwise 1.
 */
import { pino } from 'pino';
import type { CheckContext } from '../doctor/checks/check-context.ts';
import { INSTALLATION } from '../doctor/checks/installation.ts';
import { check, examine, type Finding } from '../doctor/examination.ts';
import { Fixtures } from '../doctor/fixtures.ts';
import { HttpClient } from '../doctor/http-client.ts';
import { ManagementApi } from '../doctor/management-api.ts';
import { isAllRight, lineOf, sumOf } from '../doctor/report.ts';
import { SPECIFICATION } from '../doctor/rules/specification.ts';
import { SecretRedactor } from '../doctor/secret-redactor.ts';
import { timeoutSignal } from '../platform/clock/timeout.ts';
import { type Config, ConfigurationError, loadConfig } from '../platform/config/config.ts';
import type { Database } from '../platform/database/database.ts';
import { serversIn } from '../platform/database/writable-server.ts';
import { command } from './command.ts';
import { OpenResources, StartFailure } from './lifecycle.ts';
import { connectToDatabase, findDatabase, openKeyring } from './startup.ts';
import { print as printLine } from './terminal.ts';

/** Maximum seconds of the cleanup. */
const CLEANUP_SECONDS = 60;

interface Options {
  readonly url?: string;
  readonly token?: string;
  /** Maximum seconds of the examination. */
  readonly seconds: number;
}

function readConfiguration(env: NodeJS.ProcessEnv): { config: Config | undefined; problems: readonly string[] } {
  try {
    return { config: loadConfig(env), problems: [] };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return { config: undefined, problems: error.problems };
  }
}

/** Decodes a password from a URL, where escaping is optional. */
function unescaped(password: string): string {
  try {
    return decodeURIComponent(password);
  } catch {
    return password;
  }
}

/** Registers the configured secrets so that no output contains them. */
function secretsOf(config: Config | undefined, secrets: SecretRedactor): void {
  for (const address of [config?.databaseUrl, config?.databaseDirectUrl, config?.readDatabase?.url, config?.smtpUrl]) {
    if (address === undefined) continue;
    const { password } = new URL(serversIn(address)[0] ?? address);
    for (const value of [address, password, unescaped(password)]) secrets.add(value);
  }
  const { traces, metrics } = config?.telemetry ?? {};
  const forCollectors = [traces, metrics].flatMap((target) => Object.values(target?.headers ?? {}));
  for (const value of [config?.admin.password, config?.admin.apiToken, ...forCollectors]) secrets.add(value);
}

export const doctor = command(1, async ({ env, stdout }, options: Options) => {
  const { config, problems } = readConfiguration(env);
  const url = options.url === undefined ? config?.baseUrl : new URL(options.url).origin;
  const token = (options.token ?? env.GATEHOUSE_TOKEN) || undefined;
  const print = (line: string): void => printLine(stdout, line);
  if (url === undefined)
    throw new StartFailure(['The configuration has errors. Correct them, or name the service with --url.', ...problems].join('\n'));
  const secrets = new SecretRedactor();
  secretsOf(config, secrets);
  const ending = endOfExamination(options.seconds);
  const open = new OpenResources();
  const fixtures = token === undefined ? undefined : new Fixtures(new ManagementApi({ baseUrl: url, token, secrets }));
  const findings: Finding[] = [];
  let section = '';
  const report = (finding: Finding): void => {
    findings.push(finding);
    if (finding.section !== section) print(`\n${finding.section}`);
    section = finding.section;
    print(secrets.scrub(lineOf(finding)));
  };

  try {
    const wire = () => new HttpClient({ secrets, signal: ending });
    const database = databaseOf(config, open, async () => isReady(wire(), url));
    const context: CheckContext = { url, config, problems, fixtures, wire, database, keyring: () => openKeyring(mustBeRight(config)) };
    for await (const finding of check(INSTALLATION, context, ending)) report(finding);
    if (fixtures === undefined)
      print('\nNo API token: the flows were not tested. Set GATEHOUSE_TOKEN to the API token of an administrator to test them.');
    else {
      await fixtures.removals.noteLeftOvers().catch(() => undefined);
      const examination = { baseUrl: url, fixtures, secrets, signal: ending, made: new Map(), begun: [] };
      for await (const finding of examine(SPECIFICATION, examination)) report(finding);
    }
  } finally {
    await open.close().catch(() => undefined);
    const left = (await fixtures?.removals.removeAll(AbortSignal.timeout(CLEANUP_SECONDS * 1000))) ?? [];
    for (const what of left) print(`FAIL  doctor.left: ${what} could not be removed. Delete it in the console`);
    if (left.length > 0) findings.push(LEFT);
  }
  print(`\n${sumOf(findings)}`);
  return isAllRight(findings) ? 0 : 1;
});

const LEFT: Finding = { id: 'doctor.left', section: '', sentence: '', outcome: 'FAIL', words: undefined, exchange: undefined };

const isReady = async (wire: HttpClient, url: string): Promise<boolean> => (await wire.send(`${url}/health/ready`)).status === 200;

function mustBeRight(config: Config | undefined): Config {
  if (config === undefined) throw new StartFailure('the configuration has errors');
  return config;
}

/** The database of this configuration, opened once. The embedded one is started by the service only. */
function databaseOf(given: Config | undefined, open: OpenResources, isServing: () => Promise<boolean>): () => Promise<Database> {
  let opening: Promise<Database> | undefined;
  const find = async (): Promise<Database> => {
    const config = mustBeRight(given);
    if (config.databaseUrl === undefined && !(await isServing()))
      throw new StartFailure('the embedded database runs only while the service runs: start the service');
    const log = pino({ level: 'silent' });
    const { pooled } = await findDatabase(config, log, open, () => {});
    const database = await connectToDatabase(pooled, log);
    open.add(() => database.close());
    await database.ping();
    return database;
  };
  return () => {
    opening ??= find();
    return opening;
  };
}

/** Aborts on timeout, on a signal, or when nobody reads the output. */
function endOfExamination(seconds: number): AbortSignal {
  const aborted = new AbortController();
  // With listeners, a second signal does not end the process: npm forwards a Ctrl-C that the process has already got from the terminal.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => aborted.abort());
  process.stdout.on('error', () => aborted.abort());
  return timeoutSignal(seconds * 1000, aborted.signal);
}
