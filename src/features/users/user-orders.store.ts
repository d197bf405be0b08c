/** How lists of users are sorted and searched, also among other tables. */
import type { Knex } from 'knex';
import { inCodes } from '../../platform/database/paging.ts';
import { applyWords, inAlphabet } from '../../platform/database/words.ts';
import { USER_STATUSES } from './user-lifecycle.policy.ts';
import type { UserOrder } from './users.resource.ts';

/** The status that lists show. */
export const CURRENT_STATUS = "CASE WHEN users.status = 'ACTIVE' AND users.locked_until > now() THEN 'LOCKED_OUT' ELSE users.status END";

/** Users who wait for approval come first. */
const SHOWN_STATUS = `CASE WHEN users.status = 'STAGED' AND users.approval_requested IS NOT NULL THEN 'WAITING' ELSE ${CURRENT_STATUS} END`;

/** The same expressions as in the indexes users_by_sorted_login and users_by_sorted_name. */
export const USER_ORDERS: Readonly<Record<UserOrder, string>> = {
  login: inAlphabet('users.login'),
  name: inAlphabet("coalesce(users.profile->>'lastName', users.profile->>'displayName', users.login)"),
  email: inAlphabet('users.email'),
  status: inCodes(['WAITING', ...USER_STATUSES], SHOWN_STATUS),
  created: 'users.seq',
  lastLogin: 'users.last_login',
};

/** Same expressions as the index users_by_words; qualified, for joins. */
const NAMES = [
  'users.login',
  'users.email',
  ...['firstName', 'middleName', 'lastName', 'displayName', 'nickName'].map((name) => `users.profile->>'${name}'`),
];

/** Filters users by words, each a prefix of a word of their names. @param query contains the table users */
export const applyUserWords = (query: Knex.QueryBuilder, typed: string): void => applyWords(query, NAMES, typed);

/**
 * The same for rows that belong to users, and for short pages. The users are found first, by the index of their names: for a short page in the order of
 * another index, PostgreSQL would compute the words of each user on the way, up to all of them.
 * @param userId column with the user's ID
 */
export const applyWordsOfUser =
  (userId: string) =>
  (query: Knex.QueryBuilder, typed: string): void =>
    void query.whereRaw(`${userId} IN (WITH named AS MATERIALIZED (${NAMED}) SELECT id FROM named)`, [typed]);

const NAMED = `SELECT users.id FROM users WHERE search_words(${NAMES.join(', ')}) @@ search_query(?)`;
