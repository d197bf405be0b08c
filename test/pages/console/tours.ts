/** Ways through the console that pass every page of it once: what is said of all pages is tested along them. */
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
