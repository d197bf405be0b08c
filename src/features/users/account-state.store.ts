/**
 * Ends what a user holds: browser sessions, OAuth tokens, API tokens. A request under way may be writing another one, which only a later
 * statement sees: anyone who ends them for a user that stays active ends them again after the commit.
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
 * Ends the user's browser sessions on all authorization servers, the sign-ins of which one would come, and the link by which one of them would give them
 * another address; their tokens live on. The sessions' applications are notified. Browsers that the user trusts ask for the second factor again.
 */
export async function endBrowserSessions(executor: Executor, userId: string): Promise<void> {
  await executor.transaction(async (trx) => {
    // One that began meanwhile is found by the next look.
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

/** Ends the sign-ins under way: those that wait for a step, and those that are done and wait for their browser. After the sessions' own transaction: a step under way holds its state, and may end sessions itself. */
export async function endSignIns(executor: Executor, userId: string): Promise<void> {
  await deleteStatesOf(executor, userId);
  await deleteCodesOf(executor, userId);
  await executor('oidc_payload').where({ account_id: userId }).whereIn('model', [MODELS.Interaction, MODELS.SessionToken]).delete();
}

/** Ends one browser session on all authorization servers, as `endBrowserSessions` does. @returns false when it has ended already */
export async function endBrowserSession(trx: Executor, uid: string): Promise<boolean> {
  const { rows } = await trx.raw<{ rows: unknown[] }>(LOCK_SESSION, [uid]);
  if (rows.length > 0) await trx.raw(END_SESSIONS, [[uid], present()]);
  return rows.length > 0;
}

/** Ends the user's codes, access tokens and refresh tokens, of all applications and servers. */
export async function endOAuthTokens(executor: Executor, userId: string): Promise<void> {
  await executor('oidc_payload').where({ account_id: userId }).whereNot({ model: MODELS.Session }).delete();
}

/** Ends what one application holds for the user at one authorization server, and what others were given in exchange for it. */
export async function endTokensOfConsent(executor: Executor, { userId, applicationId, serverId }: ConsentKey): Promise<void> {
  const serverKey = executor('authorization_servers').where({ id: serverId }).select('key');
  const held = executor('oidc_payload').where({ account_id: userId, client_id: applicationId }).where('server_key', serverKey);
  const families = held.clone().whereNotNull('grant_id').select('grant_id');
  await executor('oidc_payload').where({ account_id: userId }).whereIn('grant_id', families).delete();
  await held.delete();
}

/** Ends the codes, access tokens and refresh tokens with which the user has signed in for an organization, of all applications and servers. */
export async function endTokensOfMember(executor: Executor, userId: string, orgId: string): Promise<void> {
  await executor('oidc_payload').where({ account_id: userId }).whereRaw("payload->>'orgId' = ?", [orgId]).delete();
}

/** Ends the API tokens that the user made. @returns how many there were */
export async function endApiTokens(executor: Executor, userId: string): Promise<number> {
  return executor('api_tokens').where({ user_id: userId }).delete();
}
