/** A user's credentials, and the ways to sign in that are accepted here. */
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

type Credential = { readonly kind: 'password' } | { readonly kind: 'identity-provider' | 'passkey'; readonly id: string };

/** Also those of a method that is switched off. Links to inactive providers do not count. */
export async function credentialsOf(executor: Executor, user: Pick<User, 'id' | 'passwordHash'>): Promise<readonly Credential[]> {
  const links = (await listLinksOf(executor, user.id)).filter(({ status }) => status === 'ACTIVE');
  return [
    ...(user.passwordHash === null ? [] : [{ kind: 'password' } as const]),
    ...(await listPasskeys(executor, user.id)).map(({ id }) => ({ kind: 'passkey', id }) as const),
    ...links.map(({ idpId }) => ({ kind: 'identity-provider', id: idpId }) as const),
  ];
}

const isKept = (credential: Credential, without: string | undefined): boolean => !('id' in credential) || credential.id !== without;

/**
 * The ways that the sign-in page accepts from this user (`settings/sign-in.methods`).
 * @param user locked, where something is decided by it
 * @param without ID of a passkey or provider that is about to be removed
 */
export async function waysToSignIn(
  services: Services,
  executor: Executor,
  user: Pick<User, 'id' | 'passwordHash' | 'email'>,
  request?: Pick<RequestContext, 'isForwarded'>,
  without?: string,
): Promise<readonly (Credential | { readonly kind: 'email' })[]> {
  const { methods } = await currentSettings(services, 'sign-in');
  const credentials = (await credentialsOf(executor, user)).filter((one) => isKept(one, without));
  const byEmail =
    methods.includes('email') &&
    hasMailAddress(user) &&
    (await onlyProviderOf(executor, user, without)) === undefined &&
    (await isMailPossible(services, request, executor));
  return [
    ...credentials.filter(({ kind }) => kind === 'identity-provider' || methods.includes(kind)),
    ...(byEmail ? [{ kind: 'email' } as const] : []),
  ];
}

/**
 * Names of the only identity providers a user can sign in with: the one that their domain requires, or their linked ones without other credentials.
 * Includes inactive ones: a user locked out that way must not get in by another.
 * @param without ID of a passkey or provider that is about to be removed
 * @returns undefined: they have another credential, or none yet
 */
export async function onlyProviderOf(
  executor: Executor,
  user: Pick<User, 'id' | 'passwordHash'>,
  without?: string,
): Promise<string | undefined> {
  const required = await findRequiredProvider(executor, user.id);
  if (required !== undefined) return required.name;
  const links = (await listLinksOf(executor, user.id)).filter(({ idpId }) => idpId !== without);
  const credentials = (await credentialsOf(executor, user)).filter((one) => isKept(one, without));
  const isOnly = links.length > 0 && credentials.every(({ kind }) => kind === 'identity-provider');
  return isOnly ? links.map(({ name }) => name).join(', ') : undefined;
}
