/** All pages of the console, in the order in which addresses are compared. */
import { administrators } from './administrators.ts';
import { applications } from './applications/pages.ts';
import { dashboard } from './dashboard.ts';
import { departments } from './departments.ts';
import { eventHookPages } from './event-hooks/pages.ts';
import { groupMembers } from './group-members.ts';
import { groups } from './groups.ts';
import { identityProviderPages } from './identity-providers/pages.ts';
import { identityProviderUserPages } from './identity-providers/users.ts';
import { members } from './members.ts';
import { organizations } from './organizations.ts';
import type { ConsolePage } from './page.ts';
import { reports } from './reports/pages.ts';
import { servers } from './servers/index.ts';
import { sessionLifetimes } from './session-lifetimes.ts';
import { brandingPages } from './settings/branding.ts';
import { mailPages } from './settings/mail.ts';
import { passwordPolicyPages } from './settings/passwords.ts';
import { signInPolicyPages } from './settings/sign-in.ts';
import { tokens } from './tokens.ts';
import { users } from './users/index.ts';

export const PAGES: readonly ConsolePage[] = [
  dashboard,
  ...tokens,
  ...applications,
  ...organizations,
  ...departments,
  ...members,
  ...users,
  ...groups,
  ...groupMembers,
  ...servers,
  ...sessionLifetimes,
  ...administrators,
  ...eventHookPages,
  ...identityProviderPages,
  ...identityProviderUserPages,
  ...signInPolicyPages,
  ...passwordPolicyPages,
  ...brandingPages,
  ...mailPages,
  ...reports,
];
