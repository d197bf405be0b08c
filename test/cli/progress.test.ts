/** How far an import is, where no terminal shows a bar. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { showProgress } from '../../src/cli/import.ts';

test('without a terminal, a line every five seconds says how far it is', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const written: string[] = [];
  const output = { write: (text: string) => written.push(text) > 0 };
  const progress = showProgress(output, 200);
  t.mock.timers.tick(5000);
  assert.deepEqual(written, [], 'nothing is done yet');
  progress.update({ imported: 3, refused: 1 }, 50);
  t.mock.timers.tick(4999);
  assert.deepEqual(written, []);
  t.mock.timers.tick(1);
  progress.say('Line 7 is refused');
  progress.stop();
  t.mock.timers.tick(60_000);
  assert.deepEqual(written, ['3 imported, 1 refused (25 %)\n', 'Line 7 is refused\n']);

  // The size of a pipe is not known.
  written.length = 0;
  const piped = showProgress(output, 0);
  piped.update({ imported: 3, refused: 1 }, 50);
  t.mock.timers.tick(5000);
  piped.stop();
  assert.deepEqual(written, ['3 imported, 1 refused\n']);
});
