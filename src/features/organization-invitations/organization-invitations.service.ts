/**
 * Invitations to organizations, sent by their administrators. The response is the same with and without an existing account: only the reader of the
 * e-mail finds out. Nobody can invite with a role that allows more than their own.
 */

import { z } from 'zod';
import { LIFETIMES } from '../../../config/defaults.ts';
import { present } from '../../platform/clock/clock.ts';
import { digest, newId, randomToken } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import type { Page, Window } from '../../platform/database/paging.ts';
import { composedName } from '../../platform/dns/address-spelling.ts';
import { conflict, notFound, rateLimited, requireFound, validation, wrongState } from '../../platform/errors/errors.ts';
import { shownText, text } from '../../platform/validation/text.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { isMailable } from '../mail/mail.policy.ts';
import { queueMail } from '../mail/mail.service.ts';
import { isMailPossible } from '../mail/mail-route.service.ts';
import { BUILT_IN_ROLES } from '../organization-roles/organization-roles.resource.ts';
import { refuseBeyondOwn } from '../organization-roles/organization-roles.service.ts';
import { listOrganizationRoles } from '../organization-roles/organization-roles.store.ts';
import { checkReadable, lockForChange, target as organizationTarget } from '../organizations/organizations.service.ts';
import { type Organization, organizationExists } from '../organizations/organizations.store.ts';
import { countInvitationMail } from '../sign-in/failure-limits.service.ts';
import {
  countInvitations,
  deleteInvitation,
  findInvitation,
  type InvitationRow,
  insertInvitation,
  listInvitationsBy,
  readInvitations,
  renewInvitation,
} from './organization-invitations.store.ts';

/** Limit of open invitations per organization. */
const MOST_INVITATIONS = 1000;

export const invitationFields = z.strictObject({
  email: text({ least: 3, most: 254 }).refine(isMailable, 'must be an e-mail address').transform(composedName).meta({ format: 'email' }),
  role: shownText({ least: 1, most: 100 })
    .exactOptional()
    .meta({ description: 'owner, admin, member, or the name of a role of the organization; member unless given' }),
  depId: text({ most: 100 }).exactOptional().meta({ description: 'Empty or absent: directly in the organization' }),
});
export type InvitationInput = z.output<typeof invitationFields>;

export interface Invitation extends Pick<InvitationRow, 'id' | 'email' | 'depId' | 'created' | 'sent' | 'expiresAt'> {
  /** Name of the role. */
  readonly role: string;
}

/** Oldest first. @throws {ApiError} not found, forbidden */
export async function listInvitations(
  { database: { knex } }: Services,
  orgId: string,
  window: Window,
  request: RequestContext,
): Promise<Page<Invitation>> {
  checkReadable(orgId, request, 'MANAGE_INVITATIONS');
  const { items, ...rest } = await readInvitations(knex, orgId, window);
  if (items.length === 0 && !(await organizationExists(knex, orgId))) throw notFound(orgId, 'Organization');
  const names = await roleNames(knex, orgId);
  return { items: items.map((row) => shown(row, names)), ...rest };
}

/** @throws {ApiError} not found, forbidden */
export async function getInvitation(
  { database: { knex } }: Services,
  orgId: string,
  id: string,
  request: RequestContext,
): Promise<Invitation> {
  checkReadable(orgId, request, 'MANAGE_INVITATIONS');
  const row = requireFound(await findInvitation(knex, orgId, id), id, 'Invitation');
  return shown(row, await roleNames(knex, orgId));
}

/**
 * Invites by e-mail.
 * @throws {ApiError} not found; forbidden: also a role that allows more than the caller's; validation: no such role or department; conflict: already
 * invited; wrong state: e-mail is not possible, or too many are pending; rate limited
 */
export async function inviteToOrganization(
  services: Services,
  orgId: string,
  { email, role = 'member', depId }: InvitationInput,
  request: RequestContext,
): Promise<Invitation> {
  checkReadable(orgId, request, 'MANAGE_INVITATIONS');
  if (!(await organizationExists(services.database.knex, orgId))) throw notFound(orgId, 'Organization');
  await requireMailTo(services, orgId, email, request);
  return services.database.transaction(async (trx) => {
    const organization = await lockForChange(trx, orgId, request, 'MANAGE_INVITATIONS');
    const { builtIn, own } = await grantableRole(trx, orgId, role, request);
    if ((await countInvitations(trx, orgId)) >= MOST_INVITATIONS)
      throw wrongState(`the organization already has ${MOST_INVITATIONS} open invitations. Revoke some first`);
    const { token, ...sending } = newLink(request);
    const row: InvitationRow = {
      ...{ id: newId('inv'), orgId, email, role: builtIn, roleId: own?.id ?? null, depId: depId || null },
      ...{ created: sending.sent, ...sending },
    };
    const kept = await insertInvitation(trx, row);
    if (kept === 'invited already')
      throw conflict({ field: 'email', message: 'this address is already invited. Send the invitation again instead' });
    if (kept === 'no such department') throw validation([{ field: 'depId', message: 'does not exist' }]);
    await mail(trx, services, organization, row, token, request);
    await record(trx, 'create', organization, row, request, { after: { email, role, depId: depId ?? '' } });
    return { ...row, role };
  });
}

