/** Slow and oversized requests beside ten thousand sign-ins that are begun and abandoned (test/faults/clients.ts). */
import { test } from 'node:test';
import { meetHostileClients } from '../faults/clients.ts';

test('ten thousand abandoned sign-ins: others are served, memory is bounded, and all are forgotten in time', (t) =>
  meetHostileClients(t, 10_000));
