/** A process that brings a database to the newest schema: `migrator.js <url>`. */
import { migrate, openDatabase } from '../../../src/platform/database/database.ts';

const database = await openDatabase({ connection: { connectionString: process.argv[2] ?? '' }, onError: console.error });
await migrate(database);
await database.close();
