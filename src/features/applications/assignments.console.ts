/** Assigned users and groups of an application, with a page to select more. */

import { CHOSEN, chosenIn, undoOfAdding } from '../../pages/console/choose-page.ts';
import { detailPage, type Part, type TablePart, type WordsPart } from '../../pages/console/detail-page.ts';
import { downloadList, fileActions, piecesOf } from '../../pages/console/downloads.ts';
import { formPage } from '../../pages/console/form.ts';
import { countOf, type ListColumns } from '../../pages/console/list-state.ts';
import { type ConsolePage, type ConsoleRequest, NOTHING_TYPED, type Typed } from '../../pages/console/page.ts';
import { paged, pageIn } from '../../pages/console/paging.ts';
import { searchedElsewhere } from '../../pages/console/stacked-pages.ts';
import { notFound } from '../../platform/errors/errors.ts';
import { phrase } from '../../platform/i18n/phrase.ts';
import { momentOf } from '../../platform/i18n/times.ts';
import type { BulkItem } from '../bulk/bulk.resource.ts';
import { choosingAction, draftForList } from '../bulk/choose-action.console.ts';
import { chooseGroups } from '../groups/choose-groups.console.ts';
import { groupCounts } from '../groups/groups.service.ts';
import { chooseUsers } from '../users/choose-users.console.ts';
import { assignAll, findAssigned, getAssignment, hasNoRoles, listAssignments, unassign } from './application-assignments.service.ts';
import {
  applicationCrumbs,
  applicationIn,
  applicationTabs,
  applicationToChange,
  headOf,
  mayChangeApplication,
  warningsOf,
} from './application-page.console.ts';
import type { Application, AssigneeKind } from './applications.resource.ts';
import { applicationTarget } from './applications.service.ts';

interface Kind {
  readonly kind: AssigneeKind;
  readonly title: string;
  readonly one: string;
  readonly column: string;
  readonly empty: string;
}

const KINDS: Readonly<Record<string, Kind>> = {
  users: { kind: 'user', title: 'Users', one: 'user', column: 'User name', empty: 'No users assigned.' },
  groups: { kind: 'group', title: 'Groups', one: 'group', column: 'Group', empty: 'No groups assigned.' },
};

/** @throws {ApiError} not found */
function kindIn({ params }: ConsoleRequest): Kind & { readonly path: string } {
  const path = params.kind ?? '';
  const kind = Object.hasOwn(KINDS, path) ? KINDS[path] : undefined;
  if (kind === undefined) throw notFound(path, 'AssigneeKind');
  return { ...kind, path };
}

const columnsOf = (name: string): ListColumns => [
  { label: name, by: 'name', searched: true },
  'Roles',
  { label: 'Assigned', by: 'created', descending: true },
];

/** A row of a bulk action. @param path of the kind of assignee */
const itemOf = (applicationId: string, path: string, id: string): BulkItem => ({
  id,
  applicationId,
  ...(path === 'users' ? { userId: id } : { groupId: id }),
});

async function tableOf(visit: ConsoleRequest, application: Application, path: string, typed: Typed): Promise<TablePart> {
  const { query } = visit;
  const { kind, title, column, empty } = KINDS[path] as Kind;
  const address = `${applicationTabs(application.id).assignments.href}/${path}`;
  const columns = columnsOf(column);
  const { items, total } = await listAssignments(visit.services, application.id, kind, pageIn(query, columns));
  const changes = mayChangeApplication(visit, application);
  return {
    kind: 'table',
    title,
    actions: changes ? [{ label: `Assign ${path}`, href: `${address}/new`, main: true }] : [],
    name: path,
    ...(changes && { choosing: choosingAction(visit, address, typed, { kind: 'assignments', total }) }),
    rows: items.map(({ id, name, created, roles }) => ({
      value: id,
      cells: [
        { text: name, href: `/admin/${path}/${encodeURIComponent(id)}` },
        roles.map((role) => ({ text: role, code: true })),
        { moment: momentOf(created) },
      ],
      actions: changes
        ? [
            { label: 'Roles', href: `${address}/${encodeURIComponent(id)}/roles`, icon: 'edit' as const },
            { label: 'Remove', href: `${address}/${encodeURIComponent(id)}/remove` },
          ]
        : [],
    })),
    empty,
    ...paged(address, query, columns, { total }, kind),
  };
}

/** Are the assignments enforced? */
function meaningOf({ settings }: Application): WordsPart {
  return settings.assignment === 'ASSIGNED'
    ? { kind: 'words', paragraphs: ['Only these users, and the members of these groups, can sign in to the application.'] }
    : {
        kind: 'words',
        paragraphs: [
          'Everyone with an account can sign in to the application. Assignments apply only if “Only assigned users and groups” is selected in Settings.',
        ],
        tone: 'warning',
      };
}

