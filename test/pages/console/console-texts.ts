/** The texts that the source of the console has, for the tests of its languages: literals of TypeScript, and what views draw with `t('…')`. */
import { readdirSync, readFileSync } from 'node:fs';
import { parseSync } from '@swc/core';

const ROOT = new URL('../../../../', import.meta.url);

export interface SyntaxNode {
  readonly type?: string;
  readonly value?: unknown;
  readonly quasis?: readonly { readonly cooked?: string }[];
  readonly [key: string]: unknown;
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** What a source file can say: whole texts, and texts with a value in them as patterns. */
export interface SourceTexts {
  readonly literals: ReadonlySet<string>;
  readonly patterns: readonly RegExp[];
}

function collect(node: unknown, literals: Set<string>, patterns: Set<string>): void {
  if (Array.isArray(node)) {
    for (const one of node) collect(one, literals, patterns);
    return;
  }
  if (typeof node !== 'object' || node === null) return;
  const { type, value, quasis = [] } = node as SyntaxNode;
  if (type === 'StringLiteral' && typeof value === 'string') literals.add(value);
  if (type === 'TemplateLiteral') {
    const fixed = quasis.map(({ cooked = '' }) => cooked);
    if (fixed.length === 1) literals.add(fixed[0] ?? '');
    // A pattern of few letters would match everything.
    else if (fixed.join('').replace(/[^\p{L}]/gu, '').length > 3) patterns.add(`^${fixed.map(escaped).join('[\\s\\S]+')}$`);
  }
  for (const [key, child] of Object.entries(node)) if (key !== 'span') collect(child, literals, patterns);
}

export const filesIn = (folder: string, ending: string): string[] =>
  readdirSync(new URL(folder, ROOT), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending))
    .map((file) => `${folder}${file.replaceAll('\\', '/')}`);

export const read = (file: string): string => readFileSync(new URL(file, ROOT), 'utf8');

/** By file: to parse the source is most of what these tests do. */
const known = new Map<string, { readonly literals: ReadonlySet<string>; readonly patterns: ReadonlySet<string> }>();

function textsOf(file: string) {
  const found = known.get(file);
  if (found !== undefined) return found;
  const texts = { literals: new Set<string>(), patterns: new Set<string>() };
  collect(parseSync(read(file), { syntax: 'typescript' }).body, texts.literals, texts.patterns);
  known.set(file, texts);
  return texts;
}

/** @param isWanted by the path of a file of the source */
export function sourceTexts(isWanted: (file: string) => boolean): SourceTexts {
  const all = filesIn('src/', '.ts').filter(isWanted).map(textsOf);
  const patterns = new Set(all.flatMap((one) => [...one.patterns]));
  return {
    literals: new Set(all.flatMap(({ literals }) => [...literals])),
    patterns: [...patterns].map((pattern) => new RegExp(pattern)),
  };
}

/** What the views of the console and of the playground draw with `t('…')`. */
export const viewTexts = (): readonly string[] =>
  [...filesIn('views/admin/', '.ejs'), ...filesIn('views/', '.ejs').filter((file) => file.startsWith('views/playground'))].flatMap((file) =>
    [...read(file).matchAll(/\bt\('((?:[^'\\]|\\.)*)'\)/g)].map(([, text = '']) => text.replaceAll("\\'", "'")),
  );

export const isOfConsole = (file: string): boolean => file.endsWith('.console.ts') || file.startsWith('src/pages/console/');

/** What notices say. */
export function noticeTexts(): readonly string[] {
  const { literals } = sourceTexts((file) => file === 'src/pages/console/notices.ts');
  return [...literals].filter((text) => / /.test(text));
}
