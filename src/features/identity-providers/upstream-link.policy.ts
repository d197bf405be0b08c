/**
 * Decides whether an external identity can be linked to a local user by a verified e-mail address. Accounts that someone else can access
 * (pre-hijacking: Sudhodanan and Paverd, USENIX Security 2022) and accounts of administrators must never be linked.
 */
import type { IdentityProviderPolicy } from './identity-provider.policy.ts';

/** Local user who has the address as e-mail address or user name. */
export interface LinkCandidate {
  readonly active: boolean;
  readonly administrator: boolean;
  /** Is it the user's own address, verified by this service? */
  readonly emailProved: boolean;
  /** No password, no passkey or other factor, no sign-in so far, no other provider's link: nobody can have signed in to the account. */
  readonly untouched: boolean;
  /** Is a subject of this provider linked to the user? */
  readonly linkedAlready: boolean;
  readonly groupIds: readonly string[];
  /** The user's organizations. */
  readonly orgIds: readonly string[];
  /** The organization that has verified the domain of the address and connected it with the provider; undefined: none. */
  readonly connection: { readonly orgId: string; readonly isRequired: boolean } | undefined;
  /** Does the provider belong to organizations, and the address to none of their domains? */
  readonly isOutside: boolean;
}

export type LinkRefusal =
  | 'ACCOUNT_LINK_DISABLED'
  | 'EMAIL_NOT_OF_ORGANIZATION'
  | 'USER_NOT_ACTIVE'
  | 'USER_IS_ADMINISTRATOR'
  | 'USER_LINKED_TO_ANOTHER'
  | 'USER_OF_ANOTHER_ORGANIZATION'
  | 'LOCAL_EMAIL_NOT_VERIFIED'
  | 'USER_NOT_IN_GROUPS';

/** @returns the reason for a refusal; undefined: the identity can be linked */
export function linkRefusal({ accountLink, provisioning }: IdentityProviderPolicy, candidate: LinkCandidate): LinkRefusal | undefined {
  if (accountLink.action !== 'AUTO') return 'ACCOUNT_LINK_DISABLED';
  // An organization's provider is trusted only for the organization's domains: it could claim any address.
  if (candidate.isOutside) return 'EMAIL_NOT_OF_ORGANIZATION';
  if (!candidate.active) return 'USER_NOT_ACTIVE';
  if (candidate.administrator) return 'USER_IS_ADMINISTRATOR';
  if (candidate.linkedAlready) return 'USER_LINKED_TO_ANOTHER';
  // An administrator of an organization can create an account with any address, and set its password later.
  const isOfAnother = candidate.orgIds.some((id) => id !== provisioning.orgId && id !== candidate.connection?.orgId);
  if (isOfAnother && !isBoundMember(candidate)) return 'USER_OF_ANOTHER_ORGANIZATION';
  // The creator of an account with someone else's address knows its password, and would share the account.
  if (!candidate.emailProved && !candidate.untouched && !isVouchedFor(candidate)) return 'LOCAL_EMAIL_NOT_VERIFIED';
  const groups = accountLink.filter?.groups.include;
  if (groups !== undefined && !candidate.groupIds.some((id) => groups.includes(id))) return 'USER_NOT_IN_GROUPS';
  return undefined;
}

/**
 * Is the provider trusted for the mailbox? The domain's owner is trusted for its own members, and for the whole domain if its provider is required,
 * because passwords are not accepted then.
 */
const isVouchedFor = ({ connection, orgIds }: Pick<LinkCandidate, 'connection' | 'orgIds'>): boolean =>
  connection !== undefined && (connection.isRequired || orgIds.includes(connection.orgId));

/** A member of the organization that requires the provider can sign in no other way, even with memberships elsewhere. */
const isBoundMember = ({ connection, orgIds }: Pick<LinkCandidate, 'connection' | 'orgIds'>): boolean =>
  connection?.isRequired === true && orgIds.includes(connection.orgId);
