/** Bulk jobs: one action on many rows, executed in the background. */
import type { RequestContext } from '../audit/audit-event.policy.ts';
import type { ProvisionedKind } from '../provisioning/provisioning.resource.ts';

/** Maximum rows per job. */
export const MOST_ROWS = 100_000;

export const BULK_ACTIONS = [
  'users.activate',
  'users.refuse',
  'users.reactivate',
  'users.unlock',
  'users.unsuspend',
  'users.add-to-group',
  'users.remove-from-group',
  'users.assign-application',
  'users.end-sessions',
  'users.expire-password',
  'users.reset-password',
  'users.reset-factors',
  'users.suspend',
  'users.deactivate',
  'users.delete',
  'users.import',
  'members.remove',
  'applications.activate',
  'applications.deactivate',
  'applications.delete',
  'groups.delete',
  'organizations.delete',
  'sessions.end',
  'consents.revoke',
  'invitations.resend',
  'invitations.revoke',
  'tokens.revoke',
  'identity-providers.activate',
  'identity-providers.deactivate',
  'identity-providers.delete',
  'event-hooks.activate',
  'event-hooks.deactivate',
  'event-hooks.delete',
  'deliveries.repeat',
  'provisioned.retry',
  'inline-hooks.activate',
  'inline-hooks.deactivate',
  'inline-hooks.delete',
  'signal-streams.enable',
  'signal-streams.pause',
  'signal-streams.disable',
  'signal-streams.delete',
  'servers.activate',
  'servers.deactivate',
  'servers.delete',
  'scopes.delete',
  'claims.delete',
  'factors.reset',
  'trusted-browsers.end',
  'administrators.remove-roles',
  'roles.remove',
  'group-memberships.remove',
  'affiliations.remove',
  'assignments.remove',
  'links.remove',
  'zones.delete',
  'application-roles.delete',
  'organization-roles.delete',
  'domains.remove',
  'organization-providers.remove',
  'policies.activate',
  'policies.deactivate',
  'policies.delete',
  'rules.activate',
  'rules.deactivate',
  'rules.delete',
] as const;

export type BulkActionName = (typeof BULK_ACTIONS)[number];

/** The type of the rows. */
export type BulkKind = BulkActionName extends `${infer Kind}.${string}` ? Kind : never;

export const kindOf = (action: BulkActionName): BulkKind => action.split('.', 1)[0] as BulkKind;

/** Content of a row, except for users to import. */
export interface BulkItem {
  readonly id: string;
  /** The row's parents, or the objects that it connects. */
  readonly userId?: string;
  readonly groupId?: string;
  readonly orgId?: string;
  readonly applicationId?: string;
  readonly idpId?: string;
  readonly serverId?: string;
  readonly hookId?: string;
  readonly policyId?: string;
  /** Of a user or group at a SCIM target. */
  readonly kind?: ProvisionedKind;
}

export interface BulkParameters {
  readonly groupId?: string | undefined;
  readonly applicationId?: string | undefined;
  readonly sendEmail?: boolean | undefined;
}

export interface BulkJob {
  readonly id: string;
  readonly action: BulkActionName;
  readonly parameters: BulkParameters;
  /** DRAFT: not confirmed yet. */
  readonly state: 'DRAFT' | 'RUNNING' | 'DONE' | 'CANCELLED';
  readonly createdBy: string;
  /** Creator and origin, for the events of the rows. Roles are read again while the job runs. */
  readonly request: Pick<RequestContext, 'actor' | 'ipAddress' | 'userAgent' | 'requestId' | 'isForwarded'>;
  readonly total: number;
  readonly created: Date;
  readonly started: Date | null;
  readonly finished: Date | null;
  /** The job and its rows are deleted then. */
  readonly expiresAt: Date;
}

export interface BulkRow {
  /** Starts at 1. */
  readonly line: number;
  /** User name, or the name of another object. */
  readonly name: string;
  readonly outcome: 'DONE' | 'REFUSED' | null;
  /** Why it was refused. */
  readonly reason: string | null;
}

export interface WaitingRow {
  readonly line: number;
  readonly name: string;
  /** A `BulkItem`, or the user to import. */
  readonly item: unknown;
}

export interface RowCounts {
  readonly done: number;
  readonly refused: number;
  readonly waiting: number;
}
