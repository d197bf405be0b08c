/** Limits to waiting hold whatever the garbage collector does. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { timeoutSignal } from '../../../src/platform/clock/timeout.ts';
import { eventually } from '../../support/process.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

test('a time that is over aborts, also beside another signal and after a garbage collection', async () => {
  const other = new AbortController();
  const signals = [timeoutSignal(20), timeoutSignal(20, other.signal)];
  await eventually(() => {
    collectGarbage();
    return signals.every(({ aborted }) => aborted);
  }, 'both are aborted');
  assert.deepEqual(
    signals.map(({ reason }) => reason.name),
    ['TimeoutError', 'TimeoutError'],
  );
  assert.equal(other.signal.aborted, false);
});

test('another signal aborts at once, with its reason, also one that was aborted before', async () => {
  const other = new AbortController();
  const signal = timeoutSignal(60_000, other.signal);
  const aborted = once(signal, 'abort');
  other.abort('stopped');
  await aborted;
  assert.deepEqual([signal.reason, timeoutSignal(60_000, other.signal).reason], ['stopped', 'stopped']);
});
