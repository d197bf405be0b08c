/**
 * Token changes that a hook of type com.okta.oauth2.tokens.transform may request, in Okta's commands: non-protocol claims, and shorter lifetimes. A
 * response with one invalid operation changes nothing.
 */
import { LARGEST_FIXED_CLAIMS, membersSize } from '../authorization-servers/token-size.policy.ts';
import { isProtocolClaim } from '../claims/claim-settings.policy.ts';

type Claims = Readonly<Record<string, unknown>>;

/** A token as it would be issued. */
export interface ProposedToken {
  readonly claims: Claims;
  /** Seconds. */
  readonly lifetime: number;
}

/** Changes to a token. */
export interface TokenChanges {
  /** Claims that are added or changed. */
  readonly set: Claims;
  /** Names of removed claims. */
  readonly removed: readonly string[];
  /** Seconds; undefined: unchanged. */
  readonly lifetime: number | undefined;
}

/** An operation of RFC 6902; only those that Okta supports. */
export interface Operation {
  readonly op: 'add' | 'replace' | 'remove';
  readonly path: string;
  readonly value?: unknown;
}

type Kind = 'access' | 'identity';

const LIFETIME = '/token/lifetime/expiration';
/** Seconds: five minutes, as in Okta. */
const SHORTEST_LIFETIME = 300;
/** Maximum number of path members below the claim. */
const DEEPEST = 5;

/** An invalid response; the message contains no values. */
class WrongCommand extends Error {}

export type TokenDecision =
  | { readonly changes: { readonly [K in Kind]?: TokenChanges }; readonly changed: readonly string[] }
  | { readonly problem: string };

/**
 * @param wanted operations of the hook's response
 * @param proposed the tokens that would be issued; operations on other tokens are ignored, as in Okta
 * @returns the changes, or the problem of the operations
 */
export function decideTokenChanges(
  wanted: { readonly [K in Kind]: readonly Operation[] },
  proposed: { readonly [K in Kind]?: ProposedToken },
): TokenDecision {
  try {
    const changes: { [K in Kind]?: TokenChanges } = {};
    for (const kind of ['access', 'identity'] as const) {
      const operations = wanted[kind];
      const token = proposed[kind];
      if (token !== undefined && operations.length > 0) changes[kind] = apply(operations, token);
    }
    const changed = Object.entries(changes).flatMap(([kind, { set, removed, lifetime }]) => [
      ...Object.keys(set).map((name) => `${kind}: ${name}`),
      ...removed.map((name) => `${kind}: ${name}`),
      ...(lifetime === undefined ? [] : [`${kind}: lifetime`]),
    ]);
    return { changes, changed };
  } catch (error) {
    if (error instanceof WrongCommand) return { problem: error.message };
    // Deeply nested JSON exceeds the stack when it is copied or serialized.
    if (error instanceof RangeError) return { problem: 'a value is nested too deeply' };
    throw error;
  }
}

function apply(operations: readonly Operation[], { claims, lifetime }: ProposedToken): TokenChanges {
  const now = structuredClone(claims) as Record<string, unknown>;
  let shorter: number | undefined;
  for (const one of operations) {
    if (one.path === LIFETIME) shorter = shorterLifetime(one, lifetime);
    else patchClaim(now, one);
  }
  const set = Object.fromEntries(Object.entries(now).filter(([name, value]) => !isSame(value, claims[name])));
  if (Object.keys(set).length > 0 && membersSize(now) > LARGEST_FIXED_CLAIMS)
    throw new WrongCommand('the claims would make the token larger than 8 KiB');
  return { set, removed: Object.keys(claims).filter((name) => !Object.hasOwn(now, name)), lifetime: shorter };
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

function shorterLifetime({ op, value }: Operation, lifetime: number): number {
  const least = Math.min(SHORTEST_LIFETIME, lifetime);
  if (op === 'remove' || typeof value !== 'number' || !Number.isInteger(value) || value < least || value > lifetime)
    throw new WrongCommand(`${LIFETIME} must be ${least} to ${lifetime}: a hook makes tokens shorter only`);
  return value;
}

/** RFC 6901: the members of a path after the first. */
const membersOf = (path: string): readonly string[] =>
  path
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));

/** Applies an operation of RFC 6902; `add` to an existing claim replaces it. */
function patchClaim(claims: Record<string, unknown>, { op, path, value }: Operation): void {
  const [root, name = '', ...below] = path.startsWith('/') ? membersOf(path) : [];
  if (root !== 'claims' || name === '') throw new WrongCommand('a path is neither /claims/<name> nor /token/lifetime/expiration');
  if (isProtocolClaim(name)) throw new WrongCommand(`/claims/${name} is a claim of the protocol`);
  if (name.length > 100) throw new WrongCommand('the name of a claim is longer than 100 characters');
  if (below.length > DEEPEST || below.includes('__proto__')) throw new WrongCommand(`the path below /claims/${name} cannot be followed`);
  if (op !== 'remove' && value === undefined) throw new WrongCommand(`${op} of /claims/${name} has no value`);
  const wrong = () => new WrongCommand(`${op} of /claims/${name}: there is nothing at this path`);

  let holder: unknown = claims;
  for (const member of [name, ...below].slice(0, -1)) {
    holder = isContainer(holder) && Object.hasOwn(holder, member) ? (holder as Record<string, unknown>)[member] : undefined;
  }
  const last = [name, ...below].at(-1) ?? '';
  if (Array.isArray(holder)) patchList(holder, last, op, value, wrong);
  else if (isContainer(holder)) {
    if (op !== 'add' && !Object.hasOwn(holder, last)) throw wrong();
    if (op === 'remove') delete (holder as Record<string, unknown>)[last];
    else (holder as Record<string, unknown>)[last] = value;
  } else throw wrong();
}

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null;

function patchList(list: unknown[], member: string, op: Operation['op'], value: unknown, wrong: () => WrongCommand): void {
  const index = member === '-' && op === 'add' ? list.length : /^(0|[1-9]\d{0,3})$/.test(member) ? Number(member) : -1;
  if (index < 0 || index > list.length || (op !== 'add' && index === list.length)) throw wrong();
  if (op === 'add') list.splice(index, 0, value);
  else if (op === 'replace') list[index] = value;
  else list.splice(index, 1);
}

/** @returns the claims with the changes, which never contain protocol claims */
export function withChanges(claims: Claims, { set, removed }: Pick<TokenChanges, 'set' | 'removed'>): Claims {
  const kept = Object.entries(claims).filter(([name]) => !removed.includes(name));
  return Object.fromEntries([...kept, ...Object.entries(set)]);
}
