/** Shared by the pages under Settings → Branding. */
import type { Action, ConsoleRequest, Crumb } from '../../pages/console/page.ts';
import { mayCall } from '../administrators/administration.policy.ts';

export const HOME = '/admin/settings/branding';
export const SETTINGS: readonly Crumb[] = [{ label: 'Settings' }];
export const CRUMBS: readonly Crumb[] = [...SETTINGS, { label: 'Branding', href: HOME }];
export const TABS: readonly Action[] = [
  { label: 'Service', href: HOME },
  { label: 'Style', href: `${HOME}/style` },
  { label: 'Links', href: `${HOME}/links` },
  { label: 'Applications', href: `${HOME}/applications` },
];

export const mayWrite = ({ request }: ConsoleRequest): boolean => mayCall(request.roles, 'service', 'write');
