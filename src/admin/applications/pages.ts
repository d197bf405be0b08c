/** All pages about applications; those with a fixed address before those with a parameter in its place. */
import type { ConsolePage } from '../page.ts';
import { assignments } from './assignments.ts';
import { branding } from './branding.ts';
import { connect } from './connect.ts';
import { creation } from './create.ts';
import { credentials } from './credentials.ts';
import { lifecycle } from './lifecycle.ts';
import { list } from './list.ts';
import { settings } from './settings.ts';

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
