/** Operations on roles of an organization. Nobody can grant or change a role that allows more than their own. */
import { z } from 'zod';
import { present } from '../../platform/clock/clock.ts';
import { newId } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import type { Page, Window } from '../../platform/database/paging.ts';
import { conflict, forbidden, notFound, requireFound, wrongState } from '../../platform/errors/errors.ts';
import { shownText } from '../../platform/validation/text.ts';
import { ORGANIZATION_PERMISSIONS, type OrganizationPermission } from '../administrators/administration.policy.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { checkReadable, lockForChange, target as organizationTarget } from '../organizations/organizations.service.ts';
import { type Organization, organizationExists } from '../organizations/organizations.store.ts';
import { revokeForGain, revokeForGainAfterCommit } from '../sign-in/credential-revocation.service.ts';
import { mayGrant } from './grantable-roles.policy.ts';
import { isBuiltInRole, type OrganizationRole } from './organization-roles.resource.ts';
import {
  deleteOrganizationRoleRow,
  findOrganizationRole,
  insertOrganizationRole,
  listOrganizationRoles,
  listUserIdsWithRole,
  readOrganizationRoles,
  updateOrganizationRoleRow,
} from './organization-roles.store.ts';

/** Limit per organization. */
const MOST_ORGANIZATION_ROLES = 100;
/** Maximum members with a role that gets more permissions: all of them lose links and sessions in the same transaction. */
const MOST_HOLDERS_TO_WIDEN = 1000;

export const organizationRoleFields = z.strictObject({
  name: shownText({ least: 1, most: 100 })
    .refine((name) => !isBuiltInRole(name), 'is the name of a built-in role. Choose another name')
    .meta({ description: 'In the claim org_roles, and where the role is given' }),
  description: shownText({ most: 1024 }).exactOptional(),
  permissions: z
    .array(z.enum(ORGANIZATION_PERMISSIONS))
    .max(ORGANIZATION_PERMISSIONS.length)
    .exactOptional()
    .meta({ description: 'In the console and the API; none: the role is for applications alone' }),
});
export type OrganizationRoleInput = z.output<typeof organizationRoleFields>;

/** The organization's own roles, oldest first, without the built-in ones. @throws {ApiError} not found, forbidden */
export async function pageOfOrganizationRoles(
  services: Services,
  orgId: string,
  window: Window,
  request: RequestContext,
): Promise<Page<OrganizationRole>> {
  const { knex } = services.database;
  await checkVisible(services, orgId, request);
  return readOrganizationRoles(knex, orgId, window);
}

/** All custom roles. @throws {ApiError} not found, forbidden */
export const allOrganizationRoles = async (
  services: Services,
  orgId: string,
  request: RequestContext,
): Promise<readonly OrganizationRole[]> =>
  (await pageOfOrganizationRoles(services, orgId, { limit: MOST_ORGANIZATION_ROLES }, request)).items;

/** @throws {ApiError} not found, forbidden */
export async function getOrganizationRole(
  services: Services,
  orgId: string,
  id: string,
  request: RequestContext,
): Promise<OrganizationRole> {
  await checkVisible(services, orgId, request);
  return requireRole(services.database.knex, orgId, id);
}

/** @throws {ApiError} not found, forbidden; conflict of the name; wrong state: it has too many */
export function createOrganizationRole(
  services: Services,
  orgId: string,
  input: OrganizationRoleInput,
  request: RequestContext,
): Promise<OrganizationRole> {
  return services.database.transaction(async (trx) => {
    const organization = await lockForChange(trx, orgId, request, 'MANAGE_MEMBERS');
    if ((await listOrganizationRoles(trx, orgId)).length >= MOST_ORGANIZATION_ROLES)
      throw wrongState(`the organization already has ${MOST_ORGANIZATION_ROLES} roles. Delete one first`);
    const now = present();
    const role = { id: newId('rol'), ...complete(input), created: now, lastUpdated: now };
    refuseBeyondOwn([role], orgId, request);
    if (!(await insertOrganizationRole(trx, orgId, role))) throw nameTaken();
    await record(trx, 'create', organization, request, { after: role });
    return role;
  });
}

/**
 * Changes a role; members keep it. If it gets more permissions, its holders lose links and sessions to which others may have access, as when a role
 * is granted.
 * @throws {ApiError} not found, forbidden; conflict of the name; wrong state: it gets more permissions, and too many members have it
 */
