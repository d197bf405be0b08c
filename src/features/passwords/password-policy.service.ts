/**
 * Checks new passwords against settings/password with all required data. Call it wherever a password is chosen; imported hashes cannot be checked.
 */
import { BRAND } from '../../../config/defaults.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { type ApiError, validation } from '../../platform/errors/errors.ts';
import { readPasswordPolicy, readSettings } from '../settings/settings.service.ts';
import type { User } from '../users/users.resource.ts';
import { isBreached } from './breached-passwords.service.ts';
import { commonPasswords } from './common-passwords.service.ts';
import { MOST_CHARACTERS, type PasswordPolicy, type PasswordProblem, passwordProblem } from './password.policy.ts';
import { findFormerHashes, rememberFormerHash } from './password-history.store.ts';
import { verifyPassword } from './passwords.service.ts';

/** User of the new password, with their names after the change. */
export type PasswordOwner = Pick<User, 'login' | 'email' | 'profile'>;

/** Attributes with names of the user. */
const NAMES = ['secondEmail', 'firstName', 'middleName', 'lastName', 'displayName', 'nickName'] as const;

/** A problem, and the policy that the password violates. */
export interface FoundProblem {
  readonly problem: PasswordProblem;
  readonly policy: PasswordPolicy;
}

type Parts = Pick<Services, 'config' | 'database' | 'log'>;

/** @returns the problem of a password that a user or an administrator chose; undefined: none */
export async function findPasswordProblem(services: Parts, password: string, owner: PasswordOwner): Promise<FoundProblem | undefined> {
  const policy = await readPasswordPolicy(services.database.knex);
  const { name } = await readSettings(services, 'branding');
  const common = await commonPasswords();
  const problem = passwordProblem(policy, password, {
    userNames: [owner.login, owner.email ?? '', ...NAMES.map((attribute) => owner.profile[attribute] ?? '')],
    serviceNames: [name, BRAND.name],
    isCommon: (candidate) => common.has(candidate),
  });
  if (problem !== undefined) return { problem, policy };
  return (await isBreached(services, password, policy)) ? { problem: 'breached', policy } : undefined;
}

/**
 * Also checks the history for users who choose themselves. Administrators get no result, because it would confirm a guess of the user's password.
 * @param options.differs must it differ from the current one, whatever the policy?
 */
export async function findProblemOfChoice(
  services: Parts,
  password: string,
  user: User,
  { differs = false }: { readonly differs?: boolean } = {},
): Promise<FoundProblem | undefined> {
  const found = await findPasswordProblem(services, password, user);
  if (found !== undefined) return found;
  const policy = await readPasswordPolicy(services.database.knex);
  const usedBefore = await isUsedBefore(services, password, user, Math.max(policy.historyCount, differs ? 1 : 0));
  return usedBefore ? { problem: 'used-before', policy } : undefined;
}

/** @param count maximum passwords to compare, starting with the current one */
async function isUsedBefore({ database }: Parts, password: string, { id, passwordHash }: User, count: number): Promise<boolean> {
  if (count === 0) return false;
  const present = passwordHash === null ? [] : [passwordHash];
  const former = await findFormerHashes(database.knex, id, count - present.length);
  let found = false;
  // All of them in order, so that timing does not reveal which one matched.
  for (const hash of [...present, ...former]) found = (await verifyPassword(hash, password)) || found;
  return found;
}

/**
 * @param field that the password came in, for the cause
 * @throws {ApiError} validation when it is not good enough
 */
export async function refuseWeakPassword(services: Parts, password: string, owner: PasswordOwner, field: string): Promise<void> {
  const found = await findPasswordProblem(services, password, owner);
  if (found !== undefined) throw weakPassword(found, field);
}

/** @param field that the password came in */
export const weakPassword = (found: FoundProblem, field: string): ApiError => validation([{ field, message: inWords(found) }]);

function inWords({ problem, policy }: FoundProblem): string {
  switch (problem) {
    case 'too-short':
      return `must have at least ${policy.minLength} characters`;
    case 'too-long':
      return `must have at most ${MOST_CHARACTERS} characters`;
    case 'common':
      return 'is too common. Choose another one';
    case 'like-user':
      return `must have at least ${policy.minLength} letters and digits besides the user name, the e-mail address and the names of the user`;
    case 'like-service':
      return `must have at least ${policy.minLength} letters and digits besides the name of this service`;
    case 'breached':
      return 'is known from a data breach. Choose another one';
    case 'used-before':
      return 'was used before. Choose another one';
  }
}

/** Call in the transaction that removes or replaces a password. @param before the user as they were, locked */
export async function rememberReplaced(trx: Executor, before: Pick<User, 'id' | 'passwordHash'>): Promise<void> {
  if (before.passwordHash === null) return;
  const { historyCount } = await readPasswordPolicy(trx);
  // The history also counts the current password, which is stored with the user.
  await rememberFormerHash(trx, before.id, before.passwordHash, Math.max(historyCount - 1, 0));
}
