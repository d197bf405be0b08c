/** Generates operation and schema names of the OpenAPI document from method and path, so endpoints do not have to define them. */
import { z } from 'zod';
import type { Endpoint } from './endpoint.ts';

const capitalized = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
const pascal = (segment: string): string => segment.split(/[-_]/).map(capitalized).join('');
const singular = (segment: string): string => segment.replace(/ies$/, 'y').replace(/s$/, '');
const plural = (segment: string): string => (segment.endsWith('s') ? segment : `${segment}s`);
const isParameter = (segment: string | undefined): boolean => segment?.startsWith(':') === true;

/** @returns the subject of the path, e.g. AppUsers or AppUser for `/apps/:id/users` */
function nounOf(path: string, ending: (segment: string) => string): string {
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== 'account');
  const last = segments.findLastIndex((segment) => !isParameter(segment));
  const words = segments.map((segment, turn) => {
    if (isParameter(segment)) return '';
    if (turn === last) return pascal(ending(segment));
    return pascal(isParameter(segments[turn + 1]) ? singular(segment) : segment);
  });
  return words.join('');
}

/** Are there operations on single elements of the path's resource? */
const isCollection = (path: string, endpoints: readonly Endpoint[]): boolean =>
  endpoints.some((other) => other.path.startsWith(`${path}/:`) && !other.path.slice(path.length + 2).includes('/'));

const VERBS = { GET: 'get', POST: 'create', PUT: 'put', DELETE: 'delete' } as const;

/** @returns the operation's name, unique among the endpoints, e.g. `listAppUsers` */
export function operationName({ method, path, response }: Endpoint, endpoints: readonly Endpoint[]): string {
  // A name that ends in Execute collides with a name that Go's generator derives from the one before it.
  const [, owner, step] = /^(.*)\/(?:lifecycle\/(?=\w+$)|(?=execute$))(\w+)$/.exec(path) ?? [];
  if (owner !== undefined && step !== undefined) {
    const [verb = '', ...rest] = step.split('_');
    return `${verb}${nounOf(owner, singular)}${rest.map(capitalized).join('')}`;
  }
  const isOne = isParameter(path.split('/').at(-1));
  if (isOne && method === 'POST') return `update${nounOf(path, singular)}`;
  const isMany = isCollection(path, endpoints);
  if (isOne || (isMany && method === 'POST')) return `${VERBS[method]}${nounOf(path, singular)}`;
  if (method === 'GET' && (isMany || response instanceof z.ZodArray)) return `list${nounOf(path, plural)}`;
  return `${VERBS[method]}${nounOf(path, (segment) => segment)}`;
}

/**
 * Resources in responses and their names: readable resources are named by their noun, responses of changes by method and noun. For lists the element
 * is named. Responses of lifecycle steps have no name.
 */
export function schemaNames(endpoints: readonly Endpoint[]): ReadonlyMap<z.ZodType, string> {
  const responses = endpoints.flatMap(({ method, path, response }) => {
    const isArray = response instanceof z.ZodArray;
    const schema = isArray ? (response.element as z.ZodType) : response;
    if (!(schema instanceof z.ZodObject) || path.includes('/lifecycle/')) return [];
    const isWrapped = method === 'GET' && !isArray && isCollection(path, endpoints);
    return [{ method, schema, noun: nounOf(path, isWrapped ? plural : singular) }];
  });
  const named = new Map<z.ZodType, string>();
  const name = (schema: z.ZodType, wanted: string) => {
    if (named.has(schema)) return;
    if ([...named.values()].includes(wanted)) throw new Error(`two different answers of the API would be called ${wanted}`);
    named.set(schema, wanted);
  };
  for (const { method, schema, noun } of responses) if (method === 'GET') name(schema, noun);
  for (const { schema, noun } of responses) {
    const isOfCreation = responses.every((other) => other.schema !== schema || other.method === 'POST');
    name(schema, isOfCreation ? `Created${noun}` : `${noun}Answer`);
  }
  return named;
}
