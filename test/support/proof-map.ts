/**
 * A map in Markdown that names tests as proofs: a list of quoted statements under headings, below each what proves it.
 *
 *     ## Section
 *     - “a statement”
 *       - `test/some.test.ts › title of a test`
 *       - `doctor › id of a rule`
 *
 * `test/doctor/doctor.test.ts` carries out each rule of the doctor.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { SEEN_RULES } from './doctor-rules.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

export interface Entry {
  readonly section: string;
  readonly quote: string;
  readonly proofs: string[];
}

export const heading = (line: string): string | undefined => /^#+ (.*)$/.exec(line)?.[1]?.trim();

export const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** @param map its path from the root of the repository */
export const readMapFile = (map: string): Entry[] => readMap(map, readFileSync(path.join(ROOT, map), 'utf8'));

/** @throws {Error} a line that is neither a heading, an entry nor a proof of the entry above it */
export function readMap(map: string, text: string): Entry[] {
  const entries: Entry[] = [];
  let section = '';
  const [, ...body] = text.split(/^(?=## )/m);
  for (const line of body.join('').split('\n')) {
    const [, quote] = /^- “(.+)”$/.exec(line) ?? [];
    const [, proof] = /^ {2}- (.+)$/.exec(line) ?? [];
    const entry = entries.at(-1);
    if (quote !== undefined) entries.push({ section, quote, proofs: [] });
    else if (proof !== undefined && entry?.section === section) entry.proofs.push(proof);
    else if (line !== '') section = heading(line) ?? assert.fail(`${map}: this is no entry: ${line}`);
  }
  return entries;
}

const sources = new Map<string, string>();

/** Read once: a map names a file many times. */
function sourceOf(file: string): string {
  const source = sources.get(file) ?? readFileSync(path.join(ROOT, file), 'utf8').replaceAll("\\'", "'");
  sources.set(file, source);
  return source;
}

/** @returns what is wrong with a proof that is to name a test or a rule of the doctor; undefined: it is there */
export function testProblem(proof: string): string | undefined {
  const [, rule] = /^`doctor › (\S+)`$/.exec(proof) ?? [];
  if (rule !== undefined) return SEEN_RULES.has(rule) ? undefined : 'names a rule that the doctor does not see';
  const [, file = '', title = ''] = /^`(test\/\S+\.ts) › (.+)`$/.exec(proof) ?? [];
  if (title === '') return 'is no proof';
  if (!existsSync(path.join(ROOT, file))) return 'names a file that is not there';
  const named = new RegExp(`\\b(?:test|it|describe)\\(\\s*(['"\`])${literal(title)}\\1`);
  return named.test(sourceOf(file)) ? undefined : 'names a test that is not there';
}

/** @returns what is wrong with the proofs of a map, by section and quote */
export const problemsOf = (entries: readonly Entry[], problemOf: (proof: string, quote: string) => string | undefined): string[] =>
  entries.flatMap(({ section, quote, proofs }) => [
    ...(proofs.length > 0 ? [] : [`${section}: “${quote}” has no proof`]),
    ...proofs.flatMap((proof) => {
      const problem = problemOf(proof, quote);
      return problem === undefined ? [] : [`${section}: ${proof} ${problem}`];
    }),
  ]);
