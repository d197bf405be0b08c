/** Members of a group, and the applications assigned to it. */

import { CHOSEN, chosenIn, undoOfAdding } from '../../pages/console/choose-page.ts';
import { detailPage, listPage } from '../../pages/console/detail-page.ts';
import { downloadList, fileActions, piecesInOrder, piecesOf } from '../../pages/console/downloads.ts';
import { formPage } from '../../pages/console/form.ts';
import { countOf, type ListColumns, listState, numberedPager, searched, sortableColumns } from '../../pages/console/list-state.ts';
import { MEMBER_FILE_COLUMNS, memberCells, memberColumns, memberRecord } from '../../pages/console/member-list.ts';
import type { ConsolePage, ConsoleRequest } from '../../pages/console/page.ts';
import { paged, pageIn } from '../../pages/console/paging.ts';
import type { NumberedWindow } from '../../platform/database/paging.ts';
import { phrase, verbatim } from '../../platform/i18n/phrase.ts';
import { mayCall } from '../administrators/administration.policy.ts';
import { listGroupApplications } from '../applications/application-assignments.service.ts';
import { activityOf } from '../audit/activity.console.ts';
import { choosingAction, draftForList } from '../bulk/choose-action.console.ts';
import { chooseUsers } from '../users/choose-users.console.ts';
import { nameOf } from '../users/user-page.console.ts';
import { getUser } from '../users/users.service.ts';
import { GROUPS_PATH, groupOf, removalFacts } from './group-page.console.ts';
import { addGroupMembers, findGroupMembers, groupTarget, removeGroupMember, searchGroupMembers } from './groups.service.ts';

const COLUMNS = memberColumns();

const found = ({ services, query }: ConsoleRequest, groupId: string, window: NumberedWindow, ids?: readonly string[]) =>
  searched(query, (q) => searchGroupMembers(services, groupId, { q, ids }, window));

const members: ConsolePage = {
  path: '/groups/:id/members',
  access: 'service',
  async show(visit, typed) {
    const { request, query } = visit;
    const { group, home, tabs, steps } = await groupOf(visit);
    const path = `${home}/members`;
    const state = listState(query, COLUMNS, { by: 'joined', descending: true });
    const { search, items, total } = await found(visit, group.id, state);
    const isChangeable = mayCall(request.roles, 'service', 'write');
    const add = { label: 'Add members', href: `${home}/members/new`, main: true };
    return listPage({
      title: verbatim(group.name),
      crumbs: GROUPS_PATH,
      tabs,
      actions: isChangeable ? [add] : [],
      more: [...fileActions(path, query, total), ...steps],
      list: {
        name: 'Members',
        columns: sortableColumns(path, query, COLUMNS, state),
        count: countOf(total, 'member'),
        ...(isChangeable && {
          choosing: choosingAction(visit, path, typed, { total, preset: 'users.remove-from-group' }),
        }),
        rows: items.map((user) => ({
          value: user.id,
          avatar: nameOf(user),
          cells: memberCells(user),
          actions: isChangeable ? [{ label: 'Remove', href: `${home}/members/${encodeURIComponent(user.id)}/remove` }] : [],
        })),
        empty: search.isNarrowed ? 'No members match. Try fewer or shorter words, or show all.' : 'No members yet.',
        emptyAction: isChangeable && !search.isNarrowed ? add : undefined,
        search: {
          ...search,
          label: 'Search',
          hint: 'Words of the name, user name or e-mail address',
          problems: typed.problems.map(({ message }) => ({ message })),
        },
        pager: numberedPager(path, query, state, total),
      },
    });
  },
  async download(visit) {
    const { group } = await groupOf(visit);
    return downloadList(visit, {
      ...{ name: 'group-members', columns: MEMBER_FILE_COLUMNS },
      pieces: piecesInOrder((window) => found(visit, group.id, window)),
      recordOf: memberRecord,
      of: groupTarget(group),
      hasUsers: true,
    });
  },
  async receive(visit, form) {
    const { group } = await groupOf(visit);
    const { goTo } = await draftForList(visit, form, {
      kind: 'users',
      pieces: (ids) => piecesInOrder((window) => found(visit, group.id, window, ids)),
      rowOf: ({ id, login }) => ({ name: login, item: { id } }),
    });
    return { goTo: `${goTo}?group=${encodeURIComponent(group.id)}` };
  },
};

