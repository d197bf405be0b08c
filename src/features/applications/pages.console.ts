/** All pages about applications; those with a fixed address before those with a parameter in its place. */
import type { ConsolePage } from '../../pages/console/page.ts';
import { assignments } from './assignments.console.ts';
import { branding } from './branding.console.ts';
import { connect } from './connect.console.ts';
import { creation } from './create.console.ts';
import { credentials } from './credentials.console.ts';
import { lifecycle } from './lifecycle.console.ts';
import { list } from './list.console.ts';
import { settings } from './settings.console.ts';

export const applications: readonly ConsolePage[] = [
  list,
  ...creation,
  connect,
  ...settings,
  ...credentials,
  ...assignments,
  branding,
  ...lifecycle,
];
