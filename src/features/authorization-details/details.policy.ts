/**
 * Authorization details of a request (RFC 9396): read from the parameter, judged by the types of the server and by what was granted before. Pure
 * decisions, for the protocol and for the simulator.
 */
import { canonicalJson, jsonProblem } from '../../platform/validation/json-value.ts';

export interface AuthorizationDetail {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** A type as the protocol needs it. */
export interface OfferedType {
  readonly name: string;
  /** @returns where and how a detail does not match the schema of the type; undefined: it does */
  mismatch(detail: AuthorizationDetail): string | undefined;
}

/** Characters of the parameter. */
export const LONGEST_DETAILS = 8192;
export const MOST_DETAILS = 20;
/** Levels of objects and lists in one of them. */
const DEPTH = 10;

/** Fields with a meaning for every type, lists of strings (RFC 9396 section 2.2). A list with fewer of them asks for less. */
const LISTS = ['locations', 'actions', 'datatypes', 'privileges'] as const;

type Read = { readonly details: readonly AuthorizationDetail[] } | { readonly problem: string };

/** @param value of the parameter; undefined: it is not there @returns the details, or why they are none */
export function readDetails(value: unknown): Read {
  if (value === undefined || value === '') return { details: [] };
  if (typeof value !== 'string') return { problem: 'must not be there twice' };
  if (value.length > LONGEST_DETAILS) return { problem: `must not be longer than ${LONGEST_DETAILS} characters` };
  let parsed: unknown;
  try {
    parsed = JSON.parse(value);
  } catch {
    return { problem: 'must be JSON' };
  }
  if (!Array.isArray(parsed)) return { problem: 'must be a JSON array' };
  if (parsed.length > MOST_DETAILS) return { problem: `must not have more than ${MOST_DETAILS} objects` };
  for (const [index, one] of parsed.entries()) {
    const problem = shapeProblem(one);
    if (problem !== undefined) return { problem: `${index}: ${problem}` };
  }
  return { details: parsed as AuthorizationDetail[] };
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';

function shapeProblem(one: unknown): string | undefined {
  if (typeof one !== 'object' || one === null || Array.isArray(one)) return 'must be a JSON object';
  const problem = jsonProblem(one, DEPTH);
  if (problem !== undefined) return problem;
  const fields = one as Readonly<Record<string, unknown>>;
  if (!isText(fields.type)) return 'type must be a string';
  if ('identifier' in fields && !isText(fields.identifier)) return 'identifier must be a string';
  const list = LISTS.find((name) => name in fields && !isListOfTexts(fields[name]));
  return list === undefined ? undefined : `${list} must be a list of strings`;
}

const isListOfTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText);

/** @returns why the application cannot be granted the detail here; undefined: it can @param allowed the names of the types that the application may use */
function refusal(detail: AuthorizationDetail, { types, allowed }: Pick<DetailFacts, 'types' | 'allowed'>): string | undefined {
  const type = types.get(detail.type);
  if (type === undefined) return 'the authorization server has no such type';
  if (!allowed.includes(type.name)) return 'the application may not use this type: add it to its authorization_details_types';
  const mismatch = type.mismatch(detail);
  return mismatch && `does not match the schema of its type: ${mismatch}`;
}

/** May what was granted stand for what is asked for? The same fields, and of the lists no more than was granted. */
export const covers = (granted: AuthorizationDetail, asked: AuthorizationDetail): boolean =>
  Object.keys(granted).length === Object.keys(asked).length &&
  Object.keys(asked).every((name) => Object.hasOwn(granted, name) && isWithin(name, granted[name], asked[name]));

function isWithin(name: string, granted: unknown, asked: unknown): boolean {
  const isList = (LISTS as readonly string[]).includes(name) && isListOfTexts(granted) && isListOfTexts(asked);
  return isList ? asked.length > 0 && asked.every((one) => granted.includes(one)) : canonicalJson(granted) === canonicalJson(asked);
}

export interface DetailFacts {
  readonly asked: readonly AuthorizationDetail[];
  /** What the code, the refresh token or the subject token has; undefined: the request stands on none of them. */
  readonly granted: readonly AuthorizationDetail[] | undefined;
  readonly types: ReadonlyMap<string, OfferedType>;
  /** The names of the types that the application may use. */
  readonly allowed: readonly string[];
}

export type DetailDecision =
  | { readonly details: readonly AuthorizationDetail[] }
  | { readonly problem: string /** In the list that was asked for. */; readonly index: number };

/**
 * Decides what a code or token is granted. Without a wish it is what was granted before, as far as it can still be granted: of a type that was
 * deleted, or taken from the application, nothing is.
 */
export function decideDetails(facts: DetailFacts): DetailDecision {
  const { asked, granted } = facts;
  const held = granted?.filter((one) => refusal(one, facts) === undefined);
  if (asked.length === 0) return { details: held ?? [] };
  for (const [index, one] of asked.entries()) {
    const problem = refusal(one, facts);
    if (problem !== undefined) return { problem, index };
    if (held?.some((before) => covers(before, one)) === false) return { problem: 'asks for more than was granted', index };
  }
  return { details: asked };
}

/** The names of the types, each once. */
export const typesOf = (details: readonly AuthorizationDetail[]): string[] => [...new Set(details.map(({ type }) => type))];
