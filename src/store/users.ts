/** Users. The only SQL on that table but for the look-up of an API token, which reads its creator along. */
import { type Columns, toRow } from './columns.ts';
import type { Executor } from './database.ts';

export type UserStatus = 'STAGED' | 'ACTIVE' | 'PASSWORD_EXPIRED' | 'LOCKED_OUT' | 'SUSPENDED' | 'DEPROVISIONED';

/** null: not set, or has not come yet. */
export interface User {
  readonly id: string;
  /** Unique, whatever the case of its letters. */
  readonly login: string;
  readonly email: string | null;
  readonly emailVerified: boolean;
  readonly status: UserStatus;
  /** All further attributes of the profile; login and email are columns of their own. */
  readonly profile: Readonly<Record<string, string>>;
  readonly passwordHash: string | null;
  readonly passwordChanged: Date | null;
  readonly created: Date;
  readonly activated: Date | null;
  readonly statusChanged: Date | null;
  readonly lastLogin: Date | null;
  readonly lastUpdated: Date;
}

const USER: Columns<User> = {
  id: 'id',
  login: 'login',
  email: 'email',
  emailVerified: 'email_verified',
  status: 'status',
  profile: 'profile',
  passwordHash: 'password_hash',
  passwordChanged: 'password_changed',
  created: 'created',
  activated: 'activated',
  statusChanged: 'status_changed',
  lastLogin: 'last_login',
  lastUpdated: 'last_updated',
};

/** @returns false when another user has that login */
export async function insertUser(executor: Executor, user: User): Promise<boolean> {
  const loginTaken = executor.raw('(lower(login))');
  const inserted = await executor('users').insert(toRow(USER, user)).onConflict(loginTaken).ignore().returning('id');
  return inserted.length === 1;
}

export async function findUserById(executor: Executor, id: string): Promise<User | undefined> {
  return executor('users').where({ id }).first<User | undefined>(USER);
}

export async function findUserByLogin(executor: Executor, login: string): Promise<User | undefined> {
  return executor('users').whereRaw('lower(login) = lower(?)', [login]).first<User | undefined>(USER);
}

/** @returns the user with that e-mail address; undefined when several share it, for then it names nobody */
export async function findUserByUniqueEmail(executor: Executor, email: string): Promise<User | undefined> {
  const found = await executor('users').whereRaw('lower(email) = lower(?)', [email]).limit(2).select<User[]>(USER);
  return found.length === 1 ? found[0] : undefined;
}

/** Notes a sign-in. @returns false when the user is not active any more */
export async function touchLastLogin(executor: Executor, id: string, lastLogin: Date): Promise<boolean> {
  return (await executor('users').where({ id, status: 'ACTIVE' }).update({ last_login: lastLogin })) === 1;
}

/** @returns false when there is no such user */
export async function updatePasswordHash(executor: Executor, id: string, passwordHash: string, now: Date): Promise<boolean> {
  return (await executor('users').where({ id }).update({ password_hash: passwordHash, password_changed: now, last_updated: now })) === 1;
}
