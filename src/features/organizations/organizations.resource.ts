/** Organizations: the fields of a record. */

/** Source of an organization: local, or an identity source that is mirrored here. */
export type OrganizationType = 'LOCAL' | 'LDAP' | 'SCIM' | 'OIDC';

/** A department as its organization's tree shows it. */
export interface Department {
  readonly id: string;
  /** null at the top level. */
  readonly parentId: string | null;
  readonly name: string;
  /** Its id in the source; empty where there is none. */
  readonly originId: string;
}

/** What organizations can be sorted by. */
export type OrganizationOrder = 'name' | 'created' | 'members';
