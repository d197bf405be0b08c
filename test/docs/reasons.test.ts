/** Every reason that the system log gives for a failure has a place in the reference. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

const CODE = /'([A-Z]+(?:_[A-Z]+)+)'/g;
/** Lines that give a reason to the log, and types that list reasons. */
const GIVES = /failure\b.*'|notNow = |reason = decision|UpstreamFailure\(/;
const LISTS = /type (?:Link)?Refusal =[^;]*;|const REASONS:[^;]*;/g;

test('the reasons of the system log are in docs/reference/errors.md, each with an anchor', () => {
  const files = readdirSync('src/features', { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.service.ts') || name.endsWith('.policy.ts'),
  );
  const given = new Set<string>();
  for (const file of files) {
    const code = readFileSync(path.join('src/features', file), 'utf8');
    const places = [...code.split('\n').filter((line) => GIVES.test(line)), ...(code.match(LISTS) ?? [])];
    for (const place of places) for (const [, reason = ''] of place.matchAll(CODE)) given.add(reason);
  }
  assert.ok(given.size > 40, String(given.size));
  const page = readFileSync('docs/reference/errors.md', 'utf8');
  assert.deepEqual(
    [...given].filter((reason) => !page.includes(`<a id="${reason}"></a>\`${reason}\``)),
    [],
  );
});
