/** Holds `attacks.md`, the table of attacks, against the tests it names. What its entries may be is described there. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { problemsOf, readMap, readMapFile, testProblem } from './support/proof-map.ts';

const MAP = 'test/attacks.md';
const HERE = 'test/attacks.test.ts';
const ROOT = new URL('../../', import.meta.url);

/** A test; or in words why there is none. */
function problemOf(proof: string): string | undefined {
  if (/^(accepted|not offered): \S+ \S+/.test(proof)) return undefined;
  const [, script] = /^by hand: `(test\/rehearsals\/\S+\.ts)`/.exec(proof) ?? [];
  if (script !== undefined) return existsSync(new URL(script, ROOT)) ? undefined : 'names a script that is not there';
  return testProblem(proof);
}

test('every attack of the table has tests that exist, or words that say why not', () => {
  const entries = readMapFile(MAP);
  assert.ok(entries.length > 100, `${entries.length}`);
  assert.deepEqual(problemsOf(entries, problemOf), []);
  assert.equal(new Set(entries.map(({ section, quote }) => `${section} ${quote}`)).size, entries.length, 'each once');
});

test('every file of test/attacks has its place in the table', () => {
  const table = readFileSync(new URL(MAP, ROOT), 'utf8');
  const files = readdirSync(fileURLToPath(new URL('test/attacks/', ROOT))).filter((name) => name.endsWith('.test.ts'));
  assert.deepEqual(
    files.filter((name) => !table.includes(`test/attacks/${name}`)),
    [],
  );
});

test('the check notices what it is for', () => {
  assert.throws(() => readMap(MAP, '# Map\n\n## Section\n\nnonsense\n'), /no entry/);
  const rows: [proof: string, problem: RegExp | undefined][] = [
    [`\`${HERE} › the check notices what it is for\``, undefined],
    [`\`${HERE} › the check notices\``, /a test that is not there/],
    ['accepted: for a reason', undefined],
    ['accepted:', /is no proof/],
    ['by hand: `test/rehearsals/enumeration.ts`', undefined],
    ['by hand: `test/rehearsals/nothing.ts`', /a script that is not there/],
    ['`test/nowhere.test.ts › x`', /a file that is not there/],
  ];
  for (const [proof, problem] of rows) {
    const found = problemOf(proof);
    assert.ok(problem === undefined ? found === undefined : problem.test(found ?? ''), `${proof}: ${found}`);
  }
  assert.deepEqual(problemsOf([{ section: 'S', quote: 'q', proofs: [] }], problemOf), ['S: “q” has no proof']);
});
