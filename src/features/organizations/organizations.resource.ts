/** Organizations: the fields of a record. */

/** Where an organization is kept: here, or in an identity source that is only mirrored here. */
export type OrganizationType = 'LOCAL' | 'LDAP' | 'SCIM' | 'OIDC';
