/**
 * The command for a lost administrator: `npm run administrator -- <login> [--reset-factors]`, on the machine, with the service's own configuration, beside the running
 * service or without it. The user becomes a SUPER_ADMIN who can sign in; printed is a link by which he chooses a password, once. Ends with 0, else 1.
 */
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { loadConfig } from './config.ts';
import { ApiError } from './errors.ts';
import { bringUpToDate, connect, findDatabase, openKeyring } from './foundation.ts';
import { explain, OpenThings, StartFailure } from './lifecycle.ts';
import { recoverAdministrator } from './services/lost-administrator.ts';
import { isFirstStartDone } from './store/first-start.ts';
import { openNotifications } from './store/notifications.ts';

const USAGE = 'Usage: npm run administrator -- <login> [--reset-factors]';

const say = (line: string): void => void process.stderr.write(`${line}\n`);
const tell = (line: string): void => void process.stdout.write(`${line}\n`);

/** @throws {StartFailure} */
function readArguments(): { readonly login: string; readonly resetFactors: boolean } {
  try {
    const { positionals, values } = parseArgs({
      allowPositionals: true,
      options: { 'reset-factors': { type: 'boolean', default: false } },
    });
    const [login, ...others] = positionals;
    if (login !== undefined && /^\P{C}{1,255}$/u.test(login) && others.length === 0)
      return { login, resetFactors: values['reset-factors'] };
  } catch {
    // An option that there is not.
  }
  throw new StartFailure(USAGE);
}

async function main(): Promise<void> {
  const { login, resetFactors } = readArguments();
  const config = loadConfig(process.env);
  const log = pino({ level: config.logLevel }, pino.destination(2));
  const open = new OpenThings();
  try {
    const foundation = await findDatabase(config, log, open, say);
    await bringUpToDate(foundation);
    const database = await connect(foundation.pooled, log);
    open.add(() => database.close());
    // Otherwise the first start would take the account for the one that it makes itself.
    if (!(await isFirstStartDone(database.knex)))
      throw new StartFailure('Start the service once: it makes the first administrator itself.');
    const notifications = await openNotifications(foundation.direct, log);
    open.add(() => notifications.close());
    const services = { config, log, database, notifications, keyring: await openKeyring(config) };
    const recovered = await recoverAdministrator(services, login, { resetFactors });
    tell(`${recovered.login}: ${recovered.done.length === 0 ? 'is a SUPER_ADMIN and can sign in' : recovered.done.join(', ')}.`);
    tell(`Choose a password within an hour, shown only now: ${recovered.link}`);
  } finally {
    await open.close();
  }
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    say(error instanceof ApiError ? [error.summary, ...error.causes].join('\n  ') : explain(error));
    process.exit(1);
  },
);
