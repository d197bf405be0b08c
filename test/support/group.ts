/**
 * Runs several test files in one process, one after the other: loading and warming up the service is most of what a short file costs.
 * What a file changes for the whole process it brings back; its services and databases are its own anyway.
 */
import { before, beforeEach } from 'node:test';
import '../../src/oauth/library-warnings.ts';
import './short-waits.ts';

/** The long form of test/faults takes its time. */
const PATIENCE_MS = process.env.FAULTS === 'long' ? 1_500_000 : 180_000;

/** @param files their URLs */
export async function runGroup(files: readonly string[]): Promise<void> {
  let running = 'no test yet';
  const watchdog = setTimeout(() => {
    console.error(`no end of "${running}" within ${PATIENCE_MS / 1000} s, in one of:\n${files.join('\n')}`);
    process.exit(1);
  }, PATIENCE_MS).unref();
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
