/** Organization → Invitations: pending invitations, with forms to invite, send again and revoke. */
import { departmentsIn } from '../../pages/console/candidates.ts';
import { listPage } from '../../pages/console/detail-page.ts';
import { downloadList, fileActions, piecesOf } from '../../pages/console/downloads.ts';
import { type Field, formPage, typedValues } from '../../pages/console/form.ts';
import type { ListColumns } from '../../pages/console/list-state.ts';
import type { ConsolePage, ConsoleRequest, Crumb, Typed } from '../../pages/console/page.ts';
import { paged, pageIn } from '../../pages/console/paging.ts';
import { pickedId, pickField } from '../../pages/console/picker.ts';
import { forbidden } from '../../platform/errors/errors.ts';
import { phrase, verbatim } from '../../platform/i18n/phrase.ts';
import { momentOf } from '../../platform/i18n/times.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { isWithin, reachOf } from '../administrators/administration.policy.ts';
import { choosingAction, draftForList } from '../bulk/choose-action.console.ts';
import { mayGrant } from '../organization-roles/grantable-roles.policy.ts';
import { BUILT_IN_ROLES } from '../organization-roles/organization-roles.resource.ts';
import { allOrganizationRoles } from '../organization-roles/organization-roles.service.ts';
import {
  besideMembers,
  organizationCrumbs,
  organizationHead,
  organizationPath,
  orgIdIn,
} from '../organizations/organization-page.console.ts';
import { getOrganization, type OrganizationDetail, target as organizationTarget } from '../organizations/organizations.service.ts';
import { linkOutcome } from '../passwords/secret-link.console.ts';
import { NO_DEPARTMENT } from '../users/organization-fields.console.ts';
import {
  getInvitation,
  invitationFields,
  inviteToOrganization,
  listInvitations,
  resendInvitation,
  revokeInvitation,
} from './organization-invitations.service.ts';

const homeOf = (orgId: string): string => `${organizationPath(orgId)}/invitations`;
const crumbsTo = (organization: { id: string; name: string }): readonly Crumb[] => [
  ...organizationCrumbs(organization),
  { label: 'Invitations', href: homeOf(organization.id) },
];

const mayInvite = ({ request }: ConsoleRequest, orgId: string): boolean =>
  isWithin(reachOf(request.roles, 'write', 'MANAGE_INVITATIONS'), orgId);

/** @throws {ApiError} not found, forbidden */
async function organizationToInvite(visit: ConsoleRequest): Promise<OrganizationDetail> {
  const organization = await getOrganization(visit.services, orgIdIn(visit), visit.request);
  if (!mayInvite(visit, organization.id)) throw forbidden();
  return organization;
}

const COLUMNS: ListColumns = [
  { label: 'E-mail address', by: 'email', searched: true },
  { label: 'Role', by: 'role' },
  { label: 'Sent', by: 'sent', descending: true },
  { label: 'Expires', by: 'expiresAt', descending: true },
];

const list: ConsolePage = {
  path: '/organizations/:orgId/invitations',
  access: 'organizations',
  async show(visit, typed) {
    const { services, request, query } = visit;
    const organization = await getOrganization(services, orgIdIn(visit), request);
    const home = homeOf(organization.id);
    const { items, total } = await listInvitations(services, organization.id, pageIn(query, COLUMNS), request);
    const invite = { label: 'Invite', href: `${home}/new`, main: true };
    const isChangeable = mayInvite(visit, organization.id);
    return listPage({
      ...organizationHead(visit, organization),
      actions: isChangeable ? [invite] : [],
      list: {
        title: 'Invitations',
        actions: besideMembers(visit, organization.id, '/invitations'),
        name: 'Invitations',
        ...(isChangeable && { choosing: choosingAction(visit, home, typed, { kind: 'invitations', total }) }),
        rows: items.map(({ id, email, role, sent, expiresAt }) => ({
          value: id,
          cells: [email, { text: role, code: true }, { moment: momentOf(sent) }, { moment: momentOf(expiresAt) }],
          actions: isChangeable
            ? [
                { label: 'Send again', href: `${home}/${id}/resend` },
                { label: 'Revoke', href: `${home}/${id}/revoke` },
              ]
            : [],
        })),
        empty: 'Nobody is invited to this organization at the moment.',
        emptyAction: isChangeable ? invite : undefined,
        ...paged(home, query, COLUMNS, { total }, 'invitation'),
        files: fileActions(home, query, total),
      },
    });
  },
  async receive(visit, form) {
    const { id: orgId } = await organizationToInvite(visit);
    return draftForList(visit, form, {
      kind: 'invitations',
      pieces: piecesOf(visit.query, COLUMNS, (window) => listInvitations(visit.services, orgId, window, visit.request)),
      rowOf: ({ id, email }) => ({ name: email, item: { id, orgId } }),
    });
  },
  async download(visit) {
    const organization = await getOrganization(visit.services, orgIdIn(visit), visit.request);
    return downloadList(visit, {
      name: 'invitations',
      columns: ['id', 'email', 'role', 'depId', 'created', 'sent', 'expiresAt'],
      pieces: piecesOf(visit.query, COLUMNS, (window) => listInvitations(visit.services, organization.id, window, visit.request)),
      recordOf: (invitation) => ({ ...invitation }),
      of: organizationTarget(organization),
    });
  },
};

