/** A user's credentials, and the sign-in methods that are accepted here. */
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { listLinksOf } from '../identity-providers/identity-providers.store.ts';
import { hasMailAddress } from '../mail/mail.service.ts';
import { isMailPossible } from '../mail/mail-route.service.ts';
import { findRequiredProvider } from '../organization-providers/home-realm.store.ts';
import { listPasskeys } from '../passkeys/passkeys.store.ts';
import { currentSettings } from '../settings/settings-cache.service.ts';
import type { User } from '../users/users.resource.ts';

type Credential =
  | { readonly kind: 'password' }
  | { readonly kind: 'passkey'; readonly id: string }
  | { readonly kind: 'identity-provider'; readonly id: string; readonly name: string; readonly isActive: boolean };

/** @param without ID of a passkey or provider that is about to be deleted */
async function everyCredential(
  executor: Executor,
  user: Pick<User, 'id' | 'passwordHash'>,
  without?: string,
): Promise<readonly Credential[]> {
  const all: readonly Credential[] = [
    ...(user.passwordHash === null ? [] : [{ kind: 'password' } as const]),
    ...(await listPasskeys(executor, user.id)).map(({ id }) => ({ kind: 'passkey', id }) as const),
    ...(await listLinksOf(executor, user.id)).map(
      ({ idpId, name, status }) => ({ kind: 'identity-provider', id: idpId, name, isActive: status === 'ACTIVE' }) as const,
    ),
  ];
  return all.filter((credential) => !('id' in credential) || credential.id !== without);
}

/** Does the user have a password, a passkey or a link to an active provider? Disabled methods count. */
export const hasCredential = async (executor: Executor, user: Pick<User, 'id' | 'passwordHash'>): Promise<boolean> =>
  (await everyCredential(executor, user)).some((one) => one.kind !== 'identity-provider' || one.isActive);

/**
 * The methods that the sign-in page accepts from this user (`settings/sign-in.methods`).
 * @param user locked, if the result decides a change
 * @param without ID of a passkey or provider that is about to be deleted
 */
export async function waysToSignIn(
  services: Services,
  executor: Executor,
  user: Pick<User, 'id' | 'passwordHash' | 'email'>,
  request: Pick<RequestContext, 'isForwarded'>,
  without?: string,
): Promise<readonly (Credential | { readonly kind: 'email' })[]> {
  const { methods } = await currentSettings(services, 'sign-in');
  const credentials = await everyCredential(executor, user, without);
  const byEmail =
    methods.includes('email') &&
    hasMailAddress(user) &&
    (await onlyProviderAmong(executor, user.id, credentials)) === undefined &&
    (await isMailPossible(services, request, executor));
  return [
    ...credentials.filter((one) => (one.kind === 'identity-provider' ? one.isActive : methods.includes(one.kind))),
    ...(byEmail ? [{ kind: 'email' } as const] : []),
  ];
}

/**
 * Names of the only identity providers a user can sign in with: the one that their domain requires, or their linked ones without other credentials.
 * Includes inactive ones: a user locked out that way must not get in by another.
 * @returns undefined: they have another credential, or none yet
 */
export const onlyProviderOf = async (executor: Executor, user: Pick<User, 'id' | 'passwordHash'>): Promise<string | undefined> =>
  onlyProviderAmong(executor, user.id, await everyCredential(executor, user));

async function onlyProviderAmong(executor: Executor, userId: string, credentials: readonly Credential[]): Promise<string | undefined> {
  const required = await findRequiredProvider(executor, userId);
  if (required !== undefined) return required.name;
  const accounts = credentials.filter((credential) => credential.kind === 'identity-provider');
  return accounts.length > 0 && accounts.length === credentials.length ? accounts.map(({ name }) => name).join(', ') : undefined;
}
