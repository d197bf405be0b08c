/** Home-realm discovery: the providers that a user name leads to, by its domain alone. */
import type { Services } from '../../platform/database/dependencies.ts';
import { hasOrganizationProviders } from '../identity-providers/upstream-offers.service.ts';
import { type DomainProvider, findDomainProviders } from './home-realm.store.ts';

/**
 * Active ones; the required one is the first. Nobody is looked up. Where no organization has a provider, nothing is read.
 * @param domain in ASCII; undefined: the user name has none
 */
export const providersOfDomain = async (services: Services, domain: string | undefined): Promise<readonly DomainProvider[]> =>
  (await hasOrganizationProviders(services)) ? findDomainProviders(services.database.pool, domain) : [];
