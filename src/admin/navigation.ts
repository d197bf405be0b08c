/** The menu of the console: its sections, and which entries somebody sees. */
import { type Access, mayCall, type Role } from '../policy/administration.ts';

interface Entry {
  readonly label: string;
  readonly href: string;
  readonly access: Access;
}

interface Section {
  readonly label: string;
  readonly entries: readonly Entry[];
}

export const MENU: readonly Section[] = [
  {
    label: 'Directory',
    entries: [{ label: 'Organizations', href: '/admin/organizations', access: 'organizations' }],
  },
  {
    label: 'API',
    entries: [{ label: 'Token', href: '/admin/api/tokens', access: 'own' }],
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
