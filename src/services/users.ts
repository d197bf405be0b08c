/** What can be done with users. */
import { present } from '../clock.ts';
import { conflict, notFound, validation } from '../errors.ts';
import type { Role } from '../policy/administration.ts';
import { newId } from '../secrets.ts';
import type { Executor } from '../store/database.ts';
import { insertMembership } from '../store/memberships.ts';
import { insertRole } from '../store/roles.ts';
import { findUserById, findUserByLogin, insertUser, type User } from '../store/users.ts';
import { type RequestContext, recordEvent } from './audit.ts';
import type { Services } from './dependencies.ts';
import { hashPassword } from './passwords.ts';
import { isPrintable } from './text.ts';
import type { UserProfile } from './user-profile.ts';

export interface NewUser {
  readonly profile: UserProfile;
  /** Absent: the user cannot sign in by password. */
  readonly password?: string | undefined;
  /** false: STAGED, may not sign in yet. */
  readonly activate: boolean;
  readonly orgId?: string | undefined;
  /** A department of `orgId`. */
  readonly depId?: string | undefined;
  /** Administrator's roles to begin with. */
  readonly roles?: readonly Role[];
}

/**
 * Creates a user, with membership and roles, or nothing.
 * @throws {ApiError} conflict when the login is taken, validation when organization or department does not exist
 */
export async function createUser(services: Services, input: NewUser, request: RequestContext): Promise<User> {
  // Before the transaction: a hash takes its time, and connections are few.
  const passwordHash = input.password === undefined ? null : await hashPassword(input.password);
  const user = newUser(input, passwordHash, present());

  await services.database.transaction(async (trx) => {
    if (!(await insertUser(trx, user))) throw conflict({ field: 'profile.login', message: 'another user has this login' });
    for (const role of input.roles ?? []) await insertRole(trx, user.id, role, user.created);
    await joinOrganization(trx, user, input);
    await recordEvent(trx, {
      eventType: 'user.lifecycle.create',
      displayMessage: 'Create user',
      request,
      targets: [{ id: user.id, type: 'User', displayName: user.login }],
      after: { status: user.status, profile: profileOf(user), orgId: input.orgId, depId: input.depId, roles: input.roles },
    });
  });
  return user;
}

/**
 * @param idOrLogin the id goes first: a login that looks like another user's id does not shadow it
 * @throws {ApiError} not found
 */
export async function getUser(services: Services, idOrLogin: string): Promise<User> {
  const { knex } = services.database;
  const user = isPrintable(idOrLogin) ? ((await findUserById(knex, idOrLogin)) ?? (await findUserByLogin(knex, idOrLogin))) : undefined;
  if (user === undefined) throw notFound(idOrLogin, 'User');
  return user;
}

/** The whole profile, as the API and the audit log show it. */
export const profileOf = (user: User) => ({ login: user.login, email: user.email ?? undefined, ...user.profile });

function newUser(input: NewUser, passwordHash: string | null, now: Date): User {
  const { login, email, ...attributes } = input.profile;
  const given = Object.entries(attributes).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return {
    id: newId('usr'),
    login,
    email: email ?? null,
    emailVerified: false,
    status: input.activate ? 'ACTIVE' : 'STAGED',
    profile: Object.fromEntries(given),
    passwordHash,
    passwordChanged: passwordHash === null ? null : now,
    created: now,
    activated: input.activate ? now : null,
    statusChanged: input.activate ? now : null,
    lastLogin: null,
    lastUpdated: now,
  };
}

async function joinOrganization(trx: Executor, user: User, { orgId, depId }: NewUser): Promise<void> {
  if (orgId === undefined) return;
  const missing = await insertMembership(trx, { orgId, userId: user.id, depId }, user.created);
  if (missing !== undefined) throw validation([{ field: missing, message: 'does not exist' }]);
}