/** The first assigned groups and users, and whether assignments are enforced. */
export async function assignmentParts(visit: ConsoleRequest, application: Application): Promise<readonly Part[]> {
  const home = applicationTabs(application.id).assignments.href;
  const tableAt = async (path: string) =>
    searchedElsewhere(await tableOf({ ...visit, query: new URLSearchParams() }, application, path, NOTHING_TYPED), `${home}/${path}`);
  return [meaningOf(application), ...(await Promise.all(['groups', 'users'].map(tableAt)))];
}

const overview: ConsolePage = {
  path: '/applications/:id/assignments',
  access: 'service',
  async show(visit) {
    const application = await applicationIn(visit);
    return detailPage({
      ...headOf(visit, application),
      parts: [...warningsOf(application), ...(await assignmentParts(visit, application))],
    });
  },
};

const list: ConsolePage = {
  path: '/applications/:id/assignments/:kind',
  access: 'service',
  async show(visit, typed) {
    const application = await applicationIn(visit);
    const { path, one } = kindIn(visit);
    const table = await tableOf(visit, application, path, typed);
    const { assignments } = applicationTabs(application.id);
    const files = fileActions(`${assignments.href}/${path}`, visit.query, table.rows.length);
    const crumbs = applicationCrumbs(application, assignments);
    return detailPage({ title: `Assigned ${one}s`, crumbs, parts: [meaningOf(application), { ...table, files }] });
  },
  async receive(visit, form) {
    const { id: applicationId } = await applicationToChange(visit);
    const { kind, path, column } = kindIn(visit);
    return draftForList(visit, form, {
      kind: 'assignments',
      pieces: piecesOf(visit.query, columnsOf(column), (window) => listAssignments(visit.services, applicationId, kind, window)),
      rowOf: ({ id, name }) => ({ name, item: itemOf(applicationId, path, id) }),
    });
  },
  async download(visit) {
    const application = await applicationIn(visit);
    const { kind, path, column } = kindIn(visit);
    return downloadList(visit, {
      name: `assigned-${path}`,
      columns: ['id', 'name', 'roles', 'created'],
      pieces: piecesOf(visit.query, columnsOf(column), (window) => listAssignments(visit.services, application.id, kind, window)),
      recordOf: (assignment) => ({ ...assignment }),
      of: applicationTarget(application),
      hasUsers: kind === 'user',
    });
  },
};

const add: ConsolePage = {
  path: '/applications/:id/assignments/:kind/new',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const application = await applicationToChange(visit);
    const { kind, path } = kindIn(visit);
    const back = applicationTabs(application.id).assignments;
    const page = {
      title: `Assign ${path}`,
      crumbs: applicationCrumbs(application, back),
      path: `${back.href}/${path}/new`,
      submit: `Assign selected ${path}`,
      taken: (ids: readonly string[]) => findAssigned(visit.services, application.id, kind, ids),
    };
    return kind === 'user' ? chooseUsers(visit, page, typed) : chooseGroups(visit, page, typed);
  },
  async receive(visit, form) {
    const { id } = await applicationToChange(visit);
    const { kind, path } = kindIn(visit);
    const assignees = chosenIn(form).map((assigneeId) => ({ kind, id: assigneeId }));
    const added = await assignAll(visit.services, id, assignees, visit.request);
    const home = applicationTabs(id).assignments.href;
    const undo = undoOfAdding(added, (assigneeId) => `${home}/${path}/${assigneeId}/remove`);
    return { goTo: home, notice: 'application-assigned', undo };
  },
};

const remove: ConsolePage = {
  path: '/applications/:id/assignments/:kind/:assigneeId/remove',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const application = await applicationToChange(visit);
    const { kind, one } = kindIn(visit);
    const { assigneeId = '' } = visit.params;
    const { name } = await getAssignment(visit.services, application.id, { kind, id: assigneeId });
    const back = applicationTabs(application.id).assignments;
    const facts = [
      kind === 'user'
        ? 'If only assigned users and groups may sign in, this user no longer can, unless one of their groups is assigned.'
        : phrase(
            'If the application requires an assignment, {members} of this group can no longer sign in to it, unless they are assigned in another way.',
            { members: countOf((await groupCounts(visit.services, assigneeId)).members, 'member') },
          ),
      'You can assign it again at any time.',
    ];
    const title = phrase(`Remove “{application}” from the ${one} “{name}”?`, { application: application.label, name });
    return formPage(
      { title, crumbs: applicationCrumbs(application, back), facts, submit: 'Remove assignment', danger: true, cancel: back.href },
      typed,
    );
  },
  async receive(visit) {
    const { id } = await applicationToChange(visit);
    const { kind, path } = kindIn(visit);
    const { assigneeId = '' } = visit.params;
    const ended = await unassign(visit.services, id, { kind, id: assigneeId }, visit.request);
    const home = applicationTabs(id).assignments.href;
    const undo = hasNoRoles(ended) ? { href: `${home}/${path}/new`, fields: { [CHOSEN]: assigneeId } } : undefined;
    return { goTo: home, notice: 'application-unassigned', undo };
  },
};

export const assignments: readonly ConsolePage[] = [overview, list, add, remove];
