/** A domain of an organization: the fields of a record. */
export interface OrganizationDomain {
  readonly orgId: string;
  /** Lower case, in ASCII (RFC 5890). */
  readonly domain: string;
  /** Value of the TXT record for verification. Not a secret: it is public in DNS. */
  readonly challenge: string;
  readonly created: Date;
  /** null: not verified yet. */
  readonly verified: Date | null;
}

/** Limit per organization. */
export const MOST_DOMAINS = 100;

/** Name of the TXT record that verifies a domain. A separate name does not affect the domain's own records. */
export const challengeName = (domain: string): string => `_gatehouse-challenge.${domain}`;
