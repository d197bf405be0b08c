/**
 * What services refuse with, read from the source: texts that reach `validation`, `conflict`, `wrongState` or a zod schema. Names are followed from
 * there: to constants, to what functions return, to the callers of a function that passes its parameter on, and to properties of the same name.
 */
import { parseSync } from '@swc/core';
import { filesIn, read, type SyntaxNode } from './console-texts.ts';

/** Nothing of these appears in the console: other pages, commands, protocols, and what only the management API takes. */
const ELSEWHERE =
  /\.(hosted|account|api)\.ts$|^src\/(api|cli|doctor|playground|protocol)\/|^src\/features\/(idempotency|import\/(directory|formats|user-ref)|message-factors|scim|signals\/receiver)|^src\/pages\/(account|hosted)|^src\/platform\/(config|log|mail)\//;
/** Methods of zod whose second argument is a message. */
const CHECKS = new Set(['refine', 'regex', 'min', 'max', 'length']);
/** Properties whose value a service may pass on as a message. */
const REFUSALS = new Set(['refused', 'problem']);
/** Stands for a value in a text. */
export const VALUE = '\u0001';
const MOST_VARIANTS = 40;

/** A place in a file, with what encloses it. */
interface Place {
  readonly file: string;
  readonly node: SyntaxNode;
  readonly parent?: Place;
}

const list = (value: unknown): SyntaxNode[] =>
  (Array.isArray(value) ? value : [value]).filter((one) => typeof one === 'object' && one !== null);
const part = (node: SyntaxNode | undefined, key: string): SyntaxNode | undefined => list(node?.[key])[0];
const wordOf = (node: SyntaxNode | undefined): string | undefined => (typeof node?.value === 'string' ? node.value : undefined);
const isFunction = ({ type, params }: SyntaxNode): boolean => params !== undefined && !type?.startsWith('Ts');
/** The identifier that a parameter binds, and its default. */
function boundBy(parameter: SyntaxNode): { readonly name: string | undefined; readonly otherwise: SyntaxNode | undefined } {
  const pattern = part(parameter, 'pat') ?? parameter;
  return pattern.type === 'AssignmentPattern'
    ? { name: wordOf(part(pattern, 'left')), otherwise: part(pattern, 'right') }
    : { name: wordOf(pattern), otherwise: undefined };
}
/** Values of an object: `a: 'b'` and the shorthand `a`. */
const givenBy = (property: SyntaxNode): SyntaxNode | undefined => (property.type === 'Identifier' ? property : part(property, 'value'));
const keyOf = (property: SyntaxNode): string | undefined =>
  property.type === 'Identifier' ? wordOf(property) : wordOf(part(property, 'key'));

const folderOf = (file: string): string => file.slice(0, file.lastIndexOf('/'));

const isExported = ({ node, parent }: Place): boolean =>
  (node.type === 'FunctionDeclaration' ? parent : parent?.parent)?.node.type === 'ExportDeclaration';

/** A node within another one. */
const within = (parent: Place, node: SyntaxNode): Place => ({ file: parent.file, node, parent });

function enter(map: Map<string, Place[]>, name: string | undefined, place: Place): void {
  if (name === undefined) return;
  const places = map.get(name);
  if (places === undefined) map.set(name, [place]);
  else places.push(place);
}

class Source {
  readonly #places: Place[] = [];
  readonly #declared = new Map<string, Place[]>();
  readonly #called = new Map<string, Place[]>();
  readonly #properties = new Map<string, Place[]>();
  readonly #returned = new Map<SyntaxNode, Place[]>();
  readonly #known = new Map<SyntaxNode, readonly string[]>();

  constructor(files: readonly string[]) {
    for (const file of files)
      for (const statement of list(parseSync(read(file), { syntax: 'typescript' }).body)) this.#visit({ file, node: statement }, undefined);
  }

