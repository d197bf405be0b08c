/**
 * Decides whether an external identity can be linked to a local user by a verified e-mail address. An account that another person can access must
 * never be linked (pre-hijacking: Sudhodanan and Paverd, USENIX Security 2022), and neither an administrator's.
 */
import type { IdentityProviderPolicy } from './identity-provider.policy.ts';

/** Local user who has the address as e-mail address or user name. */
export interface LinkCandidate {
  readonly active: boolean;
  readonly administrator: boolean;
  /** Is it the user's own address, verified here? */
  readonly emailProved: boolean;
  /** No password, no passkey or other factor, no sign-in so far, no other provider's link: nobody has ever been able to sign in as them. */
  readonly untouched: boolean;
  /** Is a subject of this provider linked to the user? */
  readonly linkedAlready: boolean;
  readonly groupIds: readonly string[];
  /** The user's organizations. */
  readonly orgIds: readonly string[];
  /** The organization that has verified the domain of the address, and has connected the provider with it; undefined: none has. */
  readonly connection: { readonly orgId: string; readonly isRequired: boolean } | undefined;
  /** Is the provider connected with organizations, and the address of none of their domains? */
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
  // A customer's provider is trusted for its own domains only: it could claim any address.
  if (candidate.isOutside) return 'EMAIL_NOT_OF_ORGANIZATION';
  if (!candidate.active) return 'USER_NOT_ACTIVE';
  if (candidate.administrator) return 'USER_IS_ADMINISTRATOR';
  if (candidate.linkedAlready) return 'USER_LINKED_TO_ANOTHER';
  // An administrator of an organization can create an account with any address, and set its password later.
  const isOfAnother = candidate.orgIds.some((id) => id !== provisioning.orgId && id !== candidate.connection?.orgId);
  if (isOfAnother && !isBoundMember(candidate)) return 'USER_OF_ANOTHER_ORGANIZATION';
  // The creator of an account with another user's address has its password, and would share the account.
  if (!candidate.emailProved && !candidate.untouched && !isVouchedFor(candidate)) return 'LOCAL_EMAIL_NOT_VERIFIED';
  const groups = accountLink.filter?.groups.include;
  if (groups !== undefined && !candidate.groupIds.some((id) => groups.includes(id))) return 'USER_NOT_IN_GROUPS';
  return undefined;
}

/**
 * The domain's owner vouches for the mailbox: for its own members, and if its provider is required for the whole domain, so that passwords are not
 * accepted.
 */
const isVouchedFor = ({ connection, orgIds }: Pick<LinkCandidate, 'connection' | 'orgIds'>): boolean =>
  connection !== undefined && (connection.isRequired || orgIds.includes(connection.orgId));

/** A member of the organization that requires the provider can sign in no other way, even with memberships elsewhere. */
const isBoundMember = ({ connection, orgIds }: Pick<LinkCandidate, 'connection' | 'orgIds'>): boolean =>
  connection !== undefined && connection.isRequired && orgIds.includes(connection.orgId);
