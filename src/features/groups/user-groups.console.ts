/** The groups of a user. */

import { groupsIn } from '../../pages/console/candidates.ts';
import { undoOfAdding } from '../../pages/console/choose-page.ts';
import { downloadList, fileActions, piecesOf } from '../../pages/console/downloads.ts';
import { formPage } from '../../pages/console/form.ts';
import type { ListColumns } from '../../pages/console/list-state.ts';
import type { ConsolePage, ConsoleRequest } from '../../pages/console/page.ts';
import { paged, pageIn } from '../../pages/console/paging.ts';
import { pickedId, pickField } from '../../pages/console/picker.ts';
import { validation } from '../../platform/errors/errors.ts';
import { phrase } from '../../platform/i18n/phrase.ts';
import { mayCall } from '../administrators/administration.policy.ts';
import { choosingAction, draftForList } from '../bulk/choose-action.console.ts';
import { addressOfUser, userPage, userSubject } from '../users/user-page.console.ts';
import { userTarget } from '../users/user-reach.service.ts';
import { addressOfGroup, removalFacts } from './group-page.console.ts';
import { addGroupMembers, getGroup, listUserGroups, removeGroupMember } from './groups.service.ts';

const homeOf = (userId: string): string => `${addressOfUser(userId)}/groups`;

const COLUMNS: ListColumns = [
  { label: 'Group', by: 'name', searched: true },
  { label: 'Description', by: 'description', searched: true },
];

const list: ConsolePage = {
  path: '/users/:id/groups',
  access: 'service',
  async show(visit, typed) {
    const { services, request, query } = visit;
    const subject = await userSubject(visit);
    const home = homeOf(subject.user.id);
    const { items, total } = await listUserGroups(services, subject.user.id, pageIn(query, COLUMNS), request);
    const isChangeable = mayCall(request.roles, 'service', 'write');
    const part = {
      kind: 'table' as const,
      name: 'Groups',
      ...(isChangeable && { choosing: choosingAction(visit, home, typed, { kind: 'group-memberships', total }) }),
      rows: items.map(({ id, name, description }) => ({
        value: id,
        cells: [{ text: name, href: addressOfGroup(id) }, description],
        actions: isChangeable ? [{ label: 'Remove', href: `${home}/${encodeURIComponent(id)}/remove` }] : [],
      })),
      empty: 'This user is in no group. Groups give access to applications and can be included in tokens.',
      ...paged(home, query, COLUMNS, { total }, 'group'),
      files: fileActions(home, query, total),
    };
    return userPage(visit, subject, [part], isChangeable ? [{ label: 'Add to group', href: `${home}/new`, main: true }] : []);
  },
  async receive(visit, form) {
    const { user } = await userSubject(visit);
    return draftForList(visit, form, {
      kind: 'group-memberships',
      pieces: groupsOf(visit, user.id),
      rowOf: ({ id, name }) => ({ name, item: { id, userId: user.id } }),
    });
  },
  async download(visit) {
    const { user } = await userSubject(visit);
    return downloadList(visit, {
      name: 'user-groups',
      columns: ['id', 'name', 'description', 'created', 'lastUpdated'],
      pieces: groupsOf(visit, user.id),
      recordOf: (group) => ({ ...group }),
      of: userTarget(user),
    });
  },
};

const groupsOf = ({ services, query, request }: ConsoleRequest, userId: string) =>
  piecesOf(query, COLUMNS, (window) => listUserGroups(services, userId, window, request));

const add: ConsolePage = {
  path: '/users/:id/groups/new',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const { user, crumbs } = await userSubject(visit);
    const fields = [await pickField(groupsIn(visit), { name: 'groupId', label: 'Group' }, typed)];
    return formPage({ title: 'Add to group', crumbs, fields, submit: 'Add to group', cancel: homeOf(user.id) }, typed);
  },
  async receive(visit, form) {
    const { user } = await userSubject(visit);
    const groupId = await pickedId(groupsIn(visit), 'groupId', form.get('groupId') ?? '');
    if (groupId === undefined) throw validation([{ field: 'groupId', message: 'is required' }]);
    const home = homeOf(user.id);
    const added = await addGroupMembers(visit.services, groupId, [user.id], visit.request);
    const undo = undoOfAdding(added, () => `${home}/${encodeURIComponent(groupId)}/remove`);
    return { goTo: home, notice: 'group-member-added', undo };
  },
};

/** Removes the user as on the group's own page, but returns to this page. */
const remove: ConsolePage = {
  path: '/users/:id/groups/:groupId/remove',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const { user, name, crumbs } = await userSubject(visit);
    const group = await getGroup(visit.services, visit.params.groupId ?? '');
    const facts = await removalFacts(visit, group.id, user.id);
    const title = phrase('Remove {name} from “{group}”?', { name, group: group.name });
    const below = [...crumbs, { label: 'Groups', href: homeOf(user.id) }];
    return formPage({ title, crumbs: below, facts, submit: 'Remove from group', danger: true, cancel: homeOf(user.id) }, typed);
  },
  async receive(visit) {
    const { user } = await userSubject(visit);
    const { groupId = '' } = visit.params;
    const home = homeOf(user.id);
    const isRemoved = await removeGroupMember(visit.services, groupId, user.id, visit.request);
    const undo = isRemoved ? { href: `${home}/new`, fields: { groupId } } : undefined;
    return { goTo: home, notice: 'group-member-removed', undo };
  },
};

export const userGroups: readonly ConsolePage[] = [list, add, remove];
