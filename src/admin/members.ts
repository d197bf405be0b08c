/** The members of an organization: who they are, in which department; adding, moving, removing. Accounts themselves are not made or changed here. */
import { z } from 'zod';
import { ApiError, validation } from '../errors.ts';
import { departmentTree } from '../services/departments.ts';
import { getMember, listMembers, putMember, removeMember } from '../services/members.ts';
import { getOrganization } from '../services/organizations.ts';
import { getUser } from '../services/users.ts';
import type { User } from '../store/users.ts';
import { departmentField } from './departments.ts';
import { type Field, formPage, readFields } from './form.ts';
import { addressOf, below, mayChange, organizationToChange, orgIdIn } from './organizations.ts';
import type { ConsolePage, Crumb, Visit } from './page.ts';
import { afterIn, LIMIT, nextPage } from './paging.ts';

const homeOf = (orgId: string): string => `${addressOf(orgId)}/members`;
const crumbsTo = (organization: { id: string; name: string }): readonly Crumb[] => [
  ...below(organization),
  { label: 'Members', href: homeOf(organization.id) },
];

const STATUSES = {
  STAGED: 'Not activated yet',
  ACTIVE: 'Active',
  PASSWORD_EXPIRED: 'Password expired',
  LOCKED_OUT: 'Locked',
  SUSPENDED: 'Suspended',
  DEPROVISIONED: 'Deactivated',
} as const;

const list: ConsolePage = {
  path: '/organizations/:orgId/members',
  access: 'organizations',
  async show(visit) {
    const { services, request, query } = visit;
    const organization = await getOrganization(services, orgIdIn(visit), request);
    const home = homeOf(organization.id);
    const { items, next } = await listMembers(services, organization.id, { limit: LIMIT, after: afterIn(query) }, request);
    const names = new Map(
      items.some(({ depId }) => depId !== null)
        ? (await departmentTree(services, organization.id, request)).departments.map(({ id, name }) => [id, name])
        : [],
    );
    const isChangeable = mayChange(visit, organization.id);
    return {
      view: 'members',
      title: 'Members',
      lead: organization.memberCount === 1 ? '1 member' : `${organization.memberCount.toLocaleString('en')} members`,
      crumbs: below(organization),
      actions: isChangeable ? [{ label: 'Add member', href: `${home}/new`, main: true }] : [],
      locals: {
        members: items.map(({ userId, login, status, depId }) => ({
          login,
          status: STATUSES[status],
          department:
            depId === null ? undefined : { name: names.get(depId) ?? depId, href: `${addressOf(organization.id)}/departments/${depId}` },
          move: isChangeable ? `${home}/${userId}` : undefined,
          remove: isChangeable ? `${home}/${userId}/remove` : undefined,
        })),
        next: nextPage(home, next),
        isFirst: afterIn(query) === undefined,
        home,
      },
    };
  },
};

async function departmentChoice({ services, request }: Visit, orgId: string, now: string | undefined): Promise<Field> {
  const { departments } = await departmentTree(services, orgId, request);
  return departmentField(departments, { name: 'depId', label: 'Department', value: now ?? '' }, 'None: directly in the organization');
}

const add: ConsolePage = {
  path: '/organizations/:orgId/members/new',
  access: 'organizations',
  verb: 'write',
  async show(visit, typed) {
    const organization = await organizationToChange(visit);
    const fields = [
      { name: 'login', label: 'User name', hint: 'Of an account that exists', required: true },
      await departmentChoice(visit, organization.id, undefined),
    ];
    return formPage(
      { title: 'Add member', crumbs: crumbsTo(organization), fields, submit: 'Add member', cancel: homeOf(organization.id) },
      typed,
    );
  },
  async receive(visit, form) {
    const orgId = orgIdIn(visit);
    const { login, depId } = readFields(z.object({ login: z.string().trim().min(1), depId: z.string() }), form);
    const user = await accountOf(visit, login);
    await putMember(visit.services, orgId, user.id, depId, visit.request);
    return { goTo: homeOf(orgId), notice: 'member-added' };
  },
};

/** @throws {ApiError} validation when there is none, or he may not know of it */
async function accountOf({ services, request }: Visit, login: string): Promise<User> {
  try {
    return await getUser(services, login, request);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404)
      throw validation([{ field: 'login', message: 'is not that of an account here' }]);
    throw error;
  }
}

const move: ConsolePage = {
  path: '/organizations/:orgId/members/:userId',
  access: 'organizations',
  verb: 'write',
  async show(visit, typed) {
    const organization = await organizationToChange(visit);
    const { userId, depId } = await getMember(visit.services, organization.id, visit.params.userId ?? '', visit.request);
    const { login } = await getUser(visit.services, userId, visit.request);
    const fields = [await departmentChoice(visit, organization.id, depId)];
    return formPage({ title: login, crumbs: crumbsTo(organization), fields, submit: 'Save', cancel: homeOf(organization.id) }, typed);
  },
  async receive(visit, form) {
    const orgId = orgIdIn(visit);
    const { depId } = readFields(z.object({ depId: z.string() }), form);
    // Whoever was removed meanwhile is not brought back by a form about his department.
    const { userId } = await getMember(visit.services, orgId, visit.params.userId ?? '', visit.request);
    await putMember(visit.services, orgId, userId, depId, visit.request);
    return { goTo: homeOf(orgId), notice: 'member-changed' };
  },
};

const remove: ConsolePage = {
  path: '/organizations/:orgId/members/:userId/remove',
  access: 'organizations',
  verb: 'write',
  async show(visit, typed) {
    const organization = await organizationToChange(visit);
    const { userId } = await getMember(visit.services, organization.id, visit.params.userId ?? '', visit.request);
    const { login } = await getUser(visit.services, userId, visit.request);
    const title = `Remove “${login}” from “${organization.name}”?`;
    const facts = ['The account itself stays, with its other organizations.'];
    return formPage(
      { title, crumbs: crumbsTo(organization), facts, submit: 'Remove member', danger: true, cancel: homeOf(organization.id) },
      typed,
    );
  },
  async receive(visit) {
    const orgId = orgIdIn(visit);
    await removeMember(visit.services, orgId, visit.params.userId ?? '', visit.request);
    return { goTo: homeOf(orgId), notice: 'member-removed' };
  },
};

export const members: readonly ConsolePage[] = [list, add, move, remove];
