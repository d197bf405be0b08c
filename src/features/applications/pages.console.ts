/** All pages about applications. Fixed paths precede those with a parameter in the same place. */
import type { ConsolePage } from '../../pages/console/page.ts';
import { lifecycle } from './activity.console.ts';
import { assignments } from './assignments.console.ts';
import { brandingPage } from './branding.console.ts';
import { connect } from './connect.console.ts';
import { creation } from './create.console.ts';
import { credentials } from './credentials.console.ts';
import { federatedCredentials } from './federated.console.ts';
import { applicationList } from './list.console.ts';
import { applicationSettingsPages } from './settings.console.ts';

export const applications: readonly ConsolePage[] = [
  applicationList,
  ...creation,
  connect,
  ...applicationSettingsPages,
  ...federatedCredentials,
  ...credentials,
  ...assignments,
  brandingPage,
  ...lifecycle,
];
