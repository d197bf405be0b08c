/** Hashes a correct password again if its hash was imported, has other parameters, or is stored elsewhere. */
import type { Executor } from '../../platform/database/database.ts';
import { Overloaded } from '../../platform/database/database-failures.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { PASSWORD_ELSEWHERE } from '../passwords/password.policy.ts';
import { hashPassword, isOutdated } from '../passwords/passwords.service.ts';
import { userTarget } from '../users/user-reach.service.ts';
import type { User } from '../users/users.resource.ts';
import { replacePasswordHash } from '../users/users.store.ts';
import { asSignedInUser } from './sign-in-events.service.ts';

export interface Rehashed {
  readonly compared: string;
  readonly newHash: string;
}

/**
 * Only possible at sign-in, when the password is available.
 * @returns undefined if its hash is current, or too many are waiting: a refusal must not reveal that the password is correct
 */
export async function rehashPassword(user: User | undefined, password: string): Promise<Rehashed | undefined> {
  const compared = user?.passwordHash ?? null;
  if (compared === null || !isOutdated(compared)) return undefined;
  const newHash = await hashPassword(password).catch((error: unknown) => {
    if (!(error instanceof Overloaded)) throw error;
  });
  return newHash === undefined ? undefined : { compared, newHash };
}

/** For an imported password, also records that it is now verified locally. */
export async function storeRehash(trx: Executor, user: User, { compared, newHash }: Rehashed, request: RequestContext): Promise<void> {
  const isKept = await replacePasswordHash(trx, user.id, compared, newHash);
  if (!isKept || compared !== PASSWORD_ELSEWHERE) return;
  const displayMessage = 'Import password of user by inline hook';
  await recordEvent(trx, {
    eventType: 'user.import.password',
    displayMessage,
    request: asSignedInUser(user, request),
    targets: [userTarget(user)],
  });
}
