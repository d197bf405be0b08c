/** kill -9 in the middle of everything that changes something, two hundred times (test/faults/kills.ts). */
import { test } from 'node:test';
import { killAmidRequests } from '../faults/kills.ts';

test('two hundred kills: nothing twice, nothing half, nothing acknowledged lost', (t) => killAmidRequests(t, 200));
