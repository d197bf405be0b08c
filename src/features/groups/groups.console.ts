/** Directory → Groups: sets of users for assigning applications and for claims; create, change and delete. */

import { z } from 'zod';
import { confirmedStep } from '../../pages/console/confirmation-page.ts';
import { detailPage, listPage } from '../../pages/console/detail-page.ts';
import { downloadList, fileActions, piecesInOrder } from '../../pages/console/downloads.ts';
import { type Field, formPage, typedValues } from '../../pages/console/form.ts';
import { countOf, listState, numberedPager, type SortedBy, searched, sortableColumns } from '../../pages/console/list-state.ts';
import type { ConsolePage, ConsoleRequest } from '../../pages/console/page.ts';
import type { NumberedWindow } from '../../platform/database/paging.ts';
import { phrase, verbatim } from '../../platform/i18n/phrase.ts';
import { momentOf } from '../../platform/i18n/times.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { text } from '../../platform/validation/text.ts';
import { mayCall } from '../administrators/administration.policy.ts';
import { choosingAction, draftForList } from '../bulk/choose-action.console.ts';
import { addressOfGroup, GROUPS_HOME, GROUPS_PATH, groupOf } from './group-page.console.ts';
import type { GroupOrder } from './groups.resource.ts';
import { createGroup, deleteGroup, groupCounts, searchGroups, updateGroup } from './groups.service.ts';

const COLUMNS: readonly (string | SortedBy<GroupOrder>)[] = [
  { label: 'Name', by: 'name' },
  'Description',
  { label: 'Members', by: 'members', descending: true },
  { label: 'Created', by: 'created', descending: true },
];

const found = ({ services, query }: ConsoleRequest, window: NumberedWindow) => searched(query, (q) => searchGroups(services, q, window));

const list: ConsolePage = {
  path: '/groups',
  access: 'service',
  async show(visit, typed) {
    const { request, query } = visit;
    const state = listState(query, COLUMNS, { by: 'created', descending: true });
    const { search, items, total } = await found(visit, state);
    const create = { label: 'Create group', href: `${GROUPS_HOME}/new`, main: true };
    const mayCreate = mayCall(request.roles, 'service', 'write');
    return listPage({
      title: 'Groups',
      lead: 'Groups collect users. Assign applications to a group, and include groups in tokens.',
      crumbs: [{ label: 'Directory' }],
      actions: mayCreate ? [create] : [],
      more: fileActions(GROUPS_HOME, query, total),
      list: {
        name: 'Groups',
        columns: sortableColumns(GROUPS_HOME, query, COLUMNS, state),
        count: countOf(total, 'group'),
        ...(mayCreate && { choosing: choosingAction(visit, GROUPS_HOME, typed, { kind: 'groups', total }) }),
        rows: items.map(({ id, name, description, created, members }) => ({
          value: id,
          cells: [{ text: name, href: addressOfGroup(id) }, description, members, { moment: momentOf(created) }],
        })),
        empty: search.isNarrowed
          ? 'No groups match. Try fewer or shorter words, or show all.'
          : 'There is no group yet. Create one, add users, and assign applications to it.',
        emptyAction: mayCreate && !search.isNarrowed ? create : undefined,
        search: { ...search, label: 'Search', hint: 'Words of the name' },
        pager: numberedPager(GROUPS_HOME, query, state, total),
      },
    });
  },
  receive: (visit, form) =>
    draftForList(visit, form, {
      kind: 'groups',
      pieces: piecesInOrder((window) => found(visit, window)),
      rowOf: ({ id, name }) => ({ name, item: { id } }),
    }),
  download: (visit) =>
    downloadList(visit, {
      name: 'groups',
      columns: ['id', 'name', 'description', 'members', 'created', 'lastUpdated'],
      pieces: piecesInOrder((window) => found(visit, window)),
      recordOf: (group) => ({ ...group }),
    }),
};

const fieldsFor = (now: { readonly name?: string; readonly description?: string }): readonly Field[] => [
  {
    name: 'name',
    label: 'Name',
    required: true,
    alias: 'profile.name',
    hint: 'As in tokens, if a claim contains groups',
    value: now.name,
  },
  {
    name: 'description',
    label: 'Description',
    kind: 'description',
    alias: 'profile.description',
    hint: 'Members and applications of the group',
    value: now.description,
  },
];
const profile = z.object({ name: text({ least: 1 }), description: text({ most: 1024 }) });

const readProfile = (form: URLSearchParams) => parse(profile, typedValues(fieldsFor({}), form));

const create: ConsolePage = {
  path: '/groups/new',
  access: 'service',
  verb: 'write',
  async show(_visit, typed) {
    const submit = 'Create group';
    return formPage({ title: submit, crumbs: GROUPS_PATH, fields: fieldsFor({}), submit, cancel: GROUPS_HOME }, typed);
  },
  async receive({ services, request }, form) {
    const { id } = await createGroup(services, readProfile(form), request);
    return { goTo: addressOfGroup(id), notice: 'group-created' };
  },
};

const detail: ConsolePage = {
  path: '/groups/:id',
  access: 'service',
  async show(visit) {
    const { group, tabs, steps } = await groupOf(visit);
    return detailPage({
      title: verbatim(group.name),
      crumbs: GROUPS_PATH,
      tabs,
      actions: steps,
      parts: [
        {
          kind: 'facts',
          facts: [
            { label: 'Description', value: group.description },
            { label: 'ID', value: group.id, copy: true },
            { label: 'Created', value: { moment: momentOf(group.created) } },
            { label: 'Last change', value: { moment: momentOf(group.lastUpdated) } },
          ],
        },
      ],
    });
  },
};

const edit: ConsolePage = {
  path: '/groups/:id/edit',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const { group, home, crumbs } = await groupOf(visit);
    return formPage({ title: 'Edit group', crumbs, fields: fieldsFor(group), submit: 'Save', cancel: home }, typed);
  },
  async receive({ services, params, request }, form) {
    const { id } = await updateGroup(services, params.id ?? '', readProfile(form), request);
    return { goTo: addressOfGroup(id), notice: 'group-changed' };
  },
};

const remove = confirmedStep({
  path: '/groups/:id/delete',
  access: 'service',
  submit: 'Delete group',
  danger: true,
  notice: 'group-deleted',
  goTo: GROUPS_HOME,
  async question(visit) {
    const { group, home, crumbs } = await groupOf(visit);
    const { members, applications } = await groupCounts(visit.services, group.id);
    const facts = [
      phrase('This removes {members} and {applications} from the group. The users stay, but lose what only this group gives them.', {
        members: countOf(members, 'member'),
        applications: countOf(applications, 'application'),
      }),
      'It is removed from policies that name it.',
      'This cannot be undone.',
    ];
    return {
      ...{ title: phrase('Delete “{group}”?', { group: group.name }), name: group.name, crumbs, cancel: home, facts, affected: members },
      execute: () => deleteGroup(visit.services, group.id, visit.request),
    };
  },
});

export const groupPages: readonly ConsolePage[] = [list, create, detail, edit, remove];
