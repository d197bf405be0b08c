/** Scopes: the fields of a record. */

export type ScopeConsent = 'IMPLICIT' | 'REQUIRED' | 'FLEXIBLE';

export interface Scope {
  readonly id: string;
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  readonly consent: ScopeConsent;
  readonly isDefault: boolean;
  readonly optional: boolean;
  /** A standard one: neither deleted nor renamed. */
  readonly system: boolean;
  readonly metadataPublish: 'ALL_CLIENTS' | 'NO_CLIENTS';
}
