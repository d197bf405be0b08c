/**
 * Another password in place of an expired one, in the middle of a sign-in: who typed the expired one chooses another and is signed in by it. Who does not
 * know it is not told that it has expired (services/sign-in.ts).
 */
import type { LinkPurpose } from '../policy/password-link.ts';
import type { User } from '../store/users.ts';
import type { RequestContext } from './audit.ts';
import type { Services } from './dependencies.ts';
import { readPasswordLink, usePasswordLink } from './one-time-links.ts';
import { type FoundProblem, findProblemOfChoice } from './password-policy.ts';
import { type SignedInUser, signInAfterReplacing } from './sign-in.ts';

const EXPIRED: readonly LinkPurpose[] = ['expired'];

/** @param token of `createExpiredPasswordToken` @returns who may choose another password by it; undefined when it is of no use any more */
export const whoMayReplace = (services: Services, token: string): Promise<User | undefined> => readPasswordLink(services, token, EXPIRED);

export interface Replacement {
  readonly token: string;
  readonly password: string;
  /** Value of the browser's device cookie; absent: not in a browser. */
  readonly device?: string | undefined;
}

/**
 * Replaces the password, which ends what was reached by the old one, and notes the sign-in.
 * @returns who is signed in, or what is wrong with the password; undefined when the token is of no use any more
 */
export async function replaceExpiredPassword(
  services: Services,
  { token, password, device }: Replacement,
  request: RequestContext,
): Promise<SignedInUser | FoundProblem | undefined> {
  const user = await whoMayReplace(services, token);
  if (user === undefined) return undefined;
  const problem = await findProblemOfChoice(services, password, user, { differs: true });
  if (problem !== undefined) return problem;
  let signedIn: SignedInUser | undefined;
  await usePasswordLink(
    services,
    {
      token,
      password,
      purposes: EXPIRED,
      also: async (trx, chosen) => {
        signedIn = await signInAfterReplacing(trx, chosen, device, request);
      },
    },
    request,
  );
  return signedIn;
}
