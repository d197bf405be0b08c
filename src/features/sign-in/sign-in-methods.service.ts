/** How a user can sign in, so that none takes his last way away himself. What an administrator does is his own affair. */
import type { Executor } from '../../platform/database/database.ts';
import { listLinksOf } from '../identity-providers/identity-providers.store.ts';
import { listPasskeys } from '../passkeys/passkeys.store.ts';
import type { User } from '../users/users.resource.ts';

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