/** Departments and custom roles are only offered to administrators who manage the organization's members. */
async function fieldsOf(visit: ConsoleRequest, orgId: string, typed: Typed): Promise<readonly Field[]> {
  const isManager = isWithin(reachOf(visit.request.roles, 'read', 'MANAGE_MEMBERS'), orgId);
  const roles = isManager ? await allOrganizationRoles(visit.services, orgId, visit.request) : [];
  const grantable = [...BUILT_IN_ROLES, ...roles].filter((role) => mayGrant(visit.request.roles, orgId, role));
  return [
    {
      name: 'email',
      label: 'E-mail address',
      kind: 'email',
      required: true,
      hint: phrase('An invitation with a link goes to {address}. It works once, for seven days.', {
        address: await linkOutcome(visit, phrase('this address')),
      }),
    },
    { name: 'role', label: 'Role', value: 'member', options: grantable.map(({ name }) => ({ value: name, label: verbatim(name) })) },
    ...(isManager ? [await departmentField(visit, orgId, typed)] : []),
  ];
}

const departmentField = async (visit: ConsoleRequest, orgId: string, typed: Typed): Promise<Field> =>
  pickField(await departmentsIn(visit, orgId), { name: 'depId', label: 'Department', value: undefined, none: NO_DEPARTMENT }, typed);

const invite: ConsolePage = {
  path: '/organizations/:orgId/invitations/new',
  access: 'organizations',
  verb: 'write',
  async show(visit, typed) {
    const organization = await organizationToInvite(visit);
    const page = {
      title: 'Invite to the organization',
      crumbs: crumbsTo(organization),
      facts: ['Users with an account join with it. Users without one choose a password.'],
      fields: await fieldsOf(visit, organization.id, typed),
      submit: 'Send invitation',
      cancel: homeOf(organization.id),
    };
    return formPage(page, typed);
  },
  async receive(visit, form) {
    const { id: orgId } = await organizationToInvite(visit);
    const { email, role } = typedValues(await fieldsOf(visit, orgId, { values: form, problems: [] }), form);
    const depId = form.get('depId') ? await pickedId(await departmentsIn(visit, orgId), 'depId', form.get('depId') ?? '') : undefined;
    const input = parse(invitationFields, { email, role, ...(depId !== undefined && { depId }) });
    await inviteToOrganization(visit.services, orgId, input, visit.request);
    return { goTo: homeOf(orgId), notice: 'invitation-sent' };
  },
};

/** A confirmation page for an action with an invitation. */
const asking = (
  step: 'resend' | 'revoke',
  words: { readonly title: string; readonly fact: string; readonly submit: string; readonly danger: boolean },
  run: typeof revokeInvitation | typeof resendInvitation,
): ConsolePage => ({
  path: `/organizations/:orgId/invitations/:invitationId/${step}`,
  access: 'organizations',
  verb: 'write',
  async show(visit, typed) {
    const organization = await organizationToInvite(visit);
    const { email } = await getInvitation(visit.services, organization.id, visit.params.invitationId ?? '', visit.request);
    const { title, fact, submit, danger } = words;
    const page = { title: phrase(title, { address: email }), crumbs: crumbsTo(organization), facts: [fact], submit, danger };
    return formPage({ ...page, cancel: homeOf(organization.id) }, typed);
  },
  async receive(visit) {
    const orgId = orgIdIn(visit);
    await run(visit.services, orgId, visit.params.invitationId ?? '', visit.request);
    return { goTo: homeOf(orgId), notice: step === 'resend' ? 'invitation-sent' : 'invitation-revoked' };
  },
});

const resend = asking(
  'resend',
  {
    title: 'Send the invitation to {address} again?',
    fact: 'The link that was sent before stops working.',
    submit: 'Send invitation',
    danger: false,
  },
  resendInvitation,
);
const revoke = asking(
  'revoke',
  { title: 'Revoke the invitation to {address}?', fact: 'The link stops working at once.', submit: 'Revoke invitation', danger: true },
  revokeInvitation,
);

export const organizationInvitationPages: readonly ConsolePage[] = [list, invite, resend, revoke];