const add: ConsolePage = {
  path: '/groups/:id/members/new',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const { group, home, crumbs } = await groupOf(visit);
    const path = `${home}/members/new`;
    const taken = (userIds: readonly string[]) => findGroupMembers(visit.services, group.id, userIds);
    return chooseUsers(visit, { title: 'Add members', crumbs, path, submit: 'Add selected users', taken }, typed);
  },
  async receive(visit, form) {
    const { group, home } = await groupOf(visit);
    const added = await addGroupMembers(visit.services, group.id, chosenIn(form), visit.request);
    const members = `${home}/members`;
    return { goTo: members, notice: 'group-members-added', undo: undoOfAdding(added, (id) => `${members}/${id}/remove`) };
  },
};

const remove: ConsolePage = {
  path: '/groups/:id/members/:userId/remove',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const { group, home, crumbs } = await groupOf(visit);
    const user = await getUser(visit.services, visit.params.userId ?? '', visit.request);
    const facts = await removalFacts(visit, group.id, user.id);
    const title = phrase('Remove {user} from “{group}”?', { user: nameOf(user), group: group.name });
    return formPage({ title, crumbs, facts, submit: 'Remove member', danger: true, cancel: `${home}/members` }, typed);
  },
  async receive(visit) {
    const { group, home } = await groupOf(visit);
    const { userId = '' } = visit.params;
    const isRemoved = await removeGroupMember(visit.services, group.id, userId, visit.request);
    const undo = isRemoved ? { href: `${home}/members/new`, fields: { [CHOSEN]: userId } } : undefined;
    return { goTo: `${home}/members`, notice: 'group-member-removed', undo };
  },
};

const APPLICATION_COLUMNS: ListColumns = [
  { label: 'Application', by: 'label', searched: true },
  { label: 'Status', by: 'status', codes: ['ACTIVE', 'INACTIVE'] },
];

const applications: ConsolePage = {
  path: '/groups/:id/applications',
  access: 'service',
  async show(visit, typed) {
    const { group, home, tabs, steps } = await groupOf(visit);
    const path = `${home}/applications`;
    const isChangeable = mayCall(visit.request.roles, 'service', 'write');
    const { items, total } = await listGroupApplications(visit.services, group.id, pageIn(visit.query, APPLICATION_COLUMNS));
    return listPage({
      title: verbatim(group.name),
      crumbs: GROUPS_PATH,
      tabs,
      more: steps,
      list: {
        name: 'Applications',
        ...(isChangeable && { choosing: choosingAction(visit, path, typed, { kind: 'assignments', total }) }),
        rows: items.map(({ id, label, status }) => ({
          value: id,
          cells: [
            { text: label, href: `/admin/applications/${encodeURIComponent(id)}` },
            status === 'ACTIVE' ? { text: 'Active', tone: 'good' } : { text: 'Not active', tone: 'plain' },
          ],
        })),
        empty: 'No applications assigned. Open an application to assign it.',
        emptyAction: { label: 'Applications', href: '/admin/applications' },
        ...paged(path, visit.query, APPLICATION_COLUMNS, { total }, 'application'),
        files: fileActions(path, visit.query, total),
      },
    });
  },
  async receive(visit, form) {
    const { group } = await groupOf(visit);
    return draftForList(visit, form, {
      kind: 'assignments',
      pieces: applicationsOf(visit, group.id),
      rowOf: ({ id, label }) => ({ name: label, item: { id, applicationId: id, groupId: group.id } }),
    });
  },
  async download(visit) {
    const { group } = await groupOf(visit);
    return downloadList(visit, {
      name: 'group-applications',
      columns: ['id', 'label', 'status', 'created'],
      pieces: applicationsOf(visit, group.id),
      recordOf: (application) => ({ ...application }),
      of: groupTarget(group),
    });
  },
};

const applicationsOf = ({ services, query }: ConsoleRequest, groupId: string) =>
  piecesOf(query, APPLICATION_COLUMNS, (window) => listGroupApplications(services, groupId, window));

const activity: ConsolePage = {
  path: '/groups/:id/activity',
  access: 'service',
  async show(visit) {
    const { group, home, tabs, steps } = await groupOf(visit);
    return detailPage({
      title: verbatim(group.name),
      crumbs: GROUPS_PATH,
      tabs,
      more: steps,
      parts: [await activityOf(visit, group.id, `${home}/activity`)],
    });
  },
};

export const groupMembers: readonly ConsolePage[] = [members, add, remove, applications, activity];
