/** Clients that are slow, send too much, or begin and never come back. In test/long/clients.test.ts there are 25 times as many. */
import { test } from 'node:test';
import { meetHostileClients } from './clients.ts';

test('slow, oversized and abandoned requests: refused in time, forgotten in time, with others served and memory bounded', (t) =>
  meetHostileClients(t, 400));
