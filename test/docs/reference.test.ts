/** The reference pages list everything that exists: a new variable, command, event, error or metric needs its line. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { EVENT_GROUPS } from '../../src/features/audit/event-types.policy.ts';
import { UPSTREAM_PROBLEMS } from '../../src/features/identity-providers/upstream-problem.hosted.ts';
import { ENVIRONMENT_VARIABLES } from '../../src/platform/config/config.ts';
import { errors } from '../../src/protocol/library/oidc-provider.ts';
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

/** Codes of the library's errors that the protocol names. */
function protocolCodes(): string[] {
  const files = readdirSync('src/protocol', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const names = new Set(
    files.flatMap((name) =>
      [...readFileSync(`src/protocol/${name}`, 'utf8').matchAll(/new errors\.(\w+)\(/g)].map(([, error = '']) => error),
    ),
  );
  names.delete('CustomOIDCProviderError');
  const classes = errors as unknown as Record<string, new (...args: string[]) => { readonly error: string }>;
  return [...names].flatMap((name) => (classes[name] === undefined ? [] : [new classes[name]('a', 'b').error]));
}

test('errors.md has an anchor for each code of the API, the protocol, the hosted pages and identity providers', () => {
  const anchors = [...page('errors').matchAll(/<a id="([^"]+)"><\/a>`([^`]+)`/g)].map(([, id, code]) => {
    assert.equal(id, code);
    return id;
  });
  const sources = ['src/platform/errors/errors.ts', 'src/features/sign-in/failures.hosted.ts'].map((file) => readFileSync(file, 'utf8'));
  const codes = sources.flatMap((text) => [...text.matchAll(/'(E\d{7})'|code: '(\w+)'/g)].map(([, api, hosted]) => api ?? hosted ?? ''));
  assert.ok(codes.length > 20);
  const upstream = UPSTREAM_PROBLEMS.map((reason) => `upstream_${reason.replaceAll('-', '_')}`);
  for (const code of [...codes, ...upstream, ...protocolCodes()]) assert.ok(anchors.includes(code), code);
  assert.equal(new Set(anchors).size, anchors.length);
});
