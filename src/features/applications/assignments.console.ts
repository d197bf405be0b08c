/** To whom an application is assigned: its users and groups, added by login and by name. */

import { z } from 'zod';
import { detailPage, type TablePart, type WordsPart } from '../../pages/console/detail-page.ts';
import { type Field, formPage, readFields } from '../../pages/console/form.ts';
import { momentOf } from '../../pages/console/moments.ts';
import type { ConsolePage, ConsoleRequest } from '../../pages/console/page.ts';
import { afterIn, LIMIT, pagerOf } from '../../pages/console/paging.ts';
import { ApiError, notFound, validation } from '../../platform/errors/errors.ts';
import { text } from '../../platform/validation/text.ts';
import { listGroups } from '../groups/groups.service.ts';
import { getUser } from '../users/users.service.ts';
import { assign, getAssignment, listAssignments, unassign } from './application-assignments.service.ts';
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

/** So many groups are offered while one types. */
const MOST_SUGGESTIONS = 100;

interface Kind {
  readonly kind: AssigneeKind;
  readonly title: string;
  readonly one: string;
  readonly column: string;
  readonly empty: string;
}

const KINDS: Readonly<Record<string, Kind>> = {
  users: { kind: 'user', title: 'Users', one: 'user', column: 'Login', empty: 'No users assigned.' },
  groups: { kind: 'group', title: 'Groups', one: 'group', column: 'Group', empty: 'No groups assigned.' },
};

/** @throws {ApiError} not found */
function kindIn({ params }: ConsoleRequest): Kind & { readonly path: string } {
  const path = params.kind ?? '';
  const kind = Object.hasOwn(KINDS, path) ? KINDS[path] : undefined;
  if (kind === undefined) throw notFound(path, 'AssigneeKind');
  return { ...kind, path };
}

async function tableOf(visit: ConsoleRequest, application: Application, path: string, query: URLSearchParams): Promise<TablePart> {
  const { kind, title, one, column, empty } = KINDS[path] as Kind;
  const address = `${applicationTabs(application.id).assignments.href}/${path}`;
  const { items, next } = await listAssignments(visit.services, application.id, kind, { limit: LIMIT, after: afterIn(query) });
  const changes = mayChangeApplication(visit, application);
  return {
    kind: 'table',
    title,
    actions: changes ? [{ label: `Assign a ${one}`, href: `${address}/new`, main: true }] : [],
    name: path,
    columns: [column, 'Assigned'],
    rows: items.map(({ id, name, created }) => ({
      cells: [{ text: name, href: `/admin/${path}/${encodeURIComponent(id)}` }, { moment: momentOf(created) }],
      actions: changes ? [{ label: 'Remove', href: `${address}/${encodeURIComponent(id)}/remove` }] : [],
    })),
    empty,
    pager: pagerOf(address, query, next),
  };
}

/** Do the assignments count? */
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

const overview: ConsolePage = {
  path: '/applications/:id/assignments',
  access: 'service',
  async show(visit) {
    const application = await applicationIn(visit);
    const tables = await Promise.all(['groups', 'users'].map((path) => tableOf(visit, application, path, new URLSearchParams())));
    return detailPage({ ...headOf(application), parts: [...warningsOf(application), meaningOf(application), ...tables] });
  },
};

const list: ConsolePage = {
  path: '/applications/:id/assignments/:kind',
  access: 'service',
  async show(visit) {
    const application = await applicationIn(visit);
    const { path, one } = kindIn(visit);
    const table = await tableOf(visit, application, path, visit.query);
    const crumbs = applicationCrumbs(application, applicationTabs(application.id).assignments);
    return detailPage({ title: `Assigned ${one}s`, crumbs, parts: [meaningOf(application), table] });
  },
};

const NAME: Readonly<Record<AssigneeKind, Field>> = {
  user: { name: 'name', label: 'Login', hint: 'The name that the user signs in with.', required: true },
  group: {
    name: 'name',
    label: 'Group',
    hint: 'Its whole name. Its members are assigned with it, those of the future too.',
    required: true,
  },
};

/** @throws {ApiError} validation of the field: nobody is called so */
async function assigneeNamed({ services, request }: ConsoleRequest, kind: AssigneeKind, name: string): Promise<string> {
  if (kind === 'user') {
    const user = await getUser(services, name, request).catch(unlessMissing);
    if (user !== undefined) return user.id;
    throw validation([{ field: 'name', message: 'does not exist' }]);
  }
  const { items } = await listGroups(services, { filter: `profile.name eq ${JSON.stringify(name)}` }, { limit: 1, after: undefined });
  const [group] = items;
  if (group !== undefined) return group.id;
  throw validation([{ field: 'name', message: 'is not that of a group here' }]);
}

function unlessMissing(error: unknown): undefined {
  if (!(error instanceof ApiError) || error.status !== 404) throw error;
}

const add: ConsolePage = {
  path: '/applications/:id/assignments/:kind/new',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const application = await applicationToChange(visit);
    const { kind, one } = kindIn(visit);
    const back = applicationTabs(application.id).assignments;
    const groups = kind === 'group' ? (await listGroups(visit.services, {}, { limit: MOST_SUGGESTIONS, after: undefined })).items : [];
    const field: Field = groups.length === 0 ? NAME[kind] : ({ ...NAME[kind], suggestions: groups.map(({ name }) => name) } as Field);
    return formPage(
      { title: `Assign a ${one}`, crumbs: applicationCrumbs(application, back), fields: [field], submit: 'Assign', cancel: back.href },
      typed,
    );
  },
  async receive(visit, form) {
    const { id } = await applicationToChange(visit);
    const { kind } = kindIn(visit);
    const { name } = readFields(z.object({ name: text({ least: 1 }) }), form);
    await assign(visit.services, id, { kind, id: await assigneeNamed(visit, kind, name) }, visit.request);
    return { goTo: applicationTabs(id).assignments.href, notice: 'application-assigned' };
  },
};

const remove: ConsolePage = {
  path: '/applications/:id/assignments/:kind/:assigneeId/remove',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const application = await applicationToChange(visit);
    const { kind, one } = kindIn(visit);
    const { name } = await getAssignment(visit.services, application.id, { kind, id: visit.params.assigneeId ?? '' });
    const back = applicationTabs(application.id).assignments;
    const facts = [
      kind === 'user'
        ? 'Where only those may sign in whom the application is assigned to, this user cannot any more, unless one of his groups is assigned.'
        : 'Where only those may sign in whom the application is assigned to, the members of this group cannot any more, unless they are assigned in another way.',
      'You can assign it again at any time.',
    ];
    const title = `Take “${application.label}” from the ${one} “${name}”?`;
    return formPage(
      { title, crumbs: applicationCrumbs(application, back), facts, submit: 'Remove assignment', danger: true, cancel: back.href },
      typed,
    );
  },
  async receive(visit) {
    const { id } = await applicationToChange(visit);
    const { kind } = kindIn(visit);
    await unassign(visit.services, id, { kind, id: visit.params.assigneeId ?? '' }, visit.request);
    return { goTo: applicationTabs(id).assignments.href, notice: 'application-unassigned' };
  },
};

export const assignments: readonly ConsolePage[] = [overview, list, add, remove];
