/** Is a sign-in fresh enough for a sensitive change, and which ways to sign in has the user? */
import { epochSeconds } from '../../platform/clock/clock.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { listLinksOf } from '../identity-providers/identity-providers.store.ts';
import { findRequiredProvider } from '../organization-providers/home-realm.store.ts';
import { listPasskeys } from '../passkeys/passkeys.store.ts';
import { isEnrolled } from '../second-factors/factors.service.ts';
import { isMultiFactor } from '../second-factors/second-factor.policy.ts';
import type { User } from '../users/users.resource.ts';

/** Seconds. */
export const FRESH = 900;

/** A browser's session. */
export interface SignedIn {
  readonly accountId: string;
  readonly amr: readonly string[];
  /** Epoch seconds. */
  readonly signedInAt: number;
}

/** @param at epoch seconds, of the change @returns whether the session's user may make it: with their second factor, if they have one */
export async function isFreshSignIn(
  { services }: { readonly services: Services },
  { accountId, amr, signedInAt }: SignedIn,
  at = epochSeconds(),
): Promise<boolean> {
  if (at - signedInAt > FRESH) return false;
  return isMultiFactor(amr) || !(await isEnrolled(services, accountId, amr));
}

export type WayToSignIn = { readonly kind: 'password' } | { readonly kind: 'identity-provider' | 'passkey'; readonly id: string };

/** @param user locked, where something is decided by it */
export async function waysToSignIn(executor: Executor, user: Pick<User, 'id' | 'passwordHash'>): Promise<WayToSignIn[]> {
  const links = (await listLinksOf(executor, user.id)).filter(({ status }) => status === 'ACTIVE');
  return [
    ...(user.passwordHash === null ? [] : [{ kind: 'password' } as const]),
    ...(await listPasskeys(executor, user.id)).map(({ id }) => ({ kind: 'passkey', id }) as const),
    ...links.map(({ idpId }) => ({ kind: 'identity-provider', id: idpId }) as const),
  ];
}

/**
 * Names of the only identity providers a user can sign in with: the one that their domain requires, or their linked ones without other methods.
 * Includes inactive ones: a user locked out that way must not get in by another.
 * @returns undefined: another method exists, or none yet
 */
export async function onlyProviderOf(executor: Executor, user: Pick<User, 'id' | 'passwordHash'>): Promise<string | undefined> {
  const required = await findRequiredProvider(executor, user.id);
  if (required !== undefined) return required.name;
  const links = await listLinksOf(executor, user.id);
  const ways = await waysToSignIn(executor, user);
  const isOnly = links.length > 0 && ways.every(({ kind }) => kind === 'identity-provider');
  return isOnly ? links.map(({ name }) => name).join(', ') : undefined;
}
