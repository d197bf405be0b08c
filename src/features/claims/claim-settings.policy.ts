/** Rules for claims and scopes of an authorization server: names reserved by the protocol, and settings that must agree. */

import { jsonSize, LARGEST_FIXED_CLAIMS, membersSize } from '../authorization-servers/token-size.policy.ts';
import { patternProblem } from '../groups/group-filter.policy.ts';
import { standardClaimType } from './claims.policy.ts';
import { attributeOf, type ServerClaim, staticValue } from './custom-claims.policy.ts';

/**
 * Claims that tokens and introspection set themselves: RFC 7519 section 4.1, OpenID Connect Core sections 2, 3.3.2.11 and 5.6.2, RFC 9068, RFC 7662
 * section 2.2, RFC 7800, RFC 8693, OpenID Connect Back-Channel Logout; and a name that JavaScript clients cannot read safely.
 */
const PROTOCOL_CLAIMS: ReadonlySet<string> = new Set([
  ...['iss', 'sub', 'aud', 'exp', 'nbf', 'iat', 'jti', 'client_id', 'scope', 'scp', 'cid'],
  ...['nonce', 'auth_time', 'acr', 'amr', 'azp', 'at_hash', 'c_hash', 's_hash', 'sid', 'events', 'sub_jwk'],
  ...['active', 'token_type', 'username', 'uid', 'device_id', 'cnf', 'act', 'may_act', 'authorization_details'],
  ...['_claim_names', '_claim_sources', '__proto__'],
]);

export const isProtocolClaim = (name: string): boolean => PROTOCOL_CLAIMS.has(name);

export interface ClaimProblem {
  readonly field: string;
  readonly message: string;
}

export interface ClaimContext {
  /** Names of the scopes of its server. */
  readonly scopes: readonly string[];
  /** The other claims of its server. */
  readonly claims: readonly ServerClaim[];
  /** Attributes that a user can have. */
  readonly attributes: readonly string[];
}

/** @returns all problems of a claim; none: it is valid */
export function claimProblems(claim: ServerClaim, { scopes, claims, attributes }: ClaimContext): ClaimProblem[] {
  const problems: ClaimProblem[] = [];
  const refuse = (field: string, message: string | undefined) => {
    if (message !== undefined) problems.push({ field, message });
  };
  if (isProtocolClaim(claim.name)) refuse('name', 'is the name of a protocol claim. Choose another name');
  if (claim.claimType === 'RESOURCE' && !claim.alwaysIncludeInToken) {
    refuse('alwaysIncludeInToken', 'must be true for a claim of type RESOURCE');
  }
  if ((claim.valueType === 'GROUPS') !== (claim.groupFilterType !== null)) {
    refuse('group_filter_type', claim.valueType === 'GROUPS' ? 'is required' : `cannot be used with valueType ${claim.valueType}`);
  }
  refuse('value', valueProblem(claim, attributes));
  const unknown = claim.scopes.filter((scope) => !scopes.includes(scope));
  if (unknown.length > 0)
    refuse('conditions.scopes', `${unknown.join(', ')}: not a scope of this authorization server. Create the scope first`);
  refuse('value', sizeProblem(claim, claims));
  return problems;
}

function valueProblem(claim: ServerClaim, attributes: readonly string[]): string | undefined {
  const { valueType, value, valueFormat, groupFilterType } = claim;
  if (valueType !== 'STATIC' && valueFormat === 'JSON') return `must be a string with valueType ${valueType}`;
  switch (valueType) {
    case 'USER_ATTRIBUTE':
      return attributes.includes(attributeOf(value))
        ? undefined
        : 'must be an attribute of the profile, such as department or user.profile.department';
    case 'GROUPS':
      if (groupFilterType === 'REGEX') return patternProblem(value);
      return groupFilterType === 'EQUALS' && value === '' ? 'must not be empty' : undefined;
    case 'STATIC':
      return value === '' || (valueFormat === 'JSON' && value === '[]') ? 'must not be empty' : typeProblem(claim);
    case 'APP_ROLES':
      return value === '' ? undefined : 'must be empty with valueType APP_ROLES';
    default:
      return ['', 'id', 'name'].includes(value) ? undefined : 'must be id, name or empty';
  }
}

/** OpenID Connect Core section 5.1: a standard claim has one type, whatever its source; libraries refuse a token with another one. */
function typeProblem(claim: ServerClaim): string | undefined {
  const type = standardClaimType(claim.name);
  return type === undefined || typeof staticValue(claim) === type
    ? undefined
    : `must be of type ${type}: ${claim.name} is a standard claim`;
}

/** A request for all scopes puts all claims with fixed values into one token. */
function sizeProblem(claim: ServerClaim, others: readonly ServerClaim[]): string | undefined {
  if (claim.valueType !== 'STATIC' || claim.status !== 'ACTIVE') return undefined;
  const fixed = [...others, claim].filter(
    ({ valueType, status, claimType }) => valueType === 'STATIC' && status === 'ACTIVE' && claimType === claim.claimType,
  );
  const size = membersSize(Object.fromEntries(fixed.map((each) => [each.name, staticValue(each)])));
  if (size <= LARGEST_FIXED_CLAIMS) return undefined;
  return `is too large: it has ${jsonSize(staticValue(claim))} bytes, and all static values of a token can have at most ${LARGEST_FIXED_CLAIMS} bytes`;
}

/** @returns the problem of a scope's name (RFC 6749 section 3.3); undefined: none */
export function scopeNameProblem(name: string): string | undefined {
  if (!/^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/.test(name)) {
    return 'must be 1 to 100 printable ASCII characters without spaces, quotation marks and backslashes';
  }
  // In conditions of access rules, `*` means every scope.
  return name === '*' ? 'must not be *' : undefined;
}
