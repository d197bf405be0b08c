/** The reference pages list everything that exists: a new variable, command, event, error or metric needs its line. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { EVENT_GROUPS } from '../../src/features/audit/event-types.policy.ts';
import { ENVIRONMENT_VARIABLES } from '../../src/platform/config/config.ts';
import { callCommand } from '../support/process.ts';

const page = (name: string): string => readFileSync(`docs/reference/${name}.md`, 'utf8');
/** Names in backticks in the first column of the page's tables. */
const firstColumn = (text: string): string[] =>
  [...text.matchAll(/^\| (.*?) \|/gm)].flatMap(([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));

test('environment.md lists each variable, and no other', () => {
  assert.deepEqual(firstColumn(page('environment')).sort(), [...ENVIRONMENT_VARIABLES].sort());
});

test('commands.md lists each command of gatehouse, and no other', async () => {
  const { stdout } = await callCommand({}, '--help');
  const names = [...stdout.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => `gatehouse ${name}`);
  assert.ok(names.length > 5);
  assert.deepEqual(firstColumn(page('commands')).sort(), names.sort());
});

test('events.md lists each type of event, and no other', () => {
  assert.deepEqual(firstColumn(page('events')).sort(), Object.values(EVENT_GROUPS).flat().sort());
});

test('errors.md has an anchor for each code of the API and of the hosted pages', () => {
  const anchors = [...page('errors').matchAll(/<a id="([^"]+)"><\/a>`([^`]+)`/g)].map(([, id, code]) => {
    assert.equal(id, code);
    return id;
  });
  const sources = ['src/platform/errors/errors.ts', 'src/features/sign-in/failures.hosted.ts'].map((file) => readFileSync(file, 'utf8'));
  const codes = new Set(sources.flatMap((text) => [...text.matchAll(/'(E\d{7})'|code: '(\w+)'/g)].map(([, api, hosted]) => api ?? hosted)));
  assert.ok(codes.size > 20);
  assert.deepEqual(anchors.sort(), [...codes].sort());
});
