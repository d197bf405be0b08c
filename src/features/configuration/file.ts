/**
 * The configuration file: YAML 1.2, which includes JSON. It is validated completely before any change, and written so that it can be read without a
 * manual.
 */
import { readFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';
import { StartFailure } from '../../cli/lifecycle.ts';
import { type Document, isDocument } from './difference.ts';
import { distinctKeys, type Kind, keyOf, valueAt } from './kinds.ts';

/** An object in the file. */
export interface Wanted {
  readonly kind: Kind;
  readonly key: string;
  /** Without its inner sections. */
  readonly document: Document;
  /** Objects by inner section, for sections that the file contains. */
  readonly inner: ReadonlyMap<string, readonly Wanted[]>;
}

export type Sections = ReadonlyMap<string, readonly Wanted[]>;

/** @throws {StartFailure} it cannot be read, or an object has no key or a duplicate key */
export function readConfiguration(file: string, kinds: readonly Kind[]): Sections {
  const content = parsed(file, contentOf(file));
  if (!isDocument(content)) throw new StartFailure(`${file} is not a configuration file: it has no sections.`);
  return sectionsOf(content, kinds, file, Object.keys(content));
}

function contentOf(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    throw new StartFailure(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function parsed(file: string, content: string): unknown {
  try {
    return parse(content, refusePrototype, { merge: true });
  } catch (error) {
    throw new StartFailure(`${file} is neither YAML nor JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** An own property of this name would change the prototype of a copied document and be ignored as a field. */
function refusePrototype(name: unknown, value: unknown): unknown {
  if (name === '__proto__') throw new Error('__proto__ is not a field of anything');
  return value;
}

/** @param names of fields that must be sections */
function sectionsOf(holder: Document, kinds: readonly Kind[], where: string, names: readonly string[]): Sections {
  const unknown = names.find((name) => kinds.every(({ section }) => section !== name));
  if (unknown !== undefined) {
    throw new StartFailure(`${where}: ${unknown} is not a section. The sections are ${kinds.map(({ section }) => section).join(', ')}.`);
  }
  const sections = new Map<string, readonly Wanted[]>();
  for (const kind of kinds) {
    const list = holder[kind.section];
    if (list === undefined) continue;
    if (!Array.isArray(list)) throw new StartFailure(`${where}: ${kind.section} must be a list.`);
    const wanted = list.map((one: unknown, at) => wantedOf(one, kind, `${where}, ${kind.section} ${at + 1}`));
    const refuse = (key: string) => new StartFailure(`${where}: the ${kind.noun} ${key} is in the list twice.`);
    sections.set(kind.section, distinctKeys(kind, wanted, refuse));
  }
  return sections;
}

function wantedOf(one: unknown, kind: Kind, where: string): Wanted {
  const key = isDocument(one) ? keyOf(kind, one) : undefined;
  const unquoted = isDocument(one) ? kind.key.find((path) => ['number', 'boolean'].includes(typeof valueAt(one, path))) : undefined;
  if (unquoted !== undefined) throw new StartFailure(`${where}: ${unquoted} must be text. Put the value in quotation marks.`);
  if (!isDocument(one) || key === undefined) throw new StartFailure(`${where}: ${kind.key.join(' and ')} must identify the ${kind.noun}.`);
  const sections = kind.inner.map(({ section }) => section);
  const document = Object.fromEntries(Object.entries(one).filter(([name]) => !sections.includes(name)));
  return { kind, key, document, inner: sectionsOf(one, kind.inner, where, []) };
}

const HEAD = `# Gatehouse configuration. Fields that are not in the file stay unchanged; null clears a field. Objects that are not in the file are kept,
# unless it is applied with --delete. Secrets come from environment variables: client_secret: { env: NAME }
`;

/** @param sections as documents, with the inner sections of each object */
export const writeConfiguration = (sections: Document, format: 'yaml' | 'json'): string =>
  format === 'json'
    ? `${JSON.stringify(sections, undefined, 2)}\n`
    : HEAD + stringify(sections, { lineWidth: 0, aliasDuplicateObjects: false });