  #visit(place: Place, enclosing: SyntaxNode | undefined): void {
    const { node } = place;
    if (node.type !== undefined) this.#places.push(place);
    if (node.type === 'VariableDeclarator') enter(this.#declared, wordOf(part(node, 'id')), place);
    if (node.type === 'FunctionDeclaration') enter(this.#declared, wordOf(part(node, 'identifier')), place);
    if (node.type === 'CallExpression') enter(this.#called, wordOf(part(node, 'callee')), place);
    if (node.type === 'ObjectExpression')
      for (const property of list(node.properties)) enter(this.#properties, keyOf(property), within(place, property));
    if (node.type === 'ReturnStatement' && enclosing !== undefined)
      this.#returned.set(enclosing, [...(this.#returned.get(enclosing) ?? []), place]);
    const inner = isFunction(node) ? node : enclosing;
    for (const [key, value] of Object.entries(node))
      if (key !== 'span' && key !== 'typeAnnotation' && key !== 'returnType')
        for (const one of list(value)) this.#visit(within(place, one), inner);
  }

  /** In the same file, otherwise what another file exports: no name is exported from two files. */
  #find(map: ReadonlyMap<string, Place[]>, name: string, file: string): readonly Place[] {
    const all = map.get(name) ?? [];
    const here = all.filter((one) => one.file === file);
    return here.length > 0 ? here : all.filter(isExported);
  }

  /** Every place where a text becomes a message. */
  messages(): Place[] {
    return this.#places.flatMap((place) => this.#messagesAt(place));
  }

  #messagesAt(place: Place): Place[] {
    const { node, parent } = place;
    const at = (found: SyntaxNode | undefined): Place[] => (found === undefined ? [] : [within(place, found)]);
    if (node.type === 'ObjectExpression') {
      const keys = list(node.properties).map(keyOf);
      const isOfCheck = parent?.node.expression === node && !keys.includes('reason');
      return list(node.properties).flatMap((one) =>
        keyOf(one) === 'message' || (isOfCheck && keyOf(one) === 'error') ? at(givenBy(one)) : [],
      );
    }
    if (node.type !== 'CallExpression') return [];
    const callee = part(node, 'callee');
    const given = list(node.arguments).map((one) => part(one, 'expression'));
    if (wordOf(callee) === 'wrongState') return at(given[0]);
    return callee?.type === 'MemberExpression' && CHECKS.has(wordOf(part(callee, 'property')) ?? '') ? at(given[1]) : [];
  }

  /** What an expression can say, `VALUE` for what is not known. @param isPart of a longer text */
  texts(place: Place, isPart = false): readonly string[] {
    const known = this.#known.get(place.node);
    if (known !== undefined) return known;
    this.#known.set(place.node, []);
    const said = [...new Set(this.#read(place, isPart))];
    const texts = said.length > MOST_VARIANTS && isPart ? [VALUE] : said;
    this.#known.set(place.node, texts);
    return texts;
  }

  #read(place: Place, isPart: boolean): readonly string[] {
    const { node, file } = place;
    const of = (found: SyntaxNode | undefined): readonly string[] => (found === undefined ? [] : this.texts(within(place, found), isPart));
    switch (node.type) {
      case 'StringLiteral':
        return [wordOf(node) ?? ''];
      case 'TemplateLiteral':
        return this.#filled(place);
      case 'ConditionalExpression':
        return [...of(part(node, 'consequent')), ...of(part(node, 'alternate'))];
      case 'BinaryExpression':
        return /^(\?\?|\|\|)$/.test(String(node.operator)) ? [...of(part(node, 'left')), ...of(part(node, 'right'))] : [VALUE];
      case 'ParenthesisExpression':
      case 'TsAsExpression':
      case 'TsConstAssertion':
      case 'TsSatisfiesExpression':
        return of(part(node, 'expression'));
      case 'ArrowFunctionExpression':
        return this.#returns(place, isPart);
      case 'ObjectExpression':
        return isPart ? [VALUE] : list(node.properties).flatMap((one) => of(givenBy(one)));
      case 'Identifier':
        return this.#named(place, isPart);
      case 'CallExpression': {
        const name = wordOf(part(node, 'callee'));
        const found = name === undefined ? [] : this.#find(this.#declared, name, file);
        return orValue(found.flatMap((one) => this.#returns(one, isPart)));
      }
      case 'MemberExpression': {
        const property = part(node, 'property');
        if (property?.type === 'Computed') return of(part(node, 'object'));
        const name = wordOf(property);
        if (isPart || name === undefined || !REFUSALS.has(name)) return [VALUE];
        const near = (this.#properties.get(name) ?? []).filter((one) => folderOf(one.file) === folderOf(file));
        return near.flatMap((one) => this.texts(within(one, givenBy(one.node) ?? one.node)));
      }
      default:
        return [VALUE];
    }
  }

  #filled(place: Place): readonly string[] {
    const [first = '', ...rest] = (place.node.quasis ?? []).map(({ cooked = '' }) => cooked);
    return list(place.node.expressions).reduce<readonly string[]>(
      (begun, expression, at) => {
        const said = orValue(this.texts(within(place, expression), true));
        const variants = begun.length * said.length > MOST_VARIANTS ? [VALUE] : said;
        return begun.flatMap((text) => variants.map((variant) => `${text}${variant}${rest[at] ?? ''}`));
      },
      [first],
    );
  }

  /** What a function says that is declared there. */
  #returns(place: Place, isPart: boolean): readonly string[] {
    const body = place.node.type === 'VariableDeclarator' ? part(place.node, 'init') : place.node;
    if (body === undefined || !isFunction(body)) return [];
    const at = body === place.node ? place : within(place, body);
    const inner = part(body, 'body');
    if (inner !== undefined && inner.type !== 'FunctionBody') return this.texts(within(at, inner), isPart);
    return (this.#returned.get(body) ?? []).flatMap((one) => {
      const returned = part(one.node, 'argument');
      return returned === undefined ? [] : this.texts(within(one, returned), isPart);
    });
  }

  /** A parameter says what callers give; a constant, what it is. */
  #named(place: Place, isPart: boolean): readonly string[] {
    const name = wordOf(place.node) ?? '';
    for (let around = place.parent; around !== undefined; around = around.parent) {
      if (!isFunction(around.node)) continue;
      const parameters = list(around.node.params);
      const at = parameters.findIndex((one) => boundBy(one).name === name);
      const parameter = parameters[at];
      if (parameter === undefined) continue;
      const { otherwise } = boundBy(parameter);
      const called = wordOf(part(around.node, 'identifier')) ?? wordOf(part(around.parent?.node, 'id'));
      const declared = around.node.type === 'FunctionDeclaration' ? around : around.parent;
      const isShared = declared !== undefined && isExported(declared);
      const calls = (this.#called.get(called ?? '') ?? []).filter(({ file }) => isShared || file === place.file);
      const said = calls.flatMap((call) => {
        const given = list(call.node.arguments).map((one) => part(one, 'expression'))[at] ?? otherwise;
        return given === undefined ? [] : this.texts(within(call, given), isPart);
      });
      return orValue(said);
    }
    const declared = this.#find(this.#declared, name, place.file);
    return orValue(
      declared.flatMap((one) => {
        const initial = part(one.node, 'init');
        return initial === undefined ? this.#returns(one, isPart) : this.texts(within(one, initial), isPart);
      }),
    );
  }
}

const orValue = (texts: readonly string[]): readonly string[] => (texts.length > 0 ? texts : [VALUE]);

/** @returns by text, the file that says it; each value in a text is `VALUE` */
export function refusalTexts(): ReadonlyMap<string, string> {
  const source = new Source(filesIn('src/', '.ts').filter((file) => !ELSEWHERE.test(file)));
  const found = new Map<string, string>();
  for (const place of source.messages())
    for (const text of source.texts(place)) if (/ /.test(text) && /\p{L}/u.test(text.replaceAll(VALUE, ''))) found.set(text, place.file);
  return found;
}
