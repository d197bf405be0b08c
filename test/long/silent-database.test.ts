/** A process ends even though its database does not answer (test/faults/database.ts). */
import { test } from 'node:test';
import { silence } from '../faults/database.ts';

test('a database does not answer while the process is stopped: it ends with 0 all the same', (t) => silence(t, { stopsInSilence: true }));
