/** By which external providers somebody may sign in here and now: the active ones, those that the application allows, and those that can do what it asks. */
import { canReauthenticate } from '../policy/upstream-request.ts';
import { findIdentityProvider, type IdentityProvider, listActiveIdentityProviders } from '../store/identity-providers.ts';
import type { Services } from './dependencies.ts';
import { isPrintable } from './text.ts';

/** What an application wants of them. */
export interface UpstreamWishes {
  /** The ids of those that it offers; absent: all that are active. */
  readonly identityProviders?: readonly string[] | undefined;
  /** Seconds that an authentication may be old. */
  readonly maxAge?: number | undefined;
}

const fits = ({ id, type, status }: IdentityProvider, { identityProviders, maxAge }: UpstreamWishes): boolean =>
  status === 'ACTIVE' &&
  (identityProviders === undefined || identityProviders.includes(id)) &&
  (maxAge === undefined || canReauthenticate(type));

/** Oldest first. */
export async function offeredProviders({ database }: Services, wishes: UpstreamWishes = {}): Promise<IdentityProvider[]> {
  return (await listActiveIdentityProviders(database.knex)).filter((provider) => fits(provider, wishes));
}

/** @returns undefined when it is not offered */
export async function offeredProvider(
  { database }: Services,
  id: string,
  wishes: UpstreamWishes = {},
): Promise<IdentityProvider | undefined> {
  const provider = isPrintable(id) ? await findIdentityProvider(database.knex, id) : undefined;
  return provider !== undefined && fits(provider, wishes) ? provider : undefined;
}
