/** The command `gatehouse`: what it is called with, and what it says of itself. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callCommand } from '../support/process.ts';

const SUBCOMMANDS = [
  ...['start', 'migrate', 'doctor', 'administrator', 'backup', 'restore', 'reseal', 'import', 'audit', 'audit verify'],
  ...['configuration', 'configuration export', 'configuration plan', 'configuration apply', 'openapi', 'licences'],
];

test('every subcommand explains itself with --help, and does nothing', async () => {
  for (const name of SUBCOMMANDS) {
    const { code, stdout, stderr } = await callCommand({}, ...name.split(' '), '--help');
    assert.deepEqual([code, stderr], [0, ''], name);
    assert.match(stdout, new RegExp(`^Usage: gatehouse ${name} [^]*\\.\n`), name);
  }
  const { code, stdout } = await callCommand({}, '--help');
  assert.equal(code, 0);
  for (const name of SUBCOMMANDS.filter((one) => !one.includes(' '))) assert.match(stdout, new RegExp(`^  ${name} `, 'm'));
});

test('--version prints the version alone', async () => {
  assert.match((await callCommand({}, '--version')).stdout, /^\d+\.\d+\.\d+\n$/);
});

test('what is mistyped is named, with what is meant and exit code 2', async () => {
  for (const [args, words] of [
    [['docter'], /unknown command 'docter'\n\(Did you mean doctor\?\)/],
    [['doctor', '--sekonds', '3'], /unknown option '--sekonds'/],
    [['doctor', '--seconds', 'many'], /argument 'many' is invalid. It must be a whole number from 1 to 9999\./],
    [['configuration', 'plan', 'x.yaml', '--url', 'ftp://x'], /It must be a URL that begins with http:/],
    [['start', 'now'], /too many arguments for 'start'/],
    [['restore'], /missing required argument 'folder'/],
  ] as const) {
    const { code, stdout, stderr } = await callCommand({}, ...args);
    assert.deepEqual([code, stdout], [2, ''], args.join(' '));
    assert.match(stderr, words);
  }
});

test('the former npm scripts work for one more version, and say what to use', async () => {
  const { code, stderr } = await callCommand({ npm_lifecycle_event: 'openapi' }, 'openapi');
  assert.deepEqual([code, stderr], [0, '"npm run openapi" is deprecated; the next version removes it. Use "npx gatehouse openapi".\n']);
  assert.equal((await callCommand({}, 'openapi')).stderr, '');
});
