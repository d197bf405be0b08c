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

/** The name of the TXT record that verifies a domain. A name of its own leaves the records of the domain itself alone. */
export const challengeName = (domain: string): string => `_gatehouse-challenge.${domain}`;
