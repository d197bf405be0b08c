/** Sign-in by API: a right user name and password give a session token, with which a browser is signed in once, at the authorize endpoint. */
import { LIFETIMES } from '../../config/defaults.ts';
import { authenticationFailed } from '../errors.ts';
import { digest, randomToken } from '../secrets.ts';
import { insertSessionToken } from '../store/session-tokens.ts';
import { findUserById, type User } from '../store/users.ts';
import type { RequestContext } from './audit.ts';
import type { Services } from './dependencies.ts';
import { authenticate, type Credentials } from './sign-in.ts';

export interface IssuedSessionToken {
  /** Told this once, stored as a digest. */
  readonly value: string;
  readonly expiresAt: Date;
  readonly user: User;
}

/** @throws {ApiError} authentication failed, for every reason the same */
export async function issueSessionToken(
  services: Services,
  credentials: Credentials,
  request: RequestContext,
): Promise<IssuedSessionToken> {
  const signedIn = await authenticate(services, credentials, request);
  const user = signedIn && (await findUserById(services.database.knex, signedIn.id));
  if (signedIn === undefined || user === undefined) throw authenticationFailed();
  const value = randomToken();
  const authenticatedAt = Math.floor(signedIn.authenticatedAt.getTime() / 1000);
  const expiresAt = authenticatedAt + LIFETIMES.sessionToken;
  await insertSessionToken(services.database.knex, digest(value), { userId: user.id, amr: ['pwd'], authenticatedAt }, expiresAt);
  return { value, expiresAt: new Date(expiresAt * 1000), user };
}
