/**
 * The calls behind the resources of Okta's Terraform provider, made with the SDK that it builds on: what works is created, read, changed and deleted; for the rest
 * the answer is noted. docs/how-to/use-okta-terraform.md lists both.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { API_TOKEN, startService } from '../support/service.ts';
import { build, forwardTo } from './foreign/go.ts';
import { folderWith, mustRun } from './foreign/setting.ts';

/** What the how-to says of each resource that works, and of each path that does not. */
const PAGE = readFileSync('docs/how-to/use-okta-terraform.md', 'utf8');
const [WORKS = '', DOES_NOT = ''] = PAGE.split('## What does not work');
const named = (text: string) =>
  [...text.matchAll(/^\| (`okta_.*?) \|/gm)].flatMap(([, cell = '']) => [...cell.matchAll(/`(okta_\w+)`/g)].map(([, name]) => name));

test('Okta’s SDK for Go makes the calls of each resource that the how-to lists, and is refused what it says is not here', async (t) => {
  const cwd = folderWith(t, {
    'main.go': readFileSync('test/long/foreign/terraform.go', 'utf8'),
    'okta.go': readFileSync('test/long/foreign/okta.go', 'utf8'),
  });
  const missing = await build(cwd, 'github.com/okta/okta-sdk-golang/v5/okta@v5.0.6');
  if (missing !== undefined) return t.skip(missing);
  const service = await startService(t);
  const output = await mustRun(cwd, { FORWARD: await forwardTo(t, service), TOKEN: API_TOKEN }, './program');
  const lines = output.split('\n');
  const told: { resource: string; failed: string }[] = lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
  assert.deepEqual(
    told.filter(({ failed }) => failed !== ''),
    [],
  );
  assert.deepEqual(told.map(({ resource }) => resource).sort(), named(WORKS).sort(), 'the how-to lists them all');
  const answers: Record<string, number> = JSON.parse(lines.find((line) => line.startsWith('ANSWERS '))?.slice(8) ?? '{}');
  assert.notDeepEqual(answers, {});
  t.diagnostic(JSON.stringify(answers));
  for (const [path, status] of Object.entries(answers)) {
    assert.equal(status, path === 'mappings' ? 200 : 404, path);
    assert.ok(DOES_NOT.includes(`\`${path}\``), `the how-to says nothing of ${path}`);
  }
});
