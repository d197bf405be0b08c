/**
 * Who a user name and a password belong to. Every failure looks and lasts the same, so that nobody learns which accounts exist
 * (OWASP Authentication Cheat Sheet, "Authentication and Error Messages"). Lockout and second factors are not here.
 */
import { present } from '../clock.ts';
import type { Executor } from '../store/database.ts';
import { findUserByLogin, findUserByUniqueEmail, replacePasswordHash, touchLastLogin, type User } from '../store/users.ts';
import { type RequestContext, recordEvent } from './audit.ts';
import type { Services } from './dependencies.ts';
import { hashPassword, isOutdated, verifyPassword } from './passwords.ts';
import { isPrintable } from './text.ts';

export interface Credentials {
  /** Login or e-mail address. */
  readonly username: string;
  readonly password: string;
}

export interface SignedInUser {
  readonly id: string;
  readonly login: string;
  /** When the password was found right. */
  readonly authenticatedAt: Date;
}

/** @returns undefined when the credentials are wrong or the user may not sign in */
export async function authenticate(
  services: Services,
  credentials: Credentials,
  request: RequestContext,
): Promise<SignedInUser | undefined> {
  const user = await findNamedUser(services.database.knex, credentials.username.trim());
  const right = await verifyPassword(user?.passwordHash ?? null, credentials.password);
  const candidate = right && user?.status === 'ACTIVE' ? user : undefined;
  const rehashed = candidate && (await hashAnew(candidate, credentials.password));

  return services.database.transaction(async (trx) => {
    const now = present();
    // Asked again by the update: the user may have been suspended, or have got another password, while the hash was computed.
    if (candidate !== undefined && (await touchLastLogin(trx, candidate, now))) {
      if (rehashed !== undefined) await replacePasswordHash(trx, candidate.id, rehashed.compared, rehashed.anew);
      await recordEvent(trx, {
        eventType: 'user.session.start',
        displayMessage: 'User login',
        request: { ...request, actor: { id: candidate.id, type: 'User', displayName: candidate.login } },
        targets: targets(candidate),
      });
      return { id: candidate.id, login: candidate.login, authenticatedAt: now };
    }
    await recordEvent(trx, {
      eventType: 'user.authentication.failure',
      displayMessage: 'User login',
      request,
      // What was typed for an unknown user stays out of the log: at times it is a password.
      targets: targets(user),
      failure: user === undefined ? 'UNKNOWN_USER' : right ? 'USER_NOT_ACTIVE' : 'INVALID_CREDENTIALS',
    });
    return undefined;
  });
}

/** The only moment at which the password itself is known. @returns undefined when its hash is as good as those made today */
async function hashAnew({ passwordHash }: User, password: string): Promise<{ compared: string; anew: string } | undefined> {
  if (passwordHash === null || !isOutdated(passwordHash)) return undefined;
  return { compared: passwordHash, anew: await hashPassword(password) };
}

/** The user of that login, else the only one of that e-mail address. */
async function findNamedUser(executor: Executor, username: string): Promise<User | undefined> {
  if (!isPrintable(username)) return undefined;
  // Both are asked whatever the first one says: it takes the same time.
  const byLogin = await findUserByLogin(executor, username);
  const byEmail = await findUserByUniqueEmail(executor, username);
  return byLogin ?? byEmail;
}

const targets = (user: User | undefined) => (user === undefined ? [] : [{ id: user.id, type: 'User', displayName: user.login }]);
