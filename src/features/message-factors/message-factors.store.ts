/** Second factors with codes that are sent to the user. The only SQL on that table. */
import type { Executor } from '../../platform/database/database.ts';
import { type MessageType, maskedEmail } from './message-factors.policy.ts';
import type { MessageFactor, MessageFactorStatus } from './message-factors.resource.ts';

const IS_ALLOWED = `EXISTS (SELECT FROM settings WHERE settings.name = 'sign-in' AND jsonb_exists(value -> 'messageFactors', lower(message_factors.type)))`;

/**
 * SQL: does a user have a factor that the sign-in policy allows? Does not use EXISTS, for which PostgreSQL may read the factors of all users.
 * @param user expression of the user's ID
 * @param byEmail expression: true after a sign-in by e-mail, when an e-mail code is not a second factor
 */
export const hasMessageFactor = (user: string, byEmail = 'false'): string => `(SELECT true FROM message_factors
  WHERE user_id = ${user} AND message_factors.activated IS NOT NULL AND NOT (${byEmail} AND message_factors.type = 'EMAIL') AND ${IS_ALLOWED} LIMIT 1)`;

interface Row {
  readonly id: string;
  readonly userId: string;
  readonly type: MessageType;
  readonly status: MessageFactorStatus;
  readonly name: string | null;
  readonly numberSealed: string | null;
  readonly email: string | null;
  readonly created: Date;
  readonly lastUsed: Date | null;
}

const LIST = `SELECT message_factors.id, user_id AS "userId", type, message_factors.name, number_sealed AS "numberSealed", users.email, message_factors.created, last_used AS "lastUsed",
    CASE WHEN message_factors.activated IS NULL THEN 'PENDING_ACTIVATION' WHEN ${IS_ALLOWED} THEN 'ACTIVE' ELSE 'DISABLED' END AS status
  FROM message_factors JOIN users ON users.id = user_id WHERE user_id = ? ORDER BY message_factors.seq`;

/** @returns the user's factors, oldest first, including those that cannot be used */
export async function listMessageFactors(executor: Executor, userId: string): Promise<MessageFactor[]> {
  const { rows } = await executor.raw<{ rows: Row[] }>(LIST, [userId]);
  return rows.map(({ email, name, ...row }) => ({ ...row, name: name ?? maskedEmail(email ?? '') }));
}

export interface NewMessageFactor extends Pick<MessageFactor, 'id' | 'userId' | 'type' | 'numberSealed' | 'created'> {
  /** Masked phone number. */
  readonly name: string | null;
  readonly activated: Date | null;
}

/** Replaces an unconfirmed factor of the type. @returns false if the user already has a confirmed one */
export async function insertMessageFactor(trx: Executor, factor: NewMessageFactor): Promise<boolean> {
  const { id, userId, type, name, numberSealed, created, activated } = factor;
  await trx('message_factors').where({ user_id: userId, type }).whereNull('activated').delete();
  const row = { id, user_id: userId, type, name, number_sealed: numberSealed, created, activated };
  return (await trx('message_factors').insert(row).onConflict(['user_id', 'type']).ignore().returning('id')).length === 1;
}

/** Activates the factor after a correct first code. @returns false if it was already active, or deleted */
export async function activateMessageFactor(trx: Executor, userId: string, id: string, now: Date): Promise<boolean> {
  return (await trx('message_factors').where({ user_id: userId, id }).whereNull('activated').update({ activated: now })) === 1;
}

/** @returns false if the user no longer has the factor */
export async function noteMessageUse(trx: Executor, userId: string, id: string, now: Date): Promise<boolean> {
  return (await trx('message_factors').where({ user_id: userId, id }).update({ last_used: now })) === 1;
}

/** @param id absent: all factors of the user @returns false if there was none */
export async function deleteMessageFactors(trx: Executor, userId: string, id?: string): Promise<boolean> {
  return (
    (await trx('message_factors')
      .where({ user_id: userId, ...(id !== undefined && { id }) })
      .delete()) > 0
  );
}
