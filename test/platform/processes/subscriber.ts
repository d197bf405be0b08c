/** A process that prints what it is told, a line each: `subscriber.js <url>`. Its first line is `listening`; it ends with its standard input. */
import { pino } from 'pino';
import { openNotifications } from '../../../src/platform/database/notifications.ts';

const notifications = await openNotifications({ connectionString: process.argv[2] ?? '' }, pino({ enabled: false }));
notifications.subscribe((change) => console.log(JSON.stringify(change)));
console.log('listening');
process.stdin.on('end', () => notifications.close()).resume();
