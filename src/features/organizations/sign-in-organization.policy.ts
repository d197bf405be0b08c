/** For which organization a user signs in to an application. Pure: who is a member of what was read before. */

/** OPTIONAL: the request names it, or there is none. REQUIRED: without a name the user's only one, or the one that they choose. */
export const ORGANIZATION_SETTING = ['OPTIONAL', 'REQUIRED'] as const;
export type OrganizationSetting = (typeof ORGANIZATION_SETTING)[number];

/** An organization that a user belongs to. */
export interface SignInOrganization {
  readonly orgId: string;
  readonly name: string;
}

export interface OrganizationFacts {
  readonly setting: OrganizationSetting;
  /** The request's parameter `organization`: an ID, or a name. */
  readonly wanted: string | undefined;
  /** The ID that the user chose, now or in this session before. */
  readonly chosen: string | undefined;
  /** Of a request that names one: that one, where the user is a member. Else the chosen one first, then the oldest memberships; two are enough. */
  readonly found: readonly SignInOrganization[];
}

export type OrganizationDecision =
  | { readonly kind: 'none' }
  | { readonly kind: 'organization'; readonly orgId: string }
  | { readonly kind: 'choose' }
  | { readonly kind: 'not-a-member' };

/** Must it be read which organizations the user belongs to? */
export const needsOrganization = ({ setting, wanted }: Pick<OrganizationFacts, 'setting' | 'wanted'>): boolean =>
  wanted !== undefined || setting === 'REQUIRED';

export function decideOrganization(facts: OrganizationFacts): OrganizationDecision {
  if (!needsOrganization(facts)) return { kind: 'none' };
  const [first, second] = facts.found;
  if (first === undefined) return { kind: 'not-a-member' };
  if (facts.wanted !== undefined || second === undefined || first.orgId === facts.chosen)
    return { kind: 'organization', orgId: first.orgId };
  return { kind: 'choose' };
}
