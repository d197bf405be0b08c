/**
 * Runs several test files in one process, one after the other: loading and warming up the service is most of what a short file costs.
 * What a file changes for the whole process it brings back; its services and databases are its own anyway.
 */
import { before, beforeEach } from 'node:test';
import '../../src/protocol/library/library-warnings.ts';
import './quick-keys.ts';
import './short-waits.ts';

/** Milliseconds for one test; those of test/long take their time. */
const PATIENCE = { ordinary: 360_000, long: 3_600_000 };

/** @param files their URLs @param form of the tests */
export async function runGroup(files: readonly string[], form: keyof typeof PATIENCE): Promise<void> {
  const patience = PATIENCE[form];
  let running = 'no test yet';
  const watchdog = setTimeout(() => {
    console.error(`no end of "${running}" within ${patience / 1000} s, in one of:\n${files.join('\n')}`);
    process.exit(1);
  }, patience).unref();
  beforeEach((t) => {
    if ('name' in t) running = t.name;
    watchdog.refresh();
  });
  // None begins while another file is being loaded, which holds everything else up.
  const loaded = (async () => {
    for (const file of files) await import(file);
  })();
  before(() => loaded);
  await loaded;
}
