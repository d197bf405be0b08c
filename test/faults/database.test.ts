/** The ways in which a database fails a running service. Stopping while it does not answer is the matter of test/long/silent-database.test.ts. */
import { test } from 'node:test';
import { refusals, silence } from './database.ts';

test('whatever the database does, everybody is told to come again, in time and in his own terms, and nothing needs a restart', {
  concurrency: 2,
}, async (t) => {
  // They mostly wait, so they wait together.
  await Promise.all([
    t.test('cut, no connection left, read-only, held up', (one) => refusals(one)),
    t.test('slow, silent', (one) => silence(one, { stopsInSilence: false })),
  ]);
});