/**
 * Sends a new link in the caller's name; the previous link becomes invalid.
 * @throws {ApiError} not found, forbidden; wrong state: e-mail is not possible; rate limited
 */
export async function resendInvitation(services: Services, orgId: string, id: string, request: RequestContext): Promise<Invitation> {
  const { email, role } = await getInvitation(services, orgId, id, request);
  await requireMailTo(services, orgId, email, request);
  return services.database.transaction(async (trx) => {
    const organization = await lockForChange(trx, orgId, request, 'MANAGE_INVITATIONS');
    await grantableRole(trx, orgId, role, request);
    const row = await findInvitation(trx, orgId, id);
    const { token, ...sending } = newLink(request);
    if (row === undefined || !(await renewInvitation(trx, id, sending))) throw notFound(id, 'Invitation');
    await mail(trx, services, organization, row, token, request);
    await record(trx, 'resend', organization, row, request, { after: { email, expiresAt: sending.expiresAt } });
    return { ...row, ...sending, role };
  });
}

/** @throws {ApiError} not found, forbidden */
export async function revokeInvitation(services: Services, orgId: string, id: string, request: RequestContext): Promise<void> {
  await services.database.transaction(async (trx) => {
    const organization = await lockForChange(trx, orgId, request, 'MANAGE_INVITATIONS');
    const row = await findInvitation(trx, orgId, id);
    if (row === undefined || !(await revokeWithin(trx, organization, row, request))) throw notFound(id, 'Invitation');
  });
}

/** Revokes the invitations that a leaving member has sent. Needs the lock of the organization. */
export async function revokeInvitationsBy(
  trx: Executor,
  organization: Organization,
  userId: string,
  request: RequestContext,
): Promise<void> {
  for (const row of await listInvitationsBy(trx, organization.id, userId)) await revokeWithin(trx, organization, row, request);
}

async function revokeWithin(trx: Executor, organization: Organization, row: InvitationRow, request: RequestContext): Promise<boolean> {
  if (!(await deleteInvitation(trx, row.id))) return false;
  await record(trx, 'revoke', organization, row, request, { before: { email: row.email, role: row.role, depId: row.depId ?? '' } });
  return true;
}

/** @throws {ApiError} wrong state, rate limited */
async function requireMailTo(services: Services, orgId: string, email: string, request: RequestContext): Promise<void> {
  if (!(await isMailPossible(services, request))) throw wrongState('this service cannot send e-mail. Set up a mail server first');
  const seconds = await countInvitationMail(services, orgId, email);
  if (seconds !== undefined) throw rateLimited(seconds, 'too many invitations were sent to this address recently. Try again in an hour');
}

/** @throws {ApiError} validation, forbidden */
async function grantableRole(trx: Executor, orgId: string, name: string, request: RequestContext) {
  const builtIn = BUILT_IN_ROLES.find((role) => role.name === name);
  if (builtIn !== undefined) {
    refuseBeyondOwn([builtIn], orgId, request);
    return { builtIn: builtIn.name, own: undefined } as const;
  }
  const own = (await listOrganizationRoles(trx, orgId)).find((role) => role.name === name);
  if (own === undefined) throw validation([{ field: 'role', message: 'is not a role of this organization' }]);
  refuseBeyondOwn([own], orgId, request);
  return { builtIn: 'member', own } as const;
}

function newLink({ actor }: RequestContext) {
  const token = randomToken();
  const sent = present();
  return {
    token,
    tokenHash: digest(token),
    createdBy: actor.id,
    sent,
    expiresAt: new Date(sent.getTime() + LIFETIMES.activationLink * 1000),
  };
}

async function mail(
  trx: Executor,
  { config, keyring }: Services,
  { id, name }: Organization,
  { email }: InvitationRow,
  token: string,
  request: RequestContext,
): Promise<void> {
  const content = {
    to: email,
    link: `${config.baseUrl}/invitation/${token}`,
    values: { organization: name },
    organization: id,
    expiresAt: new Date(present().getTime() + LIFETIMES.activationLink * 1000).toISOString(),
  };
  await queueMail(trx, keyring, { id: undefined, login: email, profile: {} }, 'organization-invitation', content, request);
}

const VERBS = {
  create: 'Invite to organization',
  resend: 'Send invitation to organization again',
  revoke: 'Revoke invitation to organization',
} as const;

function record(
  trx: Executor,
  step: keyof typeof VERBS,
  organization: Organization,
  { id, email }: InvitationRow,
  request: RequestContext,
  { before, after }: { readonly before?: Readonly<Record<string, unknown>>; readonly after?: Readonly<Record<string, unknown>> },
): Promise<string> {
  return recordEvent(trx, {
    eventType: `org.invitation.${step}`,
    displayMessage: VERBS[step],
    request,
    targets: [{ id, type: 'OrganizationInvitation', displayName: email }, organizationTarget(organization)],
    ...(before && { before }),
    ...(after && { after }),
  });
}

const roleNames = async (executor: Executor, orgId: string): Promise<ReadonlyMap<string, string>> =>
  new Map((await listOrganizationRoles(executor, orgId)).map(({ id, name }) => [id, name]));

const shown = (row: InvitationRow, names: ReadonlyMap<string, string>): Invitation => ({
  ...row,
  role: (row.roleId === null ? undefined : names.get(row.roleId)) ?? row.role,
});
