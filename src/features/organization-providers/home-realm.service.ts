/** Home-realm discovery: the providers that a user name leads to, by its domain alone. */
import type { Services } from '../../platform/database/dependencies.ts';
import { domainOfAddress } from '../../platform/dns/domain-name.ts';
import { type DomainProvider, findDomainProviders } from './home-realm.store.ts';

/** Active ones; the required one is the first. Nobody is looked up. */
export const providersOfName = ({ database }: Services, username: string): Promise<readonly DomainProvider[]> =>
  findDomainProviders(database.pool, domainOfAddress(username));
