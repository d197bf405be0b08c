/** The applications of a user: assigned ones (directly or by a group), and those that they can open. */

import { applicationsIn } from '../../pages/console/candidates.ts';
import { undoOfAdding } from '../../pages/console/choose-page.ts';
import type { Piece } from '../../pages/console/detail-page.ts';
import { downloadList, fileActions, piecesOf } from '../../pages/console/downloads.ts';
import { formPage } from '../../pages/console/form.ts';
import type { ListColumns } from '../../pages/console/list-state.ts';
import type { ConsolePage, ConsoleRequest } from '../../pages/console/page.ts';
import { LIMIT, paged, pageIn } from '../../pages/console/paging.ts';
import { pickedId, pickField } from '../../pages/console/picker.ts';
import { validation } from '../../platform/errors/errors.ts';
import { phrase } from '../../platform/i18n/phrase.ts';
import { mayCall } from '../administrators/administration.policy.ts';
import { choosingAction, draftForList } from '../bulk/choose-action.console.ts';
import { addressOfUser, userPage, userSubject } from '../users/user-page.console.ts';
import { userTarget } from '../users/user-reach.service.ts';
import {
  assignAll,
  getAssignment,
  hasNoRoles,
  listOpenApplications,
  listUserAssignments,
  unassign,
} from './application-assignments.service.ts';
import { getApplication } from './applications.service.ts';

const homeOf = (userId: string): string => `${addressOfUser(userId)}/applications`;
const addressOfApplication = (id: string): string => `/admin/applications/${encodeURIComponent(id)}`;

const COLUMNS: ListColumns = [
  { label: 'Application', by: 'label', searched: true },
  'Assigned to',
  { label: 'Status', by: 'status', codes: ['ACTIVE', 'INACTIVE'] },
];

const list: ConsolePage = {
  path: '/users/:id/applications',
  access: 'service',
  async show(visit, typed) {
    const { services, request, query } = visit;
    const subject = await userSubject(visit);
    const { id } = subject.user;
    const home = homeOf(id);
    const assigned = await listUserAssignments(services, id, pageIn(query, COLUMNS), request);
    const open = await listOpenApplications(services, id, { limit: LIMIT }, request);
    const isChangeable = mayCall(request.roles, 'service', 'write');
    return userPage(
      visit,
      subject,
      [
        {
          kind: 'table',
          title: 'Assigned',
          lead: 'Assignments apply only if “Only assigned users and groups” is selected in Settings.',
          name: 'Assigned applications',
          ...(isChangeable && { choosing: choosingAction(visit, home, typed, { kind: 'assignments', total: assigned.total }) }),
          rows: assigned.items.map(({ applicationId, label, status, isDirect, groups }) => ({
            ...(isDirect && { value: applicationId }),
            cells: [
              { text: label, href: addressOfApplication(applicationId) },
              [
                ...(isDirect ? [{ text: phrase('The user') }] : []),
                ...groups.map((text): Piece => ({ text: phrase('Group {group}', { group: text }) })),
              ],
              status === 'ACTIVE' ? { text: 'Active', tone: 'good' } : { text: 'Not active', tone: 'plain' },
            ],
            actions:
              isChangeable && isDirect ? [{ label: 'Remove assignment', href: `${home}/${encodeURIComponent(applicationId)}/remove` }] : [],
          })),
          empty: 'No applications are assigned to this user or their groups.',
          ...paged(home, query, COLUMNS, assigned, 'application'),
          files: fileActions(home, query, assigned.total),
        },
        {
          kind: 'table',
          title: 'Applications that the user can open',
          lead: 'Active applications that are open to the user and have an address to begin at, the first ones.',
          name: 'Applications to begin at',
          columns: ['Application', 'Address'],
          rows: open.items.map(({ id: applicationId, label, settings }) => ({
            cells: [
              { text: label, href: addressOfApplication(applicationId) },
              { text: settings.initiate_login_uri ?? settings.client_uri ?? '', code: true },
            ],
          })),
          empty: 'None. An application is listed here if its initiate-login URI or home page is set.',
        },
      ],
      isChangeable ? [{ label: 'Assign application', href: `${home}/new`, main: true }] : [],
    );
  },
  async receive(visit, form) {
    const { user } = await userSubject(visit);
    return draftForList(visit, form, {
      kind: 'assignments',
      pieces: assignmentsOf(visit, user.id),
      rowOf: ({ applicationId, label }) => ({ name: label, item: { id: applicationId, applicationId, userId: user.id } }),
    });
  },
  async download(visit) {
    const { user } = await userSubject(visit);
    return downloadList(visit, {
      name: 'user-applications',
      columns: ['applicationId', 'label', 'status', 'isDirect', 'groups'],
      pieces: assignmentsOf(visit, user.id),
      recordOf: (assignment) => ({ ...assignment }),
      of: userTarget(user),
    });
  },
};

const assignmentsOf = ({ services, query, request }: ConsoleRequest, userId: string) =>
  piecesOf(query, COLUMNS, (window) => listUserAssignments(services, userId, window, request));

const add: ConsolePage = {
  path: '/users/:id/applications/new',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const { user, crumbs } = await userSubject(visit);
    const fields = [await pickField(applicationsIn(visit), { name: 'applicationId', label: 'Application' }, typed)];
    const submit = 'Assign application';
    return formPage({ title: submit, crumbs, fields, submit, cancel: homeOf(user.id) }, typed);
  },
  async receive(visit, form) {
    const { user } = await userSubject(visit);
    const applicationId = await pickedId(applicationsIn(visit), 'applicationId', form.get('applicationId') ?? '');
    if (applicationId === undefined) throw validation([{ field: 'applicationId', message: 'is required' }]);
    const added = await assignAll(visit.services, applicationId, [{ kind: 'user', id: user.id }], visit.request);
    const home = homeOf(user.id);
    const undo = undoOfAdding(added, () => `${home}/${encodeURIComponent(applicationId)}/remove`);
    return { goTo: home, notice: 'application-assigned-to-user', undo };
  },
};

async function assignmentOf(visit: ConsoleRequest) {
  const { user, name, crumbs } = await userSubject(visit);
  const application = await getApplication(visit.services, visit.params.applicationId ?? '');
  await getAssignment(visit.services, application.id, { kind: 'user', id: user.id });
  return { user, name, application, crumbs: [...crumbs, { label: 'Applications', href: homeOf(user.id) }] };
}

const remove: ConsolePage = {
  path: '/users/:id/applications/:applicationId/remove',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const { user, name, application, crumbs } = await assignmentOf(visit);
    const title = phrase('Remove “{application}” from {name}?', { application: application.label, name });
    const facts = ['If the application asks for an assignment, the next sign-in to it is refused, unless a group still opens it.'];
    return formPage({ title, crumbs, facts, submit: 'Remove assignment', danger: true, cancel: homeOf(user.id) }, typed);
  },
  async receive(visit) {
    const { user, application } = await assignmentOf(visit);
    const ended = await unassign(visit.services, application.id, { kind: 'user', id: user.id }, visit.request);
    const home = homeOf(user.id);
    const undo = hasNoRoles(ended) ? { href: `${home}/new`, fields: { applicationId: application.id } } : undefined;
    return { goTo: home, notice: 'application-taken-from-user', undo };
  },
};

export const userApplications: readonly ConsolePage[] = [list, add, remove];
