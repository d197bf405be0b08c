/**
 * Holds `spec-coverage.md` against the tests it names and against the specification. The map itself, and what its entries may be, is described
 * there.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { type Entry, heading, literal, problemsOf, readMap, readMapFile, testProblem } from './support/proof-map.ts';

const MAP = 'test/spec-coverage.md';

/** A sentence, table row or list item of the specification. */
interface Statement {
  readonly section: string;
  readonly text: string;
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

/** Is a text what the quote says, from its first word to its last, with anything in place of an ellipsis? */
function isQuoteOf(quote: string, text: string): boolean {
  const parts = quote.split('…').map((part) => literal(part.trim()));
  return new RegExp(`^${parts.join('.*')}$`, 's').test(text);
}

/** @returns what is wrong with a proof */
function problemOf(proof: string, quote: string): string | undefined {
  if (/^open: issue \d+$/.test(proof)) return undefined;
  if (/^gap: ./.test(proof)) return quote.includes('not shown') ? undefined : 'is no gap: the specification speaks';
  return testProblem(proof);
}

const entries = readMapFile(MAP);

test('every entry of the map names tests that exist, an issue, or where a gap is decided', () => {
  assert.ok(entries.length > 0);
  assert.deepEqual(problemsOf(entries, problemOf), []);
});

test('every statement of the specification has an entry, and every entry quotes one', () => {
  const statements = statementsOf(readFileSync('docs/specification/identity-service.md', 'utf8'));
  const quotes = (entry: Entry, { section, text }: Statement) => entry.section === section && isQuoteOf(entry.quote, text);
  const unmapped = statements.filter((statement) => !entries.some((entry) => quotes(entry, statement)));
  const stale = entries.filter((entry) => statements.filter((statement) => quotes(entry, statement)).length !== 1);
  assert.deepEqual({ unmapped, stale: stale.map(({ section, quote }) => `${section}: “${quote}”`) }, { unmapped: [], stale: [] });
  assert.equal(new Set(entries.map(({ section, quote }) => `${section} ${quote}`)).size, entries.length, 'each statement once');
  // Two statements of the same words need two entries.
  assert.equal(entries.length, statements.length);
});

test('the check notices what it is for', () => {
  assert.throws(() => readMap(MAP, '# Map\n\n## Section\n\nnonsense\n'), /no entry/);
  assert.deepEqual(readMap(MAP, '# Map\n\n## Section\n\n- “a … c”\n  - open: issue 6\n'), [
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
    ['`doctor › logout.invalid-hint`', undefined],
    ['`doctor › logout.expired-hint`', /a rule that the doctor does not see/],
    ['`doctor › logout.nothing`', /a rule that the doctor does not see/],
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