export async function updateOrganizationRole(
  services: Services,
  orgId: string,
  id: string,
  input: OrganizationRoleInput,
  request: RequestContext,
): Promise<OrganizationRole> {
  const { knex } = services.database;
  const { role, raised } = await services.database.transaction(async (trx) => {
    const organization = await lockForChange(trx, orgId, request, 'MANAGE_MEMBERS');
    const before = await requireRole(trx, orgId, id);
    const after = { ...before, ...complete(input), lastUpdated: present() };
    refuseBeyondOwn([before, after], orgId, request);
    const isWider = after.permissions.some((permission) => !before.permissions.includes(permission));
    const raised = isWider ? await endForHolders(trx, orgId, id, request) : [];
    if (!(await updateOrganizationRoleRow(trx, after))) throw nameTaken();
    await record(trx, 'update', organization, request, { before, after });
    return { role: after, raised };
  });
  for (const { userId, rises } of raised) await revokeForGainAfterCommit(knex, userId, rises, request);
  return role;
}

/** @throws {ApiError} wrong state */
async function endForHolders(trx: Executor, orgId: string, roleId: string, request: RequestContext) {
  const holders = await listUserIdsWithRole(trx, orgId, roleId, MOST_HOLDERS_TO_WIDEN + 1);
  if (holders.length > MOST_HOLDERS_TO_WIDEN)
    throw wrongState(`more than ${MOST_HOLDERS_TO_WIDEN} members have this role. Add the permissions to another role instead`);
  const raised = [];
  for (const userId of holders) raised.push({ userId, rises: await revokeForGain(trx, userId, { orgId }, request) });
  return raised;
}

/** Removes the role from all members. @throws {ApiError} not found, forbidden */
export async function deleteOrganizationRole(services: Services, orgId: string, id: string, request: RequestContext): Promise<void> {
  await services.database.transaction(async (trx) => {
    const organization = await lockForChange(trx, orgId, request, 'MANAGE_MEMBERS');
    const before = await requireRole(trx, orgId, id);
    refuseBeyondOwn([before], orgId, request);
    await deleteOrganizationRoleRow(trx, id);
    await record(trx, 'delete', organization, request, { before });
  });
}

/** @throws {ApiError} forbidden: a role allows more than the caller can do in the organization */
export function refuseBeyondOwn(
  changed: readonly { readonly name: string; readonly permissions: readonly OrganizationPermission[] }[],
  orgId: string,
  { roles = [] }: Pick<RequestContext, 'roles'>,
): void {
  if (!changed.every((role) => mayGrant(roles, orgId, role))) throw forbidden();
}

async function checkVisible(services: Services, orgId: string, request: RequestContext): Promise<void> {
  checkReadable(orgId, request, 'MANAGE_MEMBERS');
  if (!(await organizationExists(services.database.knex, orgId))) throw notFound(orgId, 'Organization');
}

const complete = ({ name, description = '', permissions = [] }: OrganizationRoleInput) => ({
  name,
  description,
  permissions: ORGANIZATION_PERMISSIONS.filter((permission) => permissions.includes(permission)),
});

const requireRole = async (executor: Executor, orgId: string, id: string): Promise<OrganizationRole> =>
  requireFound(await findOrganizationRole(executor, orgId, id), id, 'OrganizationRole');

const VERBS = { create: 'Create', update: 'Update', delete: 'Delete' } as const;

function record(
  trx: Executor,
  step: keyof typeof VERBS,
  organization: Organization,
  request: RequestContext,
  { before, after }: { readonly before?: OrganizationRole; readonly after?: OrganizationRole },
): Promise<string> {
  const { id = '', name = '' } = after ?? before ?? {};
  const described = (role: OrganizationRole) => ({ name: role.name, description: role.description, permissions: role.permissions });
  return recordEvent(trx, {
    eventType: `org.role.${step}`,
    displayMessage: `${VERBS[step]} role of organization`,
    request,
    targets: [{ id, type: 'OrganizationRole', displayName: name }, organizationTarget(organization)],
    ...(before && { before: described(before) }),
    ...(after && { after: described(after) }),
  });
}

const nameTaken = () => conflict({ field: 'name', message: 'another role of this organization has this name. Choose another name' });
