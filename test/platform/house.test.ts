/** What keeps the code easy to find (docs/explanation/architecture.md). The walls between layers are in `.dependency-cruiser.mjs`. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

const MOST_IN_A_FOLDER = 40;
const MOST_LINES = 300;

const files = readdirSync('src', { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map(({ parentPath, name }) => path.join(parentPath, name));

test('no name is exported from two files: grep finds one place', () => {
  const places = new Map<string, Set<string>>();
  for (const file of files.filter((name) => name.endsWith('.ts'))) {
    const names = readFileSync(file, 'utf8').matchAll(/^export (?:async )?(?:function|const|class|interface|type) (\w+)/gm);
    for (const [, name = ''] of names) places.set(name, (places.get(name) ?? new Set()).add(file));
  }
  assert.ok(places.size > 1000);
  const twice = [...places].filter(([, found]) => found.size > 1).map(([name, found]) => `${name}: ${[...found].join(', ')}`);
  assert.deepEqual(twice, []);
});

test('no folder has more files side by side than one can look through', () => {
  const counts = new Map<string, number>();
  for (const file of files) counts.set(path.dirname(file), (counts.get(path.dirname(file)) ?? 0) + 1);
  assert.deepEqual(
    [...counts].filter(([, count]) => count > MOST_IN_A_FOLDER),
    [],
  );
});

test('no file is longer than one can read in a sitting', () => {
  const long = files
    .filter((name) => name.endsWith('.ts'))
    .map((name) => [name, readFileSync(name, 'utf8').split('\n').length - 1] as const)
    .filter(([, lines]) => lines > MOST_LINES);
  assert.deepEqual(long, []);
});
