/** kill -9 in the middle of everything that changes something. test/long/kills.test.ts does it two hundred times. */
import { test } from 'node:test';
import { killAmidRequests, killOnEmbeddedDatabase } from './kills.ts';

test('kill -9 amid exchanges, refreshes, consents and changes: nothing twice, nothing half, nothing acknowledged lost', (t) =>
  killAmidRequests(t, 4));

test('kill -9 on the embedded database: the next start takes over a running one, and one that was killed, too', (t) =>
  killOnEmbeddedDatabase(t));
