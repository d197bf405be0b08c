/**
 * Operations on organizations ("Organization endpoints"). Only administrators of the service can create, rename and delete them; other operations depend
 * on the caller's reach.
 */
import { present } from '../../platform/clock/clock.ts';
import { newId } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import type { NumberedPage, NumberedWindow } from '../../platform/database/paging.ts';
import { conflict, forbidden, notFound, requireFound, wrongState } from '../../platform/errors/errors.ts';
import { isWithin, type OrganizationPermission, reachOf } from '../administrators/administration.policy.ts';
import { deleteRolesOf } from '../administrators/roles.store.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import type { OrganizationType } from './organizations.resource.ts';
import {
  type CountedOrganization,
  deleteOrganizationRow as deleteRow,
  findOrganization,
  insertOrganization,
  lockOrganization,
  type Organization,
  selectCountedOrganizations,
  selectOrganizations,
  updateOrganization,
} from './organizations.store.ts';

export interface NewOrganization {
  readonly name: string;
  /** Absent: empty. */
  readonly originId?: string | undefined;
  /** Absent: LOCAL. */
  readonly type?: OrganizationType | undefined;
}

export interface OrganizationDetail extends Organization {
  /** Number of members, including those of its departments. */
  readonly memberCount: number;
  readonly editable: boolean;
}

/** Organizations from another source are renamed there. */
const isEditable = ({ type }: Organization): boolean => type === 'LOCAL';

/** Organizations within the caller's reach, oldest first. @param page starts at 1 @param q words of the name and of the external ID */
export const listOrganizations = (
  { database: { knex } }: Services,
  { page, limit, q }: { readonly page: number; readonly limit: number; readonly q?: string | undefined },
  request: RequestContext,
): Promise<NumberedPage<Organization>> =>
  selectOrganizations(knex, { reach: readReach(request), words: q }, { page, size: limit, sort: { by: 'created', descending: false } });

/** One page by number in any order, with the number of members of each. @param q words of the name and of the external ID */
export const searchOrganizations = (
  { database: { knex } }: Services,
  q: string | undefined,
  window: NumberedWindow,
  request: RequestContext,
): Promise<NumberedPage<CountedOrganization>> => selectCountedOrganizations(knex, { reach: readReach(request), words: q }, window);

const readReach = ({ roles = [] }: RequestContext) => reachOf(roles, 'read', 'ANY');

/** @throws {ApiError} not found */
export async function getOrganization(services: Services, orgId: string, request: RequestContext): Promise<OrganizationDetail> {
  checkReadable(orgId, request);
  const found = requireFound(await findOrganization(services.database.knex, orgId), orgId, 'Organization');
  return { ...found, editable: isEditable(found) };
}

/** @throws {ApiError} conflict of the name */
export async function createOrganization(services: Services, input: NewOrganization, request: RequestContext): Promise<Organization> {
  const now = present();
  const { name, originId = '', type = 'LOCAL' } = input;
  const organization: Organization = { id: newId('org'), name, originId, type, created: now, lastUpdated: now };
  await services.database.transaction(async (trx) => {
    if (!(await insertOrganization(trx, organization))) throw nameTaken('orgName');
    await recordEvent(trx, {
      eventType: 'org.lifecycle.create',
      displayMessage: 'Create organization',
      request,
      targets: [target(organization)],
      after: described(organization),
    });
  });
  return organization;
}

/** @throws {ApiError} not found, forbidden, wrong state: it comes from another source; conflict of the name */
export async function renameOrganization(services: Services, orgId: string, name: string, request: RequestContext): Promise<Organization> {
  return services.database.transaction(async (trx) => {
    const before = await lockForChange(trx, orgId, request);
    if (!isEditable(before)) throw wrongState(`the organization is managed in another source (${before.type}). Rename it there`);
    const changes = { name, lastUpdated: present() };
    if (!(await updateOrganization(trx, orgId, changes))) throw nameTaken('name');
    const after = { ...before, ...changes };
    await recordEvent(trx, {
      eventType: 'org.update',
      displayMessage: 'Rename organization',
      request,
      targets: [target(after)],
      before: described(before),
      after: described(after),
    });
    return after;
  });
}

/** @throws {ApiError} not found, forbidden, wrong state: it still has departments or members */
export async function deleteOrganization(services: Services, orgId: string, request: RequestContext): Promise<void> {
  await services.database.transaction(async (trx) => {
    const before = await lockForChange(trx, orgId, request);
    const administrators = await deleteRolesOf(trx, orgId);
    const kept = await deleteRow(trx, orgId);
    if (kept !== undefined) throw wrongState(`the organization still has ${kept}. Remove them first`);
    await recordEvent(trx, {
      eventType: 'org.lifecycle.delete',
      displayMessage: 'Delete organization',
      request,
      targets: [target(before)],
      before: { ...described(before), administrators },
    });
  });
}

/**
 * Callers without any permission in an organization cannot see that it exists.
 * @param need absent: any permission in it
 * @throws {ApiError} not found; forbidden: the caller has only other permissions there
 */
export function checkReadable(orgId: string, request: RequestContext, need: OrganizationPermission | 'ANY' = 'ANY'): void {
  const roles = request.roles ?? [];
  if (!isWithin(reachOf(roles, 'read', 'ANY'), orgId)) throw notFound(orgId, 'Organization');
  if (!isWithin(reachOf(roles, 'read', need), orgId)) throw forbidden();
}

/**
 * Serializes changes of an organization, its departments and members, so that the tree gets no cycles and decisions stay valid.
 * @param need permission that the caller's roles must include
 * @throws {ApiError} not found, forbidden
 */
export async function lockForChange(
  trx: Executor,
  orgId: string,
  request: RequestContext,
  need: OrganizationPermission | 'ALL' = 'ALL',
): Promise<Organization> {
  checkReadable(orgId, request);
  const organization = requireFound(await lockOrganization(trx, orgId), orgId, 'Organization');
  if (!isWithin(reachOf(request.roles ?? [], 'write', need), orgId)) throw forbidden();
  return organization;
}

/** The organization as the target of audit events. */
export const target = ({ id, name }: Pick<Organization, 'id' | 'name'>) => ({ id, type: 'Organization', displayName: name });

const described = ({ name, originId, type }: Organization) => ({ name, originId, type });

/** @param field of the name in the request */
const nameTaken = (field: string) => conflict({ field, message: 'another organization has this name. Choose another name' });
