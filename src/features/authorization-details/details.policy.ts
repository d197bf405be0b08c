/** Authorization details (RFC 9396), evaluated by the server's types and earlier grants: pure decisions for the protocol and the simulator. */

import { canonicalJson } from '../../platform/validation/canonical-json.policy.ts';

export interface AuthorizationDetail {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** A type as the protocol needs it. */
export interface OfferedType {
  readonly name: string;
  /** @returns where and how a detail violates the type's schema; undefined: it matches */
  mismatch(detail: AuthorizationDetail): string | undefined;
}

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Fields with the same meaning for every type, lists of strings (RFC 9396 section 2.2). A shorter list requests less. */
export const LISTS = ['locations', 'actions', 'datatypes', 'privileges'] as const;

export const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';

export const isListOfTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText);

/**
 * @returns the reason why the application cannot be granted the detail; undefined: it can
 * @param allowed names of the types that the application can request
 */
function refusal(detail: AuthorizationDetail, { types, allowed }: Pick<DetailFacts, 'types' | 'allowed'>): string | undefined {
  const type = types.get(detail.type);
  if (type === undefined) return 'the authorization server does not have this type. Create it there';
  if (!allowed.includes(type.name)) return 'the application may not use this type. Add it to its authorization_details_types';
  const mismatch = type.mismatch(detail);
  return mismatch && `does not match the schema of its type: ${mismatch}`;
}

/** Does the granted detail cover the requested one? Same fields, and list values that were granted. */
export const covers = (granted: AuthorizationDetail, requested: AuthorizationDetail): boolean =>
  Object.keys(granted).length === Object.keys(requested).length &&
  Object.keys(requested).every((name) => Object.hasOwn(granted, name) && isWithin(name, granted[name], requested[name]));

function isWithin(name: string, granted: unknown, requested: unknown): boolean {
  const isList = (LISTS as readonly string[]).includes(name) && isListOfTexts(granted) && isListOfTexts(requested);
  return isList
    ? requested.length > 0 && requested.every((one) => granted.includes(one))
    : canonicalJson(granted) === canonicalJson(requested);
}

export interface DetailFacts {
  readonly requested: readonly AuthorizationDetail[];
  /** Details of the code, refresh token or subject token; undefined: the request is based on none of them. */
  readonly granted: readonly AuthorizationDetail[] | undefined;
  readonly types: ReadonlyMap<string, OfferedType>;
  /** Names of the types that the application can request. */
  readonly allowed: readonly string[];
}

export type DetailDecision =
  | { readonly details: readonly AuthorizationDetail[] }
  | { readonly problem: string /** Index in the requested list. */; readonly index: number };

/**
 * Decides the details of a code or token. If none are requested, earlier ones are granted again, except those whose type was deleted or is no longer
 * allowed for the application.
 */
export function decideDetails(facts: DetailFacts): DetailDecision {
  const { requested, granted } = facts;
  const held = granted?.filter((one) => refusal(one, facts) === undefined);
  if (requested.length === 0) return { details: held ?? [] };
  for (const [index, one] of requested.entries()) {
    const problem = refusal(one, facts);
    if (problem !== undefined) return { problem, index };
    if (held?.some((before) => covers(before, one)) === false) return { problem: 'asks for more than was granted', index };
  }
  return { details: requested };
}
