/** The first page of the console: who one is here, what one may do, and where to find it. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { RoleType } from '../policy/administration.ts';
import { getOrganization } from '../services/organizations.ts';
import { menuFor } from './navigation.ts';
import type { ConsolePage, Visit } from './page.ts';

const ROLES: Readonly<Record<RoleType, readonly [name: string, meaning: string]>> = {
  SUPER_ADMIN: ['Super administrator', 'You may see and change everything.'],
  READ_ONLY_ADMIN: ['Read-only administrator', 'You see everything and change nothing but what is your own.'],
  ORG_ADMIN: ['Organization administrator', 'You look after this organization, its departments and its people:'],
};

/** What an entry of the menu is for, by its address. */
const PURPOSES: Readonly<Record<string, string>> = {
  '/admin/organizations': 'Organizations with their departments and members',
  '/admin/api/tokens': 'Tokens for scripts and tools that call the management API in your name',
};

const { version } = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')));

/** One's roles in words; those of organizations with the organization. */
function rolesOf({ services, request }: Visit) {
  return Promise.all(
    request.roles.map(async ({ type, orgId }) => {
      const [name, meaning] = ROLES[type];
      const organization = orgId === undefined ? undefined : await getOrganization(services, orgId, request);
      return { name, meaning, organization: organization && { name: organization.name, href: `/admin/organizations/${organization.id}` } };
    }),
  );
}

export const dashboard: ConsolePage = {
  path: '/',
  access: 'own',
  async show(visit) {
    const { person, request, services } = visit;
    const entries = menuFor(request.roles, '').flatMap(({ label: section, entries: those }) =>
      those.map(({ label, href }) => ({ section, label, href, purpose: PURPOSES[href] })),
    );
    const locals = { roles: await rolesOf(visit), entries, version, api: `${services.config.baseUrl}/api/v1` };
    const name = person.name || person.login;
    return { view: 'dashboard', title: 'Admin console', lead: `Welcome, ${name}.`, locals };
  },
};
