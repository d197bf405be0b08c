/** A service whose scopes ask for consent: `email` is required, `phone` flexible and optional. */
import type { TestContext } from 'node:test';
import { afterwards } from './afterwards.ts';
import { onServer, startedDatabase } from './database.ts';
import { type Service, STARTED, startService } from './service.ts';

/** `optional` of the built-in server's scopes is not changed by anybody, so the rows of all servers are changed by hand, before anything has read them. */
export async function serviceWithConsents(t: TestContext): Promise<Service> {
  const database = await startedDatabase();
  afterwards(t, () => database.drop());
  await onServer(database.url, async (client) => {
    await client.query(`UPDATE scopes SET consent = 'REQUIRED' WHERE name = 'email'`);
    await client.query(`UPDATE scopes SET consent = 'FLEXIBLE', optional = true WHERE name = 'phone'`);
  });
  return startService(t, { beside: { database, secretKey: STARTED.SECRET_KEY } });
}
