/**
 * An application's settings in groups: what each is called, what it does, and which value is safe. A group is shown as facts and edited on a form of
 * its own; fields have the API's names. How a group is read back is in setting-values.ts.
 */

import type { SettingGroup } from './setting-group.console.ts';
import { authenticationSettings } from './settings/authentication.console.ts';
import { brandingSettings } from './settings/branding.console.ts';
import { flow } from './settings/flow.console.ts';
import { general } from './settings/general.console.ts';
import { logoutSettings } from './settings/logout.console.ts';
import { responseSettings } from './settings/responses.console.ts';
import { signInSettings } from './settings/sign-in.console.ts';
import { subjectSettings } from './settings/subjects.console.ts';
import { tokenSettings } from './settings/tokens.console.ts';

export const SETTING_GROUPS: readonly SettingGroup[] = [
  general,
  flow,
  signInSettings,
  tokenSettings,
  responseSettings,
  subjectSettings,
  logoutSettings,
  authenticationSettings,
  brandingSettings,
];
