/** Options for choosing organizations, departments, groups, applications, roles and scopes in forms. */

import { listRoleNames } from '../../features/application-roles/application-roles.service.ts';
import { listApplications } from '../../features/applications/application-lists.service.ts';
import { getApplication } from '../../features/applications/applications.service.ts';
import { fullName } from '../../features/claims/claims.policy.ts';
import { getGroup, listGroups } from '../../features/groups/groups.service.ts';
import { lineAbove, withDepth } from '../../features/organizations/department-tree.console.ts';
import { departmentTree } from '../../features/organizations/departments.service.ts';
import type { Department } from '../../features/organizations/organizations.resource.ts';
import { getOrganization, listOrganizations } from '../../features/organizations/organizations.service.ts';
import { listServerScopes } from '../../features/scopes/scopes.service.ts';
import { suggestUsers } from '../../features/users/user-lists.service.ts';
import type { User } from '../../features/users/users.resource.ts';
import { getUser } from '../../features/users/users.service.ts';
import { ApiError } from '../../platform/errors/errors.ts';
import { phrase } from '../../platform/i18n/phrase.ts';
import { isPrintable } from '../../platform/validation/text.ts';
import type { ConsoleRequest } from './page.ts';
import type { Candidate, Candidates } from './picker.ts';

/** undefined: it does not exist, or the administrator cannot see it. */
async function orNone<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}

const searched = (words: string): string | undefined => (words === '' ? undefined : words);

/** Organizations that the caller can see. */
export const organizationsIn = ({ services, request }: Pick<ConsoleRequest, 'services' | 'request'>): Candidates => ({
  what: 'organizations',
  async find(words, most) {
    if (!isPrintable(words)) return [];
    const { items } = await listOrganizations(services, { page: 1, limit: most, q: searched(words) }, request);
    return items.map(({ id, name }) => ({ id, label: name }));
  },
  async byId(id) {
    const found = isPrintable(id) ? await orNone(getOrganization(services, id, request)) : undefined;
    return found && { id, label: found.name };
  },
});

/** Maximum levels of a department's path, because of the line's width. */
const NEAREST = 3;

/** @throws {ApiError} not found */
export const departmentsIn = async ({ services, request }: ConsoleRequest, orgId: string): Promise<Candidates> =>
  departmentsOf(orgId, (await departmentTree(services, orgId, request)).departments);

/** Indented like the tree; search results show their parents. */
export function departmentsOf(orgId: string, departments: readonly Department[]): Candidates {
  const wayTo = ({ id, name }: Department): Candidate => {
    const above = lineAbove(departments, id)
      .slice(-NEAREST)
      .map((one) => one.name);
    return {
      id,
      label: name,
      ...(above.length > 0 && { shown: phrase('{name} – in {department}', { name, department: above.join(' / ') }) }),
    };
  };
  return {
    suggested: `organizations/${orgId}/departments`,
    async find(words, most) {
      if (words !== '') {
        const lower = words.toLowerCase();
        const same = departments.filter(({ name }) => name.toLowerCase() === lower);
        const fitting = same.length > 0 ? same : departments.filter(({ name }) => name.toLowerCase().includes(lower));
        return fitting.slice(0, most).map(wayTo);
      }
      return withDepth(departments.slice(0, most)).map(({ department: { id, name }, depth }) => ({
        id,
        label: `${'\u2003'.repeat(Math.min(depth, 8))}${name}`,
      }));
    },
    async byId(id) {
      const found = departments.find((one) => one.id === id);
      return found && { id, label: found.name };
    },
  };
}

const userLabel = ({ login, profile }: User): string => [fullName(profile), login].filter(Boolean).join(' – ');

/** Users that the caller can see, by any of their names and e-mail addresses. */
export const usersIn = ({ services, request }: Pick<ConsoleRequest, 'services' | 'request'>): Candidates => ({
  what: 'users',
  async find(words, most) {
    if (!isPrintable(words)) return [];
    const items = await suggestUsers(services, searched(words), most, request);
    return items.map((user) => ({ id: user.id, label: userLabel(user) }));
  },
  async byId(id) {
    const found = isPrintable(id) ? await orNone(getUser(services, id, request)) : undefined;
    return found && { id: found.id, label: userLabel(found) };
  },
});

export const groupsIn = ({ services }: Pick<ConsoleRequest, 'services'>): Candidates => ({
  what: 'groups',
  async find(words, most) {
    if (!isPrintable(words)) return [];
    const { items } = await listGroups(services, { q: searched(words) }, { limit: most });
    return items.map(({ id, name }) => ({ id, label: name }));
  },
  async byId(id) {
    const found = isPrintable(id) ? await orNone(getGroup(services, id)) : undefined;
    return found && { id, label: found.name };
  },
});

export const applicationsIn = ({ services }: Pick<ConsoleRequest, 'services'>): Candidates => ({
  what: 'applications',
  async find(words, most) {
    if (!isPrintable(words)) return [];
    const { items } = await listApplications(services, { q: searched(words) }, { limit: most });
    return items.map(({ id, label }) => ({ id, label }));
  },
  async byId(id) {
    const found = await orNone(getApplication(services, id));
    return found && { id, label: found.label };
  },
});

// Conditions name roles and scopes, so their names are their IDs here; a name that is gone stays.
const named = (name: string): Candidate => ({ id: name, label: name });

/** Roles of all applications. */
export const roleNamesIn = ({ services }: Pick<ConsoleRequest, 'services'>): Candidates => ({
  what: 'application-roles',
  find: async (words, most) =>
    isPrintable(words) ? (await listRoleNames(services, searched(words), most)).map(({ name }) => named(name)) : [],
  byId: async (name) => named(name),
});

export const scopesIn = ({ services }: Pick<ConsoleRequest, 'services'>, serverId: string): Candidates => ({
  what: 'scopes',
  find: async (words, most) =>
    isPrintable(words)
      ? (await listServerScopes(services, serverId, searched(words), { limit: most })).items.map(({ name }) => named(name))
      : [],
  byId: async (name) => named(name),
});
