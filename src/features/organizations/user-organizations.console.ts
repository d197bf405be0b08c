/** The organizations of a user, and their department in each. */

import { departmentsIn } from '../../pages/console/candidates.ts';
import { undoOfAdding } from '../../pages/console/choose-page.ts';
import { downloadList, fileActions, piecesOf } from '../../pages/console/downloads.ts';
import { formPage } from '../../pages/console/form.ts';
import type { ListColumns } from '../../pages/console/list-state.ts';
import type { ConsolePage, ConsoleRequest } from '../../pages/console/page.ts';
import { paged, pageIn } from '../../pages/console/paging.ts';
import { pickedId, pickField } from '../../pages/console/picker.ts';
import { forbidden, validation } from '../../platform/errors/errors.ts';
import { phrase } from '../../platform/i18n/phrase.ts';
import { momentOf } from '../../platform/i18n/times.ts';
import { reachOf } from '../administrators/administration.policy.ts';
import { SECOND_ORGANIZATION } from '../administrators/role-form.console.ts';
import { choosingAction, draftForList } from '../bulk/choose-action.console.ts';
import { NO_DEPARTMENT, organizationChoice, placeFields } from '../users/organization-fields.console.ts';
import { addressOfUser, userPage, userSubject } from '../users/user-page.console.ts';
import { userTarget } from '../users/user-reach.service.ts';
import { getMember, listUserOrganizations, mayAddMember, putMember, removeMember } from './members.service.ts';
import { isMemberRestorable, mayChangeOrganization, memberRemovalFacts, organizationPath } from './organization-page.console.ts';
import { getOrganization } from './organizations.service.ts';

const homeOf = (userId: string): string => `${addressOfUser(userId)}/organizations`;

/** Can the caller add users to any organization? */
function mayAdd({ request }: ConsoleRequest): boolean {
  const reach = reachOf(request.roles, 'write');
  return reach === 'everything' || reach.size > 0;
}

const COLUMNS: ListColumns = [
  { label: 'Organization', by: 'orgName', searched: true },
  { label: 'Department', by: 'depName' },
  { label: 'Since', by: 'created', descending: true },
];

const list: ConsolePage = {
  path: '/users/:id/organizations',
  access: 'organizations',
  async show(visit, typed) {
    const { services, request, query } = visit;
    const subject = await userSubject(visit);
    const home = homeOf(subject.user.id);
    const { items, total } = await listUserOrganizations(services, subject.user.id, pageIn(query, COLUMNS), request);
    const add = { label: 'Add to organization', href: `${home}/new`, main: true };
    const part = {
      kind: 'table' as const,
      name: 'Organizations',
      choosing: choosingAction(visit, home, typed, { kind: 'affiliations', total }),
      rows: items.map(({ orgId, orgName, depId, depName, created }) => ({
        ...(mayChangeOrganization(visit, orgId) && { value: orgId }),
        cells: [
          { text: orgName, href: organizationPath(orgId) },
          depId === null ? '' : { text: depName ?? depId, href: `${organizationPath(orgId)}/departments/${encodeURIComponent(depId)}` },
          { moment: momentOf(created) },
        ],
        actions: mayChangeOrganization(visit, orgId)
          ? [
              { label: 'Move', icon: 'move' as const, href: `${home}/${encodeURIComponent(orgId)}` },
              { label: 'Remove', href: `${home}/${encodeURIComponent(orgId)}/remove` },
            ]
          : [],
      })),
      empty: 'This user belongs to no organization.',
      ...paged(home, query, COLUMNS, { total }, 'organization'),
      files: fileActions(home, query, total),
    };
    return userPage(visit, subject, [part], mayAdd(visit) ? [add] : []);
  },
  async receive(visit, form) {
    const { user } = await userSubject(visit);
    return draftForList(visit, form, {
      kind: 'affiliations',
      pieces: organizationsOf(visit, user.id),
      rowOf: ({ orgId, orgName }) => ({ name: orgName, item: { id: orgId, userId: user.id } }),
    });
  },
  async download(visit) {
    const { user } = await userSubject(visit);
    return downloadList(visit, {
      name: 'user-organizations',
      columns: ['orgId', 'orgName', 'depId', 'depName', 'created'],
      pieces: organizationsOf(visit, user.id),
      recordOf: (affiliation) => ({ ...affiliation }),
      of: userTarget(user),
    });
  },
};

