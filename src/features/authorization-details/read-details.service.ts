/** The parameter authorization_details (RFC 9396 section 2), read and bounded before anything looks at it. */
import { jsonProblem } from '../../platform/validation/json-value.ts';
import { type AuthorizationDetail, isListOfTexts, isText, LISTS } from './details.policy.ts';

/** Characters of the parameter. */
const LONGEST_DETAILS = 8192;
export const MOST_DETAILS = 20;
/** Levels of objects and lists in one of them. */
const DEPTH = 10;

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
