/** Organization → Members: members and their departments, with forms to add, move and remove. Accounts are created and changed elsewhere. */

import { departmentsIn, departmentsOf } from '../../pages/console/candidates.ts';
import { CHOSEN, chosenIn, undoOfAdding } from '../../pages/console/choose-page.ts';
import { listPage } from '../../pages/console/detail-page.ts';
import { downloadList, fileActions, piecesInOrder } from '../../pages/console/downloads.ts';
import { type Field, formPage } from '../../pages/console/form.ts';
import { countOf, keptOrder, listState, numberedPager, sortableColumns } from '../../pages/console/list-state.ts';
import { MEMBER_FILE_COLUMNS, memberCells, memberColumns, memberRecord } from '../../pages/console/member-list.ts';
import { type ConsolePage, type ConsoleRequest, type Crumb, NOTHING_TYPED, type Typed } from '../../pages/console/page.ts';
import { chosenId, pickedId, pickField } from '../../pages/console/picker.ts';
import type { NumberedWindow } from '../../platform/database/paging.ts';
import { phrase, verbatim } from '../../platform/i18n/phrase.ts';
import { isPrintable } from '../../platform/validation/text.ts';
import { SECOND_ORGANIZATION } from '../administrators/role-form.console.ts';
import { choosingAction, draftForList } from '../bulk/choose-action.console.ts';
import { chooseUsers } from '../users/choose-users.console.ts';
import { NO_DEPARTMENT } from '../users/organization-fields.console.ts';
import { nameOf } from '../users/user-page.console.ts';
import { getUser } from '../users/users.service.ts';
import { departmentTree } from './departments.service.ts';
import { findMembersAmong, getMember, mayAddMember, putMember, putMembers, removeMember, searchMembers } from './members.service.ts';
import {
  besideMembers,
  isMemberRestorable,
  mayChangeOrganization,
  memberRemovalFacts,
  organizationCrumbs,
  organizationHead,
  organizationPath,
  organizationToChange,
  orgIdIn,
} from './organization-page.console.ts';
import { checkReadable, getOrganization, target as organizationTarget } from './organizations.service.ts';

const homeOf = (orgId: string): string => `${organizationPath(orgId)}/members`;
const crumbsTo = (organization: { id: string; name: string }): readonly Crumb[] => [
  ...organizationCrumbs(organization),
  { label: 'Members', href: homeOf(organization.id) },
];

/** The filter in the URL; an unknown department has no members. */
async function narrowed(visit: ConsoleRequest, orgId: string) {
  const q = (visit.query.get('q') ?? '').trim();
  const typed = (visit.query.get('department') ?? '').trim();
  const depId = chosenId(typed) ?? (typed === '' ? '' : await departmentNamed(visit, orgId, typed));
  return { q, depId, isNarrowed: q !== '' || depId !== '', isFindable: isPrintable(q) && isPrintable(depId) };
}

/** @returns its ID; the words themselves unless they name one department */
async function departmentNamed(visit: ConsoleRequest, orgId: string, words: string): Promise<string> {
  const candidates = await departmentsIn(visit, orgId);
  const [first, ...others] = await candidates.find(words, 2);
  return (await candidates.byId(words))?.id ?? (others.length === 0 ? first?.id : undefined) ?? words;
}

const COLUMNS = memberColumns('Department');

/** The members that the search finds; unprintable characters match nothing. */
async function found(visit: ConsoleRequest, orgId: string, window: NumberedWindow, ids?: readonly string[]) {
  const { q, depId, isFindable } = await narrowed(visit, orgId);
  const search = { q: q === '' ? undefined : q, depId: depId === '' ? undefined : depId, ids, ...window };
  return isFindable ? searchMembers(visit.services, orgId, search, visit.request) : { items: [], total: 0 };
}

const list: ConsolePage = {
  path: '/organizations/:orgId/members',
  access: 'organizations',
  async show(visit, typed) {
    const { services, request, query } = visit;
    const organization = await getOrganization(services, orgIdIn(visit), request);
    const home = homeOf(organization.id);
    const { q, depId, isNarrowed } = await narrowed(visit, organization.id);
    const state = listState(query, COLUMNS, { by: 'joined', descending: true });
    const { items, total } = await found(visit, organization.id, state);
    const { departments } = await departmentTree(services, organization.id, request);
    const field = { name: 'department', label: 'Department', value: depId, none: 'All' };
    // Words that several departments match are no choice here.
    const { hint: _, ...department } = await pickField(departmentsOf(organization.id, departments), field, NOTHING_TYPED);
    const names = new Map(departments.map(({ id, name }) => [id, name]));
    const departmentPiece = (id: string) => ({
      text: names.get(id) ?? id,
      href: `${organizationPath(organization.id)}/departments/${encodeURIComponent(id)}`,
    });
    const isChangeable = mayChangeOrganization(visit, organization.id);
    const add = { label: 'Add members', href: `${home}/new`, main: true };
    const head = organizationHead(visit, organization);
    return listPage({
      ...head,
      actions: isChangeable ? [add] : [],
      more: [...head.more, ...fileActions(home, query, total)],
      list: {
        title: 'Members',
        actions: besideMembers(visit, organization.id, '/members'),
        name: 'Members',
        columns: sortableColumns(home, query, COLUMNS, state),
        count: countOf(total, 'member'),
        ...(isChangeable && { choosing: choosingAction(visit, home, typed, { total, also: 'members' }) }),
        rows: items.map((user) => ({
          value: user.id,
          avatar: nameOf(user),
          cells: memberCells(user, user.depId === null ? '' : departmentPiece(user.depId)),
          actions: isChangeable
            ? [
                { label: 'Roles', href: `${home}/${user.id}/roles` },
                { label: 'Move', icon: 'move' as const, href: `${home}/${user.id}` },
                { label: 'Remove', href: `${home}/${user.id}/remove` },
              ]
            : [],
        })),
        empty: isNarrowed ? 'No members match. Try fewer or shorter words, or show all.' : 'This organization has no members yet.',
        emptyAction: isChangeable && !isNarrowed ? add : undefined,
        search: {
          label: 'Search',
          q,
          hint: 'Words of the name, user name or e-mail address',
          fields: departments.length === 0 ? [] : [department],
          isNarrowed,
          kept: keptOrder(query),
          problems: typed.problems.map(({ message }) => ({ message })),
        },
        pager: numberedPager(home, query, state, total),
      },
    });
  },
  async download(visit) {
    const organization = await getOrganization(visit.services, orgIdIn(visit), visit.request);
    // A search for unprintable characters reads nothing and so checks no permission, but its export is recorded too.
    checkReadable(organization.id, visit.request, 'MANAGE_MEMBERS');
    return downloadList(visit, {
      name: 'organization-members',
      columns: [...MEMBER_FILE_COLUMNS, 'depId'],
      pieces: piecesInOrder(async (window) => found(visit, organization.id, window)),
      recordOf: (user) => ({ ...memberRecord(user), depId: user.depId }),
      of: organizationTarget(organization),
      hasUsers: true,
    });
  },
  async receive(visit, form) {
    const { id: orgId } = await organizationToChange(visit);
    return draftForList(visit, form, {
      kind: 'users',
      also: 'members',
      pieces: (ids) => piecesInOrder(async (window) => found(visit, orgId, window, ids)),
      rowOf: ({ id, login }) => ({ name: login, item: { id, orgId } }),
    });
  },
};

