/** The menu of the console: its sections, and which entries somebody sees. */
import { type Access, mayCall, type Role } from '../../features/administrators/administration.policy.ts';

interface Entry {
  readonly label: string;
  readonly href: string;
  readonly access: Access;
}

interface Section {
  readonly label: string;
  readonly entries: readonly Entry[];
}

const MENU: readonly Section[] = [
  {
    label: 'Directory',
    entries: [
      { label: 'Organizations', href: '/admin/organizations', access: 'organizations' },
      { label: 'Users', href: '/admin/users', access: 'organizations' },
      { label: 'Groups', href: '/admin/groups', access: 'service' },
      { label: 'Bulk actions', href: '/admin/bulk', access: 'organizations' },
    ],
  },
  {
    label: 'Applications',
    entries: [{ label: 'Applications', href: '/admin/applications', access: 'service' }],
  },
  {
    label: 'API',
    entries: [
      { label: 'Authorization servers', href: '/admin/api/servers', access: 'service' },
      { label: 'Token', href: '/admin/api/tokens', access: 'own' },
      { label: 'Event hooks', href: '/admin/api/event-hooks', access: 'service' },
    ],
  },
  {
    label: 'Security',
    entries: [
      { label: 'Identity providers', href: '/admin/security/identity-providers', access: 'service' },
      { label: 'Sign-in policy', href: '/admin/security/sign-in-policy', access: 'service' },
      { label: 'Passwords', href: '/admin/security/passwords', access: 'service' },
      { label: 'Sessions', href: '/admin/security/sessions', access: 'service' },
      { label: 'Administrators', href: '/admin/security/administrators', access: 'service' },
    ],
  },
  {
    label: 'Reports',
    entries: [{ label: 'System log', href: '/admin/reports/log', access: 'service' }],
  },
  {
    label: 'Settings',
    entries: [
      { label: 'Branding', href: '/admin/settings/branding', access: 'service' },
      { label: 'Mail', href: '/admin/settings/mail', access: 'service' },
    ],
  },
];

/** `page`: the one that is looked at; `true`: one below it is. */
type Current = 'page' | 'true' | undefined;

export interface MenuEntry extends Pick<Entry, 'label' | 'href'> {
  readonly current: Current;
}

const currentAt = (href: string, path: string): Current => (path === href ? 'page' : path.startsWith(`${href}/`) ? 'true' : undefined);

/** @param path of the page that is looked at */
export function menuFor(
  roles: readonly Role[],
  path: string,
): readonly { readonly label: string; readonly entries: readonly MenuEntry[] }[] {
  return MENU.map(({ label, entries }) => ({
    label,
    entries: entries
      .filter(({ access }) => mayCall(roles, access, 'read'))
      .map((entry) => ({ label: entry.label, href: entry.href, current: currentAt(entry.href, path) })),
  })).filter(({ entries }) => entries.length > 0);
}
