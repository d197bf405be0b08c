/** Home-realm discovery: the providers that a user name leads to, by its domain alone. */
import type { Services } from '../../platform/database/dependencies.ts';
import { type DomainProvider, findDomainProviders } from './home-realm.store.ts';

/** Active ones; the required one is the first. Nobody is looked up. @param domain in ASCII; undefined: the user name has none */
export const providersOfDomain = ({ database }: Services, domain: string | undefined): Promise<readonly DomainProvider[]> =>
  findDomainProviders(database.pool, domain);
