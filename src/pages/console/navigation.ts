/** Menu of the console: sections, and the entries visible to a user. */
import { type Access, mayCall, type Role } from '../../features/administrators/administration.policy.ts';
import type { IconName } from '../../platform/http/icons.ts';

interface Entry {
  readonly label: string;
  readonly href: string;
  readonly access: Access;
  readonly icon: IconName;
}

interface Section {
  readonly label: string;
  readonly entries: readonly Entry[];
}

const MENU: readonly Section[] = [
  {
    label: 'Directory',
    entries: [
      { label: 'Organizations', href: '/admin/organizations', access: 'organizations', icon: 'organization' },
      { label: 'Users', href: '/admin/users', access: 'organizations', icon: 'user' },
      { label: 'Attributes', href: '/admin/attributes', access: 'service', icon: 'attribute' },
      { label: 'Groups', href: '/admin/groups', access: 'service', icon: 'group' },
      { label: 'Bulk actions', href: '/admin/bulk', access: 'organizations', icon: 'bulk' },
    ],
  },
  {
    label: 'Applications',
    entries: [{ label: 'Applications', href: '/admin/applications', access: 'service', icon: 'application' }],
  },
  {
    label: 'API',
    entries: [
      { label: 'Authorization servers', href: '/admin/api/servers', access: 'service', icon: 'server' },
      { label: 'Tokens', href: '/admin/api/tokens', access: 'own', icon: 'secret' },
      { label: 'Event hooks', href: '/admin/api/event-hooks', access: 'service', icon: 'eventHook' },
      { label: 'Inline hooks', href: '/admin/api/inline-hooks', access: 'service', icon: 'inlineHook' },
      { label: 'Signal streams', href: '/admin/api/signal-streams', access: 'service', icon: 'signal' },
    ],
  },
  {
    label: 'Security',
    entries: [
      { label: 'Identity providers', href: '/admin/security/identity-providers', access: 'service', icon: 'identityProvider' },
      { label: 'Sign-in policy', href: '/admin/security/sign-in-policy', access: 'service', icon: 'policy' },
      { label: 'Network zones', href: '/admin/security/zones', access: 'service', icon: 'zone' },
      { label: 'Sign-up', href: '/admin/security/sign-up', access: 'service', icon: 'member' },
      { label: 'Bots', href: '/admin/security/bots', access: 'service', icon: 'policy' },
      { label: 'Passwords', href: '/admin/security/passwords', access: 'service', icon: 'password' },
      { label: 'Sessions', href: '/admin/security/sessions', access: 'service', icon: 'session' },
      { label: 'Administrators', href: '/admin/security/administrators', access: 'service', icon: 'role' },
    ],
  },
  {
    label: 'Reports',
    entries: [{ label: 'System log', href: '/admin/reports/log', access: 'service', icon: 'log' }],
  },
  {
    label: 'Settings',
    entries: [
      { label: 'Branding', href: '/admin/settings/branding', access: 'service', icon: 'branding' },
      { label: 'Mail', href: '/admin/settings/mail', access: 'service', icon: 'mail' },
      { label: 'Telephony', href: '/admin/settings/telephony', access: 'service', icon: 'telephony' },
      { label: 'Page texts', href: '/admin/settings/texts', access: 'service', icon: 'language' },
    ],
  },
];

/** `page`: the current page; `true`: a page below it. */
type Current = 'page' | 'true' | undefined;

export interface MenuEntry extends Pick<Entry, 'label' | 'href' | 'icon'> {
  readonly current: Current;
}

const currentAt = (href: string, path: string): Current => (path === href ? 'page' : path.startsWith(`${href}/`) ? 'true' : undefined);

/** @param path of the current page */
export function menuFor(
  roles: readonly Role[],
  path: string,
): readonly { readonly label: string; readonly entries: readonly MenuEntry[] }[] {
  return MENU.map(({ label, entries }) => ({
    label,
    entries: entries
      .filter(({ access }) => mayCall(roles, access, 'read'))
      .map(({ label: name, href, icon }) => ({ label: name, href, icon, current: currentAt(href, path) })),
  })).filter(({ entries }) => entries.length > 0);
}
