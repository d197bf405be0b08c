/**
 * Ends a user's browser sessions, OAuth tokens and API tokens. A concurrent request may be writing another one, which only a later
 * statement sees, so callers that end them for a user who stays active do it again after the commit.
 */
import { present } from '../../platform/clock/clock.ts';
import type { Executor } from '../../platform/database/database.ts';
import { endingSessions, lockingSessions, MODELS } from '../../protocol/storage/protocol-state.store.ts';
import type { ConsentKey } from '../consents/consents.resource.ts';
import { deleteCodesOf } from '../email-codes/email-codes.store.ts';
import { deleteStatesOf } from '../sign-in/sign-in-states.store.ts';
import { deleteTrustedBrowsersOf } from '../trusted-browsers/trusted-browsers.store.ts';
import { deletePendingAddress } from './email-verifications.store.ts';

const LOCK_SESSIONS = lockingSessions('account_id = ?');
const LOCK_SESSION = lockingSessions('uid = ?');
const END_SESSIONS = endingSessions('uid = ANY(?)', '?');

/**
 * Ends the user's browser sessions on all authorization servers, their pending sign-ins, and pending changes of their e-mail address; their
 * tokens remain. The sessions' applications are notified. Trusted browsers ask for the second factor again.
 */
export async function endBrowserSessions(executor: Executor, userId: string): Promise<void> {
  await executor.transaction(async (trx) => {
    // The next iteration finds sessions that started meanwhile.
    for (;;) {
      const { rows } = await trx.raw<{ rows: { uid: string }[] }>(LOCK_SESSIONS, [userId]);
      if (rows.length === 0) return;
      await trx.raw(END_SESSIONS, [rows.map(({ uid }) => uid), present()]);
    }
  });
  await endSignIns(executor, userId);
  await deletePendingAddress(executor, userId);
  await deleteTrustedBrowsersOf(executor, userId);
}

/**
 * Ends the pending sign-ins: those that wait for a step, and completed ones that wait for their browser. After the sessions' own
 * transaction: a concurrent step holds its state, and may end sessions itself.
 */
export async function endSignIns(executor: Executor, userId: string): Promise<void> {
  await deleteStatesOf(executor, userId);
  await deleteCodesOf(executor, userId);
  await executor('oidc_payload').where({ account_id: userId }).whereIn('model', [MODELS.Interaction, MODELS.SessionToken]).delete();
}

/** Ends one browser session on all authorization servers, as `endBrowserSessions` does. @returns false if it had already ended */
export async function endBrowserSession(trx: Executor, uid: string): Promise<boolean> {
  const { rows } = await trx.raw<{ rows: unknown[] }>(LOCK_SESSION, [uid]);
  if (rows.length > 0) await trx.raw(END_SESSIONS, [[uid], present()]);
  return rows.length > 0;
}

/** Revokes the user's codes, access tokens and refresh tokens, of all applications and servers. */
export async function endOAuthTokens(executor: Executor, userId: string): Promise<void> {
  await executor('oidc_payload').where({ account_id: userId }).whereNot({ model: MODELS.Session }).delete();
}

/** Revokes an application's tokens for the user at one authorization server, and tokens that others got for them by exchange. */
export async function endTokensOfConsent(executor: Executor, { userId, applicationId, serverId }: ConsentKey): Promise<void> {
  const serverKey = executor('authorization_servers').where({ id: serverId }).select('key');
  const held = executor('oidc_payload').where({ account_id: userId, client_id: applicationId }).where('server_key', serverKey);
  const families = held.clone().whereNotNull('grant_id').select('grant_id');
  await executor('oidc_payload').where({ account_id: userId }).whereIn('grant_id', families).delete();
  await held.delete();
}

/** Revokes the user's codes, access tokens and refresh tokens for an organization, of all applications and servers. */
export async function endTokensOfMember(executor: Executor, userId: string, orgId: string): Promise<void> {
  await executor('oidc_payload').where({ account_id: userId }).whereRaw("payload->>'orgId' = ?", [orgId]).delete();
}

/** Revokes the API tokens that the user created. @returns their number */
export async function endApiTokens(executor: Executor, userId: string): Promise<number> {
  return executor('api_tokens').where({ user_id: userId }).delete();
}
