/** Users in backchannel requests (CIBA): hint lookup and pending requests. */
import { present } from '../../platform/clock/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { findUserByLogin, findUserByUniqueEmail } from '../users/users.store.ts';
import { listWaitingRequests, type WaitingRequest } from './waiting-requests.store.ts';

export type { WaitingRequest };

/** @param hint a user name or an e-mail address @returns the ID of its user; undefined: it is nobody's, or an address of several */
export async function userNamedBy({ knex }: Database, hint: string): Promise<string | undefined> {
  const name = hint.trim();
  return ((await findUserByLogin(knex, name)) ?? (await findUserByUniqueEmail(knex, name)))?.id;
}

/** Pending requests of a user, newest first. */
export const requestsWaitingFor = ({ knex }: Database, userId: string): Promise<WaitingRequest[]> =>
  listWaitingRequests(knex, userId, present());
