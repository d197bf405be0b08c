/**
 * Holds `spec-coverage.md` against the tests it names, and against the specification where `SPEC` names its file. The map itself, and what its
 * entries may be, is described there.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MAP = 'test/spec-coverage.md';

interface Entry {
  readonly section: string;
  readonly quote: string;
  readonly proofs: string[];
}

/** A sentence, table row or list item of the specification. */
interface Statement {
  readonly section: string;
  readonly text: string;
}

const heading = (line: string): string | undefined => /^#+ (.*)$/.exec(line)?.[1]?.trim();

/** @throws {Error} a line that is neither a heading, an entry nor a proof of the entry above it */
function readMap(text: string): Entry[] {
  const entries: Entry[] = [];
  let section = '';
  const [, ...body] = text.split(/^(?=## )/m);
  for (const line of body.join('').split('\n')) {
    const [, quote] = /^- “(.+)”$/.exec(line) ?? [];
    const [, proof] = /^ {2}- (.+)$/.exec(line) ?? [];
    const entry = entries.at(-1);
    if (quote !== undefined) entries.push({ section, quote, proofs: [] });
    else if (proof !== undefined && entry?.section === section) entry.proofs.push(proof);
    else if (line !== '') section = heading(line) ?? assert.fail(`${MAP}: this is no entry: ${line}`);
  }
  return entries;
}

/** What a document in Markdown states; captions of lists and tables, which end with a colon, state nothing. */
function statementsOf(text: string): Statement[] {
  const statements: Statement[] = [];
  let section = '';
  let paragraph: string[] = [];
  const endParagraph = () => {
    for (const sentence of paragraph.join(' ').split(/(?<=\.)\s+(?=[A-Z`{])/)) {
      if (sentence !== '' && !sentence.endsWith(':')) statements.push({ section, text: sentence });
    }
    paragraph = [];
  };
  const lines = text.split('\n').map((line) => line.trim());
  const isRule = (line: string | undefined) => line !== undefined && /^\|[-| ]+\|$/.test(line);
  for (const [index, line] of lines.entries()) {
    const [, item] = /^(?:-|\d+\.) (.*)$/.exec(line) ?? [];
    const title = heading(line);
    const isRow = line.startsWith('|');
    if (title === undefined && item === undefined && !isRow && line !== '') {
      paragraph.push(line);
      continue;
    }
    endParagraph();
    if (title !== undefined) section = title;
    else if (item !== undefined) statements.push({ section, text: item });
    else if (isRow && !isRule(line) && !isRule(lines[index + 1])) statements.push({ section, text: line.slice(1, -1).trim() });
  }
  endParagraph();
  return statements;
}

const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Is a text what the quote says, from its first word to its last, with anything in place of an ellipsis? */
function isQuoteOf(quote: string, text: string): boolean {
  const parts = quote.split('…').map((part) => literal(part.trim()));
  return new RegExp(`^${parts.join('.*')}$`, 's').test(text);
}

/** @returns what is wrong with a proof */
function problemOf(proof: string, quote: string): string | undefined {
  if (/^open: issue \d+$/.test(proof)) return undefined;
  if (/^gap: ./.test(proof)) return quote.includes('not shown') ? undefined : 'is no gap: the specification speaks';
  const [, file = '', title = ''] = /^`(test\/\S+\.ts) › (.+)`$/.exec(proof) ?? [];
  if (title === '') return 'is no proof';
  if (!existsSync(path.join(ROOT, file))) return 'names a file that is not there';
  const source = readFileSync(path.join(ROOT, file), 'utf8').replaceAll("\\'", "'");
  const named = new RegExp(`\\b(?:test|it|describe|browserTest)\\(\\s*(['"\`])${literal(title)}\\1`);
  return named.test(source) ? undefined : 'names a test that is not there';
}

const entries = readMap(readFileSync(path.join(ROOT, MAP), 'utf8'));

test('every entry of the map names tests that exist, an issue, or where a gap is decided', () => {
  assert.ok(entries.length > 0);
  const problems = entries.flatMap(({ section, quote, proofs }) => [
    ...(proofs.length > 0 ? [] : [`${section}: “${quote}” has no proof`]),
    ...proofs.flatMap((proof) => {
      const problem = problemOf(proof, quote);
      return problem === undefined ? [] : [`${section}: ${proof} ${problem}`];
    }),
  ]);
  assert.deepEqual(problems, []);
});

// Without the specification at hand there is nothing to hold the map against.
const { SPEC } = process.env;
if (SPEC !== undefined) {
  test('every statement of the specification has an entry, and every entry quotes one', () => {
    const statements = statementsOf(readFileSync(SPEC, 'utf8'));
    const quotes = (entry: Entry, { section, text }: Statement) => entry.section === section && isQuoteOf(entry.quote, text);
    const unmapped = statements.filter((statement) => !entries.some((entry) => quotes(entry, statement)));
    const stale = entries.filter((entry) => statements.filter((statement) => quotes(entry, statement)).length !== 1);
    assert.deepEqual({ unmapped, stale: stale.map(({ section, quote }) => `${section}: “${quote}”`) }, { unmapped: [], stale: [] });
    assert.equal(new Set(entries.map(({ section, quote }) => `${section} ${quote}`)).size, entries.length, 'each statement once');
    // Two statements of the same words need two entries.
    assert.equal(entries.length, statements.length);
  });
}

test('the check notices what it is for', () => {
  assert.throws(() => readMap('# Map\n\n## Section\n\nnonsense\n'), /no entry/);
  assert.deepEqual(readMap('# Map\n\n## Section\n\n- “a … c”\n  - open: issue 6\n'), [
    { section: 'Section', quote: 'a … c', proofs: ['open: issue 6'] },
  ]);
  assert.deepEqual(
    ['a b c', 'a … c', 'a b …', '… c', 'a b', 'b c', 'c … a', 'x', 'a.b c'].map((quote) => isQuoteOf(quote, 'a b c')),
    [true, true, true, true, false, false, false, false, false],
  );
  const here = `test/${path.basename(MAP, '.md')}.test.ts`;
  const rows: [proof: string, problem: RegExp | undefined][] = [
    [`\`${here} › the check notices what it is for\``, undefined],
    [`\`${here} › the check notices\``, /a test that is not there/],
    ['`test/nowhere.test.ts › x`', /a file that is not there/],
    ['open: issue 6', undefined],
    ['open: issue', /is no proof/],
    ['gap: decisions', /is no gap/],
  ];
  for (const [proof, problem] of rows) {
    const found = problemOf(proof, 'the server answers');
    assert.ok(problem === undefined ? found === undefined : problem.test(found ?? ''), `${proof}: ${found}`);
  }
  assert.deepEqual(
    statementsOf('# A\nCaption:\n\n| h |\n|---|\n| row |\n\n- item. Of two.\n1. first\n\nOne. Two `x`. Three:\n- last').map(
      ({ text }) => text,
    ),
    ['row', 'item. Of two.', 'first', 'One.', 'Two `x`.', 'last'],
  );
});
