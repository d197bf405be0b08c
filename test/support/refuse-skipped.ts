/**
 * A reporter for CI beside the usual one: a test that was skipped or is still to be written makes the run fail, and is named.
 */
import type { TestEvent } from 'node:test/reporters';

export default async function* refuseSkipped(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of events) {
    if (event.type !== 'test:pass' && event.type !== 'test:fail') continue;
    const { name, file, skip, todo } = event.data;
    if ((skip ?? false) === false && (todo ?? false) === false) continue;
    process.exitCode = 1;
    yield `not run, which CI does not accept: ${name} (${file})\n`;
  }
}
