/** Outbound provisioning: the SCIM target of an application, and the state of each user and group there. */

import type { TargetMapping } from './remote-user.policy.ts';

/** Authentication at the target. */
export type TargetAuth =
  | { readonly type: 'BEARER' }
  | { readonly type: 'OAUTH'; readonly tokenUrl: string; readonly clientId: string; readonly scope?: string | undefined };

export interface ProvisioningTarget {
  readonly applicationId: string;
  readonly status: 'ACTIVE' | 'INACTIVE';
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly auth: TargetAuth;
  /** Encrypted: the bearer token, or the secret of the OAuth client. */
  readonly secret: string;
  readonly mapping: TargetMapping;
  /** Action for users who lose access. */
  readonly leavers: 'DEACTIVATE' | 'DELETE';
  readonly pushGroups: boolean;
  /** Start of the current outage; null: the target is available, as far as known. */
  readonly awaySince: Date | null;
  readonly awayReason: string | null;
  /** Start of the last outage that has ended; null: none. */
  readonly outageSince: Date | null;
  readonly outageUntil: Date | null;
  readonly outageReason: string | null;
  /** Number of consecutive outages with less than an hour between them, including the last one. */
  readonly outagesInARow: number;
  readonly created: Date;
  readonly lastUpdated: Date;
}

export const PROVISIONED_STATES = ['PROVISIONED', 'DEACTIVATED', 'FAILED'] as const;
export const PROVISIONED_KINDS = ['user', 'group'] as const;
export type ProvisionedKind = (typeof PROVISIONED_KINDS)[number];

/** A user or group at the target. */
export interface ProvisionedResource {
  readonly kind: ProvisionedKind;
  readonly id: string;
  readonly name: string;
  /** Its ID at the target; null: it was not created yet. */
  readonly remoteId: string | null;
  /** Was it created there by this service? */
  readonly createdThere: boolean;
  readonly state: (typeof PROVISIONED_STATES)[number];
  /** Digest of the last sent data; null: compare with the target again. */
  readonly digest: string | null;
  /** Attempts that failed in a row. */
  readonly failures: number;
  readonly error: string | null;
  readonly lastAttempt: Date;
  readonly lastSuccess: Date | null;
}