const departmentField = async (visit: ConsoleRequest, orgId: string, value: string | undefined, typed: Typed): Promise<Field> =>
  pickField(await departmentsIn(visit, orgId), { name: 'depId', label: 'Department', value, none: NO_DEPARTMENT }, typed);

const departmentIn = async (visit: ConsoleRequest, form: URLSearchParams): Promise<string | undefined> =>
  pickedId(await departmentsIn(visit, orgIdIn(visit)), 'depId', form.get('depId') ?? '');

const add: ConsolePage = {
  path: '/organizations/:orgId/members/new',
  access: 'organizations',
  verb: 'write',
  async show(visit, typed) {
    const organization = await organizationToChange(visit);
    const taken = async (userIds: readonly string[]) => findMembersAmong(visit.services, organization.id, userIds, visit.request);
    const page = {
      title: 'Add members',
      lead: SECOND_ORGANIZATION.join(' '),
      crumbs: crumbsTo(organization),
      path: `${homeOf(organization.id)}/new`,
      submit: 'Add selected users',
      fields: [await departmentField(visit, organization.id, undefined, typed)],
      taken,
    };
    return chooseUsers(visit, page, typed);
  },
  async receive(visit, form) {
    const orgId = orgIdIn(visit);
    const depId = await departmentIn(visit, form);
    const added = await putMembers(visit.services, orgId, chosenIn(form), depId, visit.request);
    const undo = undoOfAdding(added, (id) => `${homeOf(orgId)}/${id}/remove`);
    return { goTo: homeOf(orgId), notice: 'members-added', undo };
  },
};

const move: ConsolePage = {
  path: '/organizations/:orgId/members/:userId',
  access: 'organizations',
  verb: 'write',
  async show(visit, typed) {
    const organization = await organizationToChange(visit);
    const { userId, depId } = await getMember(visit.services, organization.id, visit.params.userId ?? '', visit.request);
    const { login } = await getUser(visit.services, userId, visit.request);
    const fields = [await departmentField(visit, organization.id, depId, typed)];
    return formPage(
      { title: verbatim(login), crumbs: crumbsTo(organization), fields, submit: 'Save', cancel: homeOf(organization.id) },
      typed,
    );
  },
  async receive(visit, form) {
    const orgId = orgIdIn(visit);
    // A form about the department must not add back a member who was removed after the page was loaded.
    const { userId, depId = '' } = await getMember(visit.services, orgId, visit.params.userId ?? '', visit.request);
    await putMember(visit.services, orgId, userId, await departmentIn(visit, form), visit.request);
    const undo = { href: `${homeOf(orgId)}/${encodeURIComponent(userId)}`, fields: { depId } };
    return { goTo: homeOf(orgId), notice: 'member-changed', undo };
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
    const title = phrase('Remove “{login}” from “{organization}”?', { login, organization: organization.name });
    const facts = await memberRemovalFacts(visit, organization.id, userId);
    return formPage(
      { title, crumbs: crumbsTo(organization), facts, submit: 'Remove member', danger: true, cancel: homeOf(organization.id) },
      typed,
    );
  },
  async receive(visit) {
    const orgId = orgIdIn(visit);
    const { userId, depId = '' } = await getMember(visit.services, orgId, visit.params.userId ?? '', visit.request);
    const isRestorable = await isMemberRestorable(visit, orgId, userId);
    await removeMember(visit.services, orgId, userId, visit.request);
    const isUndone = isRestorable && (await mayAddMember(visit.services, userId, visit.request));
    const undo = isUndone ? { href: `${homeOf(orgId)}/new`, fields: { [CHOSEN]: userId, depId } } : undefined;
    return { goTo: homeOf(orgId), notice: 'member-removed', undo };
  },
};

export const memberPages: readonly ConsolePage[] = [list, add, move, remove];
