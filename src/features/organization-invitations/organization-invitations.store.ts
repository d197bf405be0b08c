/** Invitations to organizations, found by the digest of their token. The only SQL on that table. */
import type { Columns } from '../../platform/database/columns.ts';
import { toRow } from '../../platform/database/columns.ts';
import type { Executor } from '../../platform/database/database.ts';
import { violatedConstraint } from '../../platform/database/database-failures.ts';
import { type Page, readPage, type Window } from '../../platform/database/paging.ts';

export interface InvitationRow {
  readonly id: string;
  readonly orgId: string;
  readonly email: string;
  /** A built-in role. */
  readonly role: 'owner' | 'admin' | 'member';
  /** ID of a custom role in addition to it; null: none. */
  readonly roleId: string | null;
  readonly depId: string | null;
  /** SHA-256 of the token. */
  readonly tokenHash: string;
  /** Latest sender. */
  readonly createdBy: string;
  readonly created: Date;
  /** Time of the latest e-mail. */
  readonly sent: Date;
  readonly expiresAt: Date;
}

const ROW: Columns<InvitationRow> = {
  id: 'id',
  orgId: 'org_id',
  email: 'email',
  role: 'role',
  roleId: 'role_id',
  depId: 'dep_id',
  tokenHash: 'token_hash',
  createdBy: 'created_by',
  created: 'created',
  sent: 'sent',
  expiresAt: 'expires_at',
};

/** @returns the conflict that prevented it; the transaction can then only be rolled back */
export async function insertInvitation(trx: Executor, row: InvitationRow): Promise<'invited already' | 'no such department' | undefined> {
  try {
    await trx('organization_invitations').insert(toRow(ROW, row));
    return undefined;
  } catch (error) {
    const constraint = violatedConstraint(error);
    if (constraint === 'organization_invitations_by_email') return 'invited already';
    if (constraint === 'organization_invitations_org_id_dep_id_fkey') return 'no such department';
    throw error;
  }
}

export const countInvitations = async (executor: Executor, orgId: string): Promise<number> =>
  Number((await executor('organization_invitations').where({ org_id: orgId }).count({ n: '*' }).first())?.n);

/** Oldest first. */
export const readInvitations = (executor: Executor, orgId: string, window: Window): Promise<Page<InvitationRow>> =>
  readPage(executor('organization_invitations').where({ org_id: orgId }), ROW, window);

export const findInvitation = (executor: Executor, orgId: string, id: string): Promise<InvitationRow | undefined> =>
  executor('organization_invitations').where({ org_id: orgId, id }).first<InvitationRow | undefined>(ROW);

/** @returns the invitation, if it has neither been accepted nor revoked, and has not expired */
export const findInvitationByToken = (executor: Executor, tokenHash: string, now: Date): Promise<InvitationRow | undefined> =>
  executor('organization_invitations').where({ token_hash: tokenHash }).where('expires_at', '>', now).first<InvitationRow | undefined>(ROW);

/** Replaces the link, possibly by another sender. @returns false if it no longer exists */
export async function renewInvitation(
  trx: Executor,
  id: string,
  { tokenHash, createdBy, sent, expiresAt }: Pick<InvitationRow, 'tokenHash' | 'createdBy' | 'sent' | 'expiresAt'>,
): Promise<boolean> {
  const changes = { token_hash: tokenHash, created_by: createdBy, sent, expires_at: expiresAt };
  return (await trx('organization_invitations').where({ id }).update(changes)) === 1;
}

/** Uses the invitation up. @returns false if it was used before, was revoked, or has expired */
export async function consumeInvitation(trx: Executor, tokenHash: string, now: Date): Promise<boolean> {
  return (await trx('organization_invitations').where({ token_hash: tokenHash }).where('expires_at', '>', now).delete()) === 1;
}

/** @returns false if it no longer exists */
export const deleteInvitation = async (trx: Executor, id: string): Promise<boolean> =>
  (await trx('organization_invitations').where({ id }).delete()) === 1;

/** Invitations that a user has sent. */
export const listInvitationsBy = (executor: Executor, orgId: string, userId: string): Promise<InvitationRow[]> =>
  executor('organization_invitations').where({ org_id: orgId, created_by: userId }).orderBy('seq').select<InvitationRow[]>(ROW);

/** @returns the number of deleted invitations, at most `limit` */
export async function deleteExpiredInvitations(executor: Executor, now: Date, limit: number): Promise<number> {
  const expired = executor('organization_invitations').where('expires_at', '<=', now).limit(limit).forUpdate().skipLocked().select('id');
  return executor('organization_invitations').whereIn('id', expired).delete();
}
