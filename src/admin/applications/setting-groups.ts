/**
 * An application's settings in groups: what each is called, what it does, and which value is safe. A group is shown as facts and edited on a form of
 * its own; fields have the API's names. How a group is read back is in setting-values.ts.
 */
import { authentication } from './groups/authentication.ts';
import { branding } from './groups/branding.ts';
import { flow } from './groups/flow.ts';
import { general } from './groups/general.ts';
import { logout } from './groups/logout.ts';
import { signIn } from './groups/sign-in.ts';
import { tokens } from './groups/tokens.ts';
import type { SettingGroup } from './setting-group.ts';

export const GROUPS: readonly SettingGroup[] = [general, flow, signIn, tokens, logout, authentication, branding];
