/** The reference pages list everything that exists: a new variable, command, event, error or metric needs its line. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { CALLS_PER_MINUTE, LIFETIMES } from '../../config/defaults.ts';
import { EVENT_GROUPS } from '../../src/features/audit/event-types.policy.ts';
import { EVENT_WORDS } from '../../src/features/audit/event-words.console.ts';
import { LARGEST_TOKEN } from '../../src/features/authorization-servers/token-size.policy.ts';
import { scopesOfClaims, USER_CLAIMS } from '../../src/features/claims/claims.policy.ts';
import { UPSTREAM_PROBLEMS } from '../../src/features/identity-providers/upstream-problem.hosted.ts';
import { WRONG_PASSWORDS } from '../../src/features/sign-in/lockout.policy.ts';
import { ENVIRONMENT_VARIABLES } from '../../src/platform/config/config.ts';
import { LARGEST_RESPONSE } from '../../src/platform/http/outbound.ts';
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

test('events.md describes each event as the console does, perhaps with more detail', () => {
  const meanings = new Map([...page('events').matchAll(/^\| `([^`]+)` \| (.*?) \|/gm)].map(([, type, meaning]) => [type, meaning]));
  for (const [type, words] of Object.entries(EVENT_WORDS)) assert.ok(meanings.get(type)?.startsWith(words), `${type}: ${words}`);
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

test('claims.md lists each claim of users, with its scope', () => {
  const [table = ''] = page('claims').split('## Claims of your own');
  const rows = [...table.matchAll(/^\| `(\w+)` \| (?:`(\w+)`|–) \|/gm)].map(([, claim = '', scope]) => [claim, scope]);
  assert.deepEqual(rows.map(([claim]) => claim).sort(), [...USER_CLAIMS].sort());
  for (const [claim = '', scope] of rows) assert.deepEqual(scopesOfClaims([claim]), scope === undefined ? [] : [scope], claim);
});

test('limits.md has the lifetimes and the limits of the code', () => {
  const text = page('limits');
  const hours = (seconds: number) => `${seconds / 3600} hour${seconds === 3600 ? '' : 's'}`;
  const days = (seconds: number) => `${seconds / 86_400} days`;
  for (const row of [
    `| wrong passwords in a row that lock an account | ${WRONG_PASSWORDS},`,
    `| API calls | ${CALLS_PER_MINUTE.toLocaleString('en')} a minute`,
    `| authorization code | ${LIFETIMES.authorizationCode / 60} minutes |`,
    `| access token, ID token | ${hours(LIFETIMES.accessToken)}.`,
    `| refresh token | ${days(LIFETIMES.refreshTokenWindow)} without use, ${days(LIFETIMES.refreshToken)} at most |`,
    `| browser session | ${hours(LIFETIMES.sessionIdle)} without use, ${days(LIFETIMES.session)} at most |`,
    `| pending sign-in | ${LIFETIMES.unansweredInteraction / 60} minutes without a session, ${hours(LIFETIMES.interaction)} with one |`,
    `| second step of a sign-in | ${LIFETIMES.signInStep / 60} minutes |`,
    `| session token of the API | ${LIFETIMES.sessionToken / 60} minutes |`,
    `| browser that a user is known in | ${days(LIFETIMES.device)} |`,
    `| link to activate an account | ${days(LIFETIMES.activationLink)} |`,
    `| link to choose a new password | ${hours(LIFETIMES.resetLink)} |`,
    `| link to confirm an e-mail address | ${hours(LIFETIMES.verificationLink)} |`,
    `| signing key | signs for ${days(LIFETIMES.signingKey)}`,
    `| response from another server that the service reads | ${LARGEST_RESPONSE / 1024} KiB |`,
    `| JWT that the service issues | ${LARGEST_TOKEN / 1024} KiB |`,
  ])
    assert.ok(text.includes(`\n${row}`), row);
});

test('css-variables.md lists the custom properties of the hosted pages, and those that branding sets', () => {
  const style = readFileSync('views/public/gatehouse.css', 'utf8');
  const names = new Set([...style.matchAll(/^ {2,4}(--[a-z-]+):/gm)].map(([, name]) => name));
  assert.deepEqual(firstColumn(page('css-variables')).sort(), [...names].sort());
  const branded = [...page('css-variables').matchAll(/^\| `(--[a-z-]+)` \|.*Branding sets it/gm)].map(([, name]) => name);
  const set = [...readFileSync('src/features/settings/brand-stylesheet.service.ts', 'utf8').matchAll(/[{;](--[a-z-]+):/g)].map(
    ([, name]) => name,
  );
  assert.deepEqual(branded.sort(), [...new Set(set)].sort());
});

test('page-hooks.md lists hooks that the pages have', () => {
  const views = { 'sign-in': 'sign-in', 'sign-up': 'sign-up', 'code-by-email': 'email-code', consent: 'consent', 'sign-out': 'logout' };
  const pages: Readonly<Record<string, string>> = { ...views, 'second-factor': 'second-factor', error: 'error' };
  const rows = [...page('page-hooks').matchAll(/^\| ([a-z-]+) \| (`.*?`) \|/gm)];
  assert.ok(rows.length > 8);
  for (const [, name = '', selectors = ''] of rows) {
    const view = readFileSync(`views/${pages[name]}.ejs`, 'utf8');
    for (const [, tag = '', id, field] of selectors.matchAll(/`(\w*)(?:#([\w-]+)|\[name=(\w+)\])`/g)) {
      const attribute = id === undefined ? `name="${field}"` : `id="${id}"`;
      assert.match(view, new RegExp(`<${tag === '' ? '\\w+' : tag} [^\\n]*${attribute}`), `${name}: ${selectors}`);
    }
  }
});
