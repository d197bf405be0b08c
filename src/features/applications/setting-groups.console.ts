/**
 * An application's settings in groups: what each is called, what it does, and which value is safe. A group is shown as facts and edited on a form of
 * its own; fields have the API's names. How a group is read back is in setting-values.ts.
 */

import type { SettingGroup } from './setting-group.console.ts';
import { authentication } from './settings/authentication.console.ts';
import { branding } from './settings/branding.console.ts';
import { flow } from './settings/flow.console.ts';
import { general } from './settings/general.console.ts';
import { logout } from './settings/logout.console.ts';
import { signIn } from './settings/sign-in.console.ts';
import { tokens } from './settings/tokens.console.ts';

export const GROUPS: readonly SettingGroup[] = [general, flow, signIn, tokens, logout, authentication, branding];
