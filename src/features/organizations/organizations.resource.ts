/** Organizations: the fields of a record. */

/** Source of an organization: created here, or mirrored from an identity source. */
export type OrganizationType = 'LOCAL' | 'LDAP' | 'SCIM' | 'OIDC';

/** A department in its organization's tree. */
export interface Department {
  readonly id: string;
  /** null at the top level. */
  readonly parentId: string | null;
  readonly name: string;
  /** Its ID in the source system; empty if none. */
  readonly originId: string;
}

/** Sort orders of organizations. */
export type OrganizationOrder = 'name' | 'created' | 'members';
