/** Operations on roles of applications. Roles are assigned together with the application, not here. */
import { z } from 'zod';
import { present } from '../../platform/clock/clock.ts';
import { newId } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import type { Page, Window } from '../../platform/database/paging.ts';
import { conflict, requireFound, wrongState } from '../../platform/errors/errors.ts';
import { shownText, text } from '../../platform/validation/text.ts';
import type { Application } from '../applications/applications.resource.ts';
import { applicationTarget, changeApplication, getApplication } from '../applications/applications.service.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import type { ApplicationRole } from './application-roles.resource.ts';
import {
  deleteRoleRow,
  findApplicationRole,
  findRoleNames,
  insertApplicationRole,
  lockApplicationRoles,
  type RoleName,
  readApplicationRoles,
  updateRoleRow,
} from './application-roles.store.ts';

/** Maximum per application, because of the size of tokens. */
const MOST_ROLES = 100;

export const applicationRoleFields = z.strictObject({
  name: text({ least: 1, most: 100 })
    .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII characters without spaces')
    .meta({ description: 'In tokens, and where the role is assigned' }),
  displayName: shownText({ most: 100 }).exactOptional().meta({ description: 'What the console calls it; the name unless given' }),
  description: shownText({ most: 1024 }).exactOptional(),
});
export type RoleInput = z.output<typeof applicationRoleFields>;

/** Oldest first. @throws {ApiError} not found */
export async function listApplicationRoles(services: Services, applicationId: string, window: Window): Promise<Page<ApplicationRole>> {
  await getApplication(services, applicationId);
  return readApplicationRoles(services.database.knex, applicationId, window);
}

/** Names of the roles of all applications, in alphabetical order. @param q words of the names; undefined: all */
export const listRoleNames = (services: Services, q: string | undefined, most: number): Promise<readonly RoleName[]> =>
  findRoleNames(services.database.knex, q, most);

/** All of them. @throws {ApiError} not found */
export const allApplicationRoles = async (services: Services, applicationId: string): Promise<readonly ApplicationRole[]> =>
  (await listApplicationRoles(services, applicationId, { limit: MOST_ROLES })).items;

/** @throws {ApiError} not found: the application or the role */
export async function getApplicationRole(services: Services, applicationId: string, id: string): Promise<ApplicationRole> {
  await getApplication(services, applicationId);
  return requireRole(services.database.knex, applicationId, id);
}

/** @throws {ApiError} not found; conflict of the name; wrong state: an application of the service itself, or one with too many roles */
export async function createApplicationRole(
  services: Services,
  applicationId: string,
  input: RoleInput,
  request: RequestContext,
): Promise<ApplicationRole> {
  return changeApplication(services, applicationId, async (trx, application) => {
    if ((await lockApplicationRoles(trx, applicationId)).length >= MOST_ROLES)
      throw wrongState(`the application already has ${MOST_ROLES} roles. Delete one first`);
    const now = present();
    const role = { id: newId('rol'), ...complete(input), created: now, lastUpdated: now };
    if (!(await insertApplicationRole(trx, applicationId, role))) throw nameTaken();
    await record(trx, 'create', application, request, { after: role });
    return role;
  });
}

/** Users keep the role. @throws {ApiError} not found; conflict of the name */
export async function updateApplicationRole(
  services: Services,
  applicationId: string,
  id: string,
  input: RoleInput,
  request: RequestContext,
): Promise<ApplicationRole> {
  return changeApplication(services, applicationId, async (trx, application) => {
    const before = await requireRole(trx, applicationId, id);
    const after = { ...before, ...complete(input), lastUpdated: present() };
    if (!(await updateRoleRow(trx, after))) throw nameTaken();
    await record(trx, 'update', application, request, { before, after });
    return after;
  });
}

/** Removes the role from all users; assignments of the application remain. @throws {ApiError} not found */
export async function deleteApplicationRole(services: Services, applicationId: string, id: string, request: RequestContext): Promise<void> {
  await changeApplication(services, applicationId, async (trx, application) => {
    const before = await requireRole(trx, applicationId, id);
    await deleteRoleRow(trx, id);
    await record(trx, 'delete', application, request, { before });
  });
}

const complete = ({ name, displayName = '', description = '' }: RoleInput) => ({
  name,
  displayName: displayName === '' ? name : displayName,
  description,
});

const requireRole = async (executor: Executor, applicationId: string, id: string): Promise<ApplicationRole> =>
  requireFound(await findApplicationRole(executor, applicationId, id), id, 'ApplicationRole');

const VERBS = { create: 'Create', update: 'Update', delete: 'Delete' } as const;

function record(
  trx: Executor,
  step: keyof typeof VERBS,
  application: Application,
  request: RequestContext,
  { before, after }: { readonly before?: ApplicationRole; readonly after?: ApplicationRole },
): Promise<string> {
  const { id = '', name = '' } = after ?? before ?? {};
  const described = (role: ApplicationRole) => ({ name: role.name, displayName: role.displayName, description: role.description });
  return recordEvent(trx, {
    eventType: `application.role.${step}`,
    displayMessage: `${VERBS[step]} role of application`,
    request,
    targets: [{ id, type: 'ApplicationRole', displayName: name }, applicationTarget(application)],
    ...(before && { before: described(before) }),
    ...(after && { after: described(after) }),
  });
}

const nameTaken = () => conflict({ field: 'name', message: 'another role of this application has this name. Choose another name' });
