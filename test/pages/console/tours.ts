/** Ways through the console that pass every page of it once: what is said of all pages is tested along them. */
import assert from 'node:assert/strict';
import { after, type TestContext } from 'node:test';
import type { ConsolePage } from '../../../src/pages/console/page.ts';
import { PAGES } from '../../../src/pages/console/pages.ts';
import { afterwards } from '../../support/afterwards.ts';
import { copyOf, startedDatabase, type TestDatabase } from '../../support/database.ts';
import { type Service, type ServiceOptions, STARTED, startService } from '../../support/service.ts';
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

/** What all tours make, once for all tests of the process. */
let made: { readonly database: TestDatabase; readonly stops: readonly string[] } | undefined;
after(() => made?.database.drop());

async function makeAll(t: TestContext): Promise<NonNullable<typeof made>> {
  const database = await startedDatabase();
  const stops: string[] = [];
  // Its service ends with it, so that the database can be copied.
  await t.test('is passed by the tours', async (part) => {
    const service = await startService(part, { beside: { database, secretKey: STARTED.SECRET_KEY } });
    for (const tour of Object.values(TOURS)) stops.push(...(await tour(service)));
    made = { database, stops };
  });
  return made ?? assert.fail('the tours are not made');
}

/** Starts a service with a copy of what all tours make. It ends with the test. */
export async function startOnTour(
  t: TestContext,
  options: Pick<ServiceOptions, 'env' | 'onLog' | 'sendsOutbox'> = {},
): Promise<{ readonly service: Service; readonly stops: readonly string[] }> {
  const { database: original, stops } = made ?? (await makeAll(t));
  const database = await copyOf(original);
  afterwards(t, () => database.drop());
  return { service: await startService(t, { ...options, beside: { database, secretKey: STARTED.SECRET_KEY } }), stops };
}

/** The page that answers an address: the first one that fits, as the router compares them. */
export function pageAt(address: string): ConsolePage | undefined {
  const [path = ''] = address.split('?');
  return PAGES.find((page) => new RegExp(`^${page.path === '/' ? '' : page.path.replace(/:\w+/g, '[^/]+')}$`).test(path));
}