const organizationsOf = ({ services, query, request }: ConsoleRequest, userId: string) =>
  piecesOf(query, COLUMNS, (window) => listUserOrganizations(services, userId, window, request));

const add: ConsolePage = {
  path: '/users/:id/organizations/new',
  access: 'organizations',
  verb: 'write',
  async show(visit, typed) {
    const { user, crumbs } = await userSubject(visit);
    const fields = await placeFields(visit, typed, { mayBeNone: false });
    const submit = 'Add to organization';
    return formPage({ title: submit, crumbs, facts: SECOND_ORGANIZATION, fields, submit, cancel: homeOf(user.id) }, typed);
  },
  async receive(visit, form) {
    const { user } = await userSubject(visit);
    const { orgId, depId } = await organizationChoice(visit, form);
    if (orgId === undefined) throw validation([{ field: 'orgId', message: 'is required' }]);
    const added = await putMember(visit.services, orgId, user.id, depId, visit.request);
    const undo = undoOfAdding(added, () => `${homeOf(user.id)}/${encodeURIComponent(orgId)}/remove`);
    return { goTo: homeOf(user.id), notice: 'member-added', undo };
  },
};

/** @throws {ApiError} not found, forbidden */
async function affiliationToChange(visit: ConsoleRequest) {
  const { user, name, crumbs } = await userSubject(visit);
  const organization = await getOrganization(visit.services, visit.params.orgId ?? '', visit.request);
  const { depId = '' } = await getMember(visit.services, organization.id, user.id, visit.request);
  if (!mayChangeOrganization(visit, organization.id)) throw forbidden();
  return { user, name, organization, depId, crumbs: [...crumbs, { label: 'Organizations', href: homeOf(user.id) }] };
}

const move: ConsolePage = {
  path: '/users/:id/organizations/:orgId',
  access: 'organizations',
  verb: 'write',
  async show(visit, typed) {
    const { user, organization, depId, crumbs } = await affiliationToChange(visit);
    const field = { name: 'depId', label: 'Department', value: depId, none: NO_DEPARTMENT };
    const fields = [await pickField(await departmentsIn(visit, organization.id), field, typed)];
    return formPage(
      {
        title: phrase('Department in {organization}', { organization: organization.name }),
        crumbs,
        fields,
        submit: 'Save',
        cancel: homeOf(user.id),
      },
      typed,
    );
  },
  async receive(visit, form) {
    // A form about the department must not add back a member who was removed after the page was loaded.
    const { user, organization, depId: before } = await affiliationToChange(visit);
    const depId = await pickedId(await departmentsIn(visit, organization.id), 'depId', form.get('depId') ?? '');
    await putMember(visit.services, organization.id, user.id, depId, visit.request);
    const undo = { href: `${homeOf(user.id)}/${encodeURIComponent(organization.id)}`, fields: { depId: before } };
    return { goTo: homeOf(user.id), notice: 'member-changed', undo };
  },
};

const remove: ConsolePage = {
  path: '/users/:id/organizations/:orgId/remove',
  access: 'organizations',
  verb: 'write',
  async show(visit, typed) {
    const { user, name, organization, crumbs } = await affiliationToChange(visit);
    const title = phrase('Remove {name} from {organization}?', { name, organization: organization.name });
    const facts = await memberRemovalFacts(visit, organization.id, user.id);
    return formPage({ title, crumbs, facts, submit: 'Remove from organization', danger: true, cancel: homeOf(user.id) }, typed);
  },
  async receive(visit) {
    const { user, organization, depId } = await affiliationToChange(visit);
    const isRestorable = await isMemberRestorable(visit, organization.id, user.id);
    await removeMember(visit.services, organization.id, user.id, visit.request);
    // The caller may have been able to see the user only through this organization.
    const isInSight = await userSubject(visit).then(
      () => true,
      () => false,
    );
    const isUndone = isRestorable && (await mayAddMember(visit.services, user.id, visit.request));
    const undo = isUndone ? { href: `${homeOf(user.id)}/new`, fields: { orgId: organization.id, depId } } : undefined;
    return { goTo: isInSight ? homeOf(user.id) : organizationPath(organization.id), notice: 'member-removed', undo };
  },
};

export const userOrganizations: readonly ConsolePage[] = [list, add, move, remove];
