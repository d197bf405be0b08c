/** A process that prints what it is told, a line each: `subscriber.js <url> [poll]`. Its first line is `listening`; it ends with its standard input. */
import { pino } from 'pino';
import { openDatabase } from '../../../src/platform/database/database.ts';
import { openNotifications } from '../../../src/platform/database/notifications.ts';
import { pollNotifications } from '../../../src/platform/database/polled-notifications.ts';

const [, , connectionString = '', way] = process.argv;
const log = pino({ enabled: false });
const database = await openDatabase({ connection: { connectionString }, onError: console.error });
const notifications = way === 'poll' ? await pollNotifications(database, log) : await openNotifications({ connectionString }, log);
notifications.subscribe((change) => console.log(JSON.stringify(change)));
console.log('listening');
process.stdin
  .on('end', async () => {
    await notifications.close();
    await database.close();
  })
  .resume();
