/** Decides for which organization a user signs in to an application. Pure: memberships were read before. */

import type { OrganizationPolicy } from '../organization-policy/organization-policy.policy.ts';

/**
 * OPTIONAL: users sign in for an organization only if the request names one. REQUIRED: otherwise for their only organization, or for the one that
 * they choose.
 */
export const ORGANIZATION_SETTING = ['OPTIONAL', 'REQUIRED'] as const;
export type OrganizationSetting = (typeof ORGANIZATION_SETTING)[number];

/** An organization of a user. */
export interface SignInOrganization {
  readonly orgId: string;
  readonly name: string;
  /** null: the organization has no policy. */
  readonly policy: OrganizationPolicy | null;
}

export interface OrganizationFacts {
  readonly setting: OrganizationSetting;
  /** The request's parameter `organization`: an ID, or a name. */
  readonly wanted: string | undefined;
  /** ID of the organization that the user chose, now or earlier in this session. */
  readonly chosen: string | undefined;
  /**
   * If the request names an organization: that one, if the user is a member. Otherwise the chosen one first, then the oldest memberships; at most
   * two.
   */
  readonly found: readonly SignInOrganization[];
}

export type OrganizationDecision =
  | { readonly kind: 'none' }
  | { readonly kind: 'organization'; readonly orgId: string; readonly policy: OrganizationPolicy | null }
  | { readonly kind: 'choose' }
  | { readonly kind: 'not-a-member' };

/** Must the user's organizations be read? */
export const needsOrganization = ({ setting, wanted }: Pick<OrganizationFacts, 'setting' | 'wanted'>): boolean =>
  wanted !== undefined || setting === 'REQUIRED';

export function decideOrganization(facts: OrganizationFacts): OrganizationDecision {
  if (!needsOrganization(facts)) return { kind: 'none' };
  const [first, second] = facts.found;
  if (first === undefined) return { kind: 'not-a-member' };
  if (facts.wanted !== undefined || second === undefined || first.orgId === facts.chosen)
    return { kind: 'organization', orgId: first.orgId, policy: first.policy };
  return { kind: 'choose' };
}

interface Membership {
  readonly orgId: string;
  readonly orgName: string;
}

/**
 * Like `decideOrganization`, for a user who has not chosen.
 * @param memberships undefined: no interactive user
 */
export function decideAmong(
  { setting = 'OPTIONAL', wanted }: { readonly setting: OrganizationSetting | undefined; readonly wanted: string | undefined },
  memberships: readonly Membership[] | undefined,
): OrganizationDecision {
  if (memberships === undefined) return { kind: 'none' };
  const all = memberships.map(({ orgId, orgName }) => ({ orgId, name: orgName, policy: null }));
  const byId = all.filter(({ orgId }) => orgId === wanted);
  const found = wanted === undefined ? all : byId.length > 0 ? byId : all.filter(({ name }) => name === wanted);
  return decideOrganization({ setting, wanted, chosen: undefined, found });
}

/** @param isSilent is the request not allowed to show a page? @returns undefined: the request continues */
export function organizationRefusal({ kind }: OrganizationDecision, isSilent: boolean): { error: string; reason: string } | undefined {
  if (kind === 'not-a-member') return { error: 'access_denied', reason: 'the user is not a member of the organization' };
  if (kind !== 'choose' || !isSilent) return undefined;
  return { error: 'interaction_required', reason: 'the user must choose an organization, but the request has prompt=none' };
}

/** The user with the organization that they sign in for, unless they must still choose. */
export const signedInFor = <M extends Membership, U extends { readonly memberships: readonly M[] }>(
  user: U | undefined,
  decision: OrganizationDecision,
): (U & { readonly organization?: M | undefined }) | undefined =>
  user === undefined || decision.kind !== 'organization'
    ? user
    : { ...user, organization: user.memberships.find(({ orgId }) => orgId === decision.orgId) };
