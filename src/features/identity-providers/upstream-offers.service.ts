/** External providers offered for a sign-in: active ones that the application allows and that can fulfil its request. */

import { CachedValue } from '../../platform/cache/cache.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { isPrintable } from '../../platform/validation/text.ts';
import { findDomainProviders } from '../organization-providers/home-realm.store.ts';
import { isOrganizationProvider } from '../organization-providers/organization-providers.store.ts';
import type { IdentityProvider } from './identity-providers.resource.ts';
import {
  findIdentityProvider,
  listCommittedActiveProviders,
  listConnectableProviders,
  type OfferedProvider,
} from './identity-providers.store.ts';
import { canReauthenticate } from './upstream-request.policy.ts';

/** Identity provider preferences of an application. */
export interface ProviderPreferences {
  /** IDs of the providers that the application offers; absent: all active ones. */
  readonly identityProviders?: readonly string[] | undefined;
  /** ID of the provider that the authorization request names. */
  readonly idp?: string | undefined;
  /** Maximum age of the authentication in seconds. */
  readonly maxAge?: number | undefined;
}

const matches = ({ type, status }: Pick<IdentityProvider, 'type' | 'status'>, { maxAge }: ProviderPreferences): boolean =>
  status === 'ACTIVE' && (maxAge === undefined || canReauthenticate(type));

/** Providers of organizations are shown only if the application lists them, because their names reveal customers. */
const isShown = ({ id, isOfOrganization }: OfferedProvider, { identityProviders }: ProviderPreferences): boolean =>
  identityProviders === undefined ? !isOfOrganization : identityProviders.includes(id);

/** Active providers, cached per connection pool like the settings (settings-cache.service.ts). */
const active = new WeakMap<Services['database']['pool'], CachedValue<readonly OfferedProvider[]>>();

function activeProviders({ database: { pool }, notifications }: Services): Promise<readonly OfferedProvider[]> {
  const known = active.get(pool) ?? new CachedValue<readonly OfferedProvider[]>(() => listCommittedActiveProviders(pool));
  if (!active.has(pool)) {
    active.set(pool, known);
    notifications.subscribe((change) => {
      if (change === 'everything' || change.kind === 'identity-provider') known.forget();
    });
  }
  return known.current();
}

/** Does any organization have an active provider, according to the cache? */
export const hasOrganizationProviders = async (services: Services): Promise<boolean> =>
  (await activeProviders(services)).some(({ isOfOrganization }) => isOfOrganization);

/** Providers shown on a page, oldest first. They are checked again when the user chooses one. */
export async function offeredProviders(services: Services, preferences: ProviderPreferences = {}): Promise<OfferedProvider[]> {
  return (await activeProviders(services)).filter((provider) => matches(provider, preferences) && isShown(provider, preferences));
}

/**
 * Current state of the provider.
 * @param domain of the entered user name: a provider for that domain is also offered
 * @returns undefined if the provider is not offered
 */
export async function offeredProvider(
  services: Services,
  id: string,
  preferences: ProviderPreferences = {},
  domain?: string,
): Promise<IdentityProvider | undefined> {
  const provider = isPrintable(id) ? await findIdentityProvider(services.database.knex, id) : undefined;
  if (provider === undefined || !matches(provider, preferences)) return undefined;
  return (await isOpen(services, id, preferences, domain)) ? provider : undefined;
}

/**
 * Can the user choose the provider? Providers of organizations are offered only by their domain, by the application's list, or by the request's
 * `idp`.
 */
async function isOpen(
  { database }: Services,
  id: string,
  { identityProviders, idp }: ProviderPreferences,
  domain?: string,
): Promise<boolean> {
  if (identityProviders?.includes(id)) return true;
  if (domain !== undefined && (await findDomainProviders(database.pool, domain)).some((found) => found.id === id)) return true;
  return identityProviders === undefined && (idp === id || !(await isOrganizationProvider(database.knex, id)));
}

/** A provider at which the user can connect an account. @returns undefined if it is not offered */
export async function connectableProvider({ database }: Services, id: string, userId: string): Promise<IdentityProvider | undefined> {
  return (await listConnectableProviders(database.knex, userId)).find((provider) => provider.id === id);
}
