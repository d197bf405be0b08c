/**
 * The command that seals everything under the first key of SECRET_KEY: `npm run reseal`, beside the running service or without it. Afterwards the other keys may
 * go. Ends with 0 when all is sealed so, 1 when something does not open, 2 when it could not do its work.
 */
import { pino } from 'pino';
import { loadConfig } from './config.ts';
import { bringUpToDate, connect, findDatabase, openKeyring } from './foundation.ts';
import { explain, OpenThings, StartFailure } from './lifecycle.ts';
import { resealEverything } from './services/resealing.ts';

const say = (line: string): void => void process.stderr.write(`${line}\n`);
const tell = (line: string): void => void process.stdout.write(`${line}\n`);

async function main(): Promise<number> {
  if (process.argv.length > 2) throw new StartFailure('Usage: npm run reseal');
  const config = loadConfig(process.env);
  const log = pino({ level: config.logLevel }, pino.destination(2));
  const open = new OpenThings();
  try {
    const foundation = await findDatabase(config, log, open, say);
    await bringUpToDate(foundation);
    const database = await connect(foundation.pooled, log, true);
    open.add(() => database.close());
    const keyring = await openKeyring(config);
    const { resealed, unopened } = await resealEverything({ database, keyring, log });
    for (const [table, count] of resealed) tell(`${table}: ${count} sealed anew`);
    for (const [table, count] of unopened) tell(`${table}: ${count} CANNOT BE OPENED: the key that they were sealed with is missing`);
    if (unopened.size > 0) return 1;
    tell(`Everything is sealed with the first key (${keyring.id}).`);
    return 0;
  } finally {
    await open.close();
  }
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    say(explain(error));
    process.exit(2);
  },
);
