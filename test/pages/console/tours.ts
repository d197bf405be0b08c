/** Ways through the console that pass every page of it once: what is said of all pages is tested along them. */
import type { ConsolePage } from '../../../src/pages/console/page.ts';
import { PAGES } from '../../../src/pages/console/pages.ts';
import type { Service } from '../../support/service.ts';
import type { Tour } from './tour.ts';
import { applicationLife, applicationSettings, applications } from './tours/applications.ts';
import { directory } from './tours/directory.ts';
import { groups } from './tours/groups.ts';
import { reports } from './tours/reports.ts';
import { security } from './tours/security.ts';
import { serverClaims, serverPolicies, servers } from './tours/servers.ts';
import { tokens } from './tours/tokens.ts';
import { userForms } from './tours/user-forms.ts';
import { users } from './tours/users.ts';

export const TOURS = {
  tokens,
  applications,
  applicationSettings,
  applicationLife,
  directory,
  users,
  userForms,
  groups,
  security,
  servers,
  serverClaims,
  serverPolicies,
  reports,
} satisfies Readonly<Record<string, Tour>>;

/** Goes all of them. @returns their stops */
export async function everyStop(service: Service): Promise<readonly string[]> {
  const stops: string[] = [];
  for (const tour of Object.values(TOURS)) stops.push(...(await tour(service)));
  return stops;
}

/** The page that answers an address: the first one that fits, as the router compares them. */
export function pageAt(address: string): ConsolePage | undefined {
  const [path = ''] = address.split('?');
  return PAGES.find((page) => new RegExp(`^${page.path === '/' ? '' : page.path.replace(/:\w+/g, '[^/]+')}$`).test(path));
}
