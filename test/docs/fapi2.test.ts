/** Holds the tables of docs/reference/fapi2.md, the statements of FAPI 2.0 about authorization servers, against the tests that they name. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { literal } from '../support/proof-map.ts';

const OWN = 'test/protocol/servers/fapi2.test.ts';
/** How many statements each section of the profile has here, and of Message Signing. One that is left out is seen. */
const STATEMENTS: Readonly<Record<string, number>> = {
  'Section 5.2: network layer': 6,
  'Section 5.3.2.1: general': 13,
  'Section 5.3.2.2: authorization endpoint flows': 14,
  'Section 5.3.2.3: the user’s identifier': 1,
  'Section 5.3.4: resource servers': 4,
  'Section 5.4: cryptography': 7,
  'Message signing': 4,
};

interface Row {
  readonly section: string;
  readonly statement: string;
  readonly proofs: readonly string[];
}

/** @param text of the page @returns the rows of its tables */
function rowsOf(text: string): Row[] {
  let section = '';
  return text.split('\n').flatMap((line): Row[] => {
    section = /^## (.+)$/.exec(line)?.[1] ?? section;
    const cells = /^\| (.+) \|$/.exec(line)?.[1]?.split(' | ');
    const [statement = '', , proof = ''] = cells ?? [];
    if (cells === undefined || statement === 'statement') return [];
    return [{ section, statement, proofs: [...proof.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name) }];
  });
}

/** @returns what is wrong with the name of a test, which may be the beginning of a longer one; undefined: it is there */
function problemOf(proof: string): string | undefined {
  const [, file = OWN, title = ''] = /^(?:(test\/\S+\.ts) › )?(.+)$/.exec(proof) ?? [];
  const source = readFileSync(file, 'utf8').replaceAll("\\'", "'");
  return new RegExp(`\\b(?:test|it)\\(\\s*['"\`]${literal(title)}`).test(source) ? undefined : `no test: ${proof}`;
}

test('each statement of FAPI 2.0 has a test that exists, or is for the proxy or the operator', () => {
  const rows = rowsOf(readFileSync('docs/reference/fapi2.md', 'utf8'));
  const counts = Object.fromEntries(Object.keys(STATEMENTS).map((name) => [name, rows.filter(({ section }) => section === name).length]));
  assert.deepEqual(counts, STATEMENTS);
  const without = rows.filter(({ proofs }) => proofs.length === 0);
  assert.deepEqual(
    without.map(({ statement }) => statement),
    [
      'All endpoints, including key sets, use only TLS; TLS 1.2 or later, with the cipher suites of BCP 195',
      'DNSSEC should protect the names',
    ],
  );
  assert.deepEqual(
    rows.flatMap(({ proofs }) => proofs.flatMap((proof) => problemOf(proof) ?? [])),
    [],
  );
});

test('the check notices what it is for', () => {
  assert.equal(problemOf('a code lives 60 seconds'), undefined);
  assert.equal(problemOf('a code lives 61 seconds'), 'no test: a code lives 61 seconds');
  assert.equal(problemOf('test/docs/fapi2.test.ts › the check notices'), undefined);
  assert.deepEqual(rowsOf('## S\n\n| statement | here | test |\n|---|---|---|\n| a | b | `c`, `d` |\n'), [
    { section: 'S', statement: 'a', proofs: ['c', 'd'] },
  ]);
});
