/** By which external providers somebody may sign in here and now: the active ones, those that the application allows, and those that can do what it asks. */

import { CachedValue } from '../../platform/cache/cache.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { isPrintable } from '../../platform/validation/text.ts';
import { isOrganizationProvider } from '../organization-providers/organization-providers.store.ts';
import type { IdentityProvider } from './identity-providers.resource.ts';
import { findIdentityProvider, listCommittedActiveProviders, type OfferedProvider } from './identity-providers.store.ts';
import { canReauthenticate } from './upstream-request.policy.ts';

/** What an application wants of them. */
export interface UpstreamWishes {
  /** The ids of those that it offers; absent: all that are active. */
  readonly identityProviders?: readonly string[] | undefined;
  /** Seconds that an authentication may be old. */
  readonly maxAge?: number | undefined;
}

const fits = ({ type, status }: Pick<IdentityProvider, 'type' | 'status'>, { maxAge }: UpstreamWishes): boolean =>
  status === 'ACTIVE' && (maxAge === undefined || canReauthenticate(type));

/** A provider of an organization is no general offer: names of customers stay off the page, unless the application shows them. */
const isShown = ({ id, isOfOrganization }: OfferedProvider, { identityProviders }: UpstreamWishes): boolean =>
  identityProviders === undefined ? !isOfOrganization : identityProviders.includes(id);

/** Those that are active, as this process knows them; by the pool, as the settings (settings-cache.ts). */
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

/** What a page shows, oldest first; whether one still stands is asked when its user comes to it. */
export async function offeredProviders(services: Services, wishes: UpstreamWishes = {}): Promise<OfferedProvider[]> {
  return (await activeProviders(services)).filter((provider) => fits(provider, wishes) && isShown(provider, wishes));
}

/** As it is now. One of an organization is open wherever its domain leads to it. @returns undefined when it is not offered */
export async function offeredProvider(
  { database }: Services,
  id: string,
  wishes: UpstreamWishes = {},
): Promise<IdentityProvider | undefined> {
  const provider = isPrintable(id) ? await findIdentityProvider(database.knex, id) : undefined;
  if (provider === undefined || !fits(provider, wishes)) return undefined;
  const { identityProviders } = wishes;
  const isAllowed = identityProviders === undefined || identityProviders.includes(id) || (await isOrganizationProvider(database.knex, id));
  return isAllowed ? provider : undefined;
}
