/** Operations on provisioning of an application: set it up, push now, retry, list results, and dry run. */
import { present } from '../../platform/clock/clock.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import type { Page, Window } from '../../platform/database/paging.ts';
import { type FieldProblem, requireFound, validation, wrongState } from '../../platform/errors/errors.ts';
import { sharedOutbound } from '../../platform/http/outbound.ts';
import { listAssignedUserIds } from '../applications/application-assignments.store.ts';
import { applicationTarget, getApplication } from '../applications/applications.service.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { removeEntriesOf, type Waiting, waitingFor } from '../outbox/outbox.store.ts';
import type { ScimObject } from '../scim/scim-attributes.policy.ts';
import { currentUserSchema } from '../user-schema/user-schema.service.ts';
import { BASE_ATTRIBUTES } from '../users/users.resource.ts';
import type { ProvisionedKind, ProvisionedResource, ProvisioningTarget, TargetAuth } from './provisioning.resource.ts';
import {
  countProvisioned,
  deleteProvisioningTarget,
  findProvisioned,
  findProvisioningTarget,
  forgetDigests,
  lockProvisioningTarget,
  type ProvisionedCounts,
  type ProvisionedSearch,
  saveProvisioningTarget,
  selectProvisioned,
  selectProvisioningTargets,
} from './provisioning.store.ts';
import { queueAll } from './provisioning-delivery.service.ts';
import type { ProvisioningInput } from './provisioning-fields.service.ts';
import { findRemoteUser, planUser } from './provisioning-push.service.ts';
import { PROVISIONING, queueOne } from './provisioning-queue.store.ts';
import { mergedRemoteUser } from './remote-user.policy.ts';
import { scimTarget, TargetRefusal, TargetUnavailable, targetSecretContext } from './scim-target.service.ts';

const receiver = (applicationId: string) => ({ kind: PROVISIONING, orderingKey: applicationId });

/** @throws {ApiError} not found: the application, or its provisioning */
export async function getProvisioning(services: Services, applicationId: string): Promise<ProvisioningTarget> {
  const { id } = await getApplication(services, applicationId);
  return requireFound(await findProvisioningTarget(services.database.knex, id), applicationId, 'ProvisioningTarget');
}

/** @returns undefined when the application provisions nobody @throws {ApiError} not found: the application */
export async function findProvisioning(services: Services, applicationId: string): Promise<ProvisioningTarget | undefined> {
  const { id } = await getApplication(services, applicationId);
  return findProvisioningTarget(services.database.knex, id);
}

/** Targets of all applications, oldest first. */
export const listProvisioning = ({ database }: Services, window: Window): Promise<Page<ProvisioningTarget>> =>
  selectProvisioningTargets(database.knex, window);

/**
 * Sets the target of an application; all assigned users are pushed if it is active.
 * @throws {ApiError} not found; wrong state: an application of the service; validation, also of a missing secret
 */
export async function setProvisioning(
  services: Services,
  applicationId: string,
  input: ProvisioningInput,
  request: RequestContext,
): Promise<ProvisioningTarget> {
  const application = await getApplication(services, applicationId);
  if (application.system) throw wrongState('this application is part of the service and cannot be changed');
  await requireFields(services, input);
  return services.database.transaction(async (trx) => {
    const before = await lockProvisioningTarget(trx, application.id);
    const now = present();
    const { secret, ...auth } = input.auth;
    const after: ProvisioningTarget = {
      applicationId: application.id,
      status: input.status ?? 'ACTIVE',
      baseUrl: input.baseUrl,
      auth: auth as TargetAuth,
      secret: sealed(services, application.id, { auth, secret, baseUrl: input.baseUrl }, before),
      mapping: input.mapping ?? {},
      leavers: input.leavers ?? 'DEACTIVATE',
      pushGroups: input.pushGroups ?? false,
      awaySince: null,
      awayReason: null,
      outageSince: null,
      outageUntil: null,
      outageReason: null,
      outagesInARow: 0,
      created: before?.created ?? now,
      lastUpdated: now,
    };
    // IDs at the former target mean nothing at another one.
    if (before !== undefined && before.baseUrl !== after.baseUrl) await deleteProvisioningTarget(trx, application.id);
    await saveProvisioningTarget(trx, after);
    await recordEvent(trx, {
      eventType: 'application.provision.target.update',
      displayMessage: 'Set provisioning of application',
      request,
      targets: [applicationTarget(application)],
      ...(before !== undefined && { before: described(before) }),
      after: described(after),
    });
    if (after.status === 'ACTIVE') await pushAll(trx, application.id);
    return after;
  });
}

/** A secret is kept only if it would be sent to the same host. */
function sealed(
  { keyring }: Services,
  applicationId: string,
  { auth, secret, baseUrl }: { readonly auth: object; readonly secret: string | undefined; readonly baseUrl: string },
  before: ProvisioningTarget | undefined,
): string {
  if (secret !== undefined) return keyring.seal(secret, targetSecretContext(applicationId));
  const goesTo = (one: object, base: string) => new URL('tokenUrl' in one ? String(one.tokenUrl) : base).origin;
  const isSame =
    before !== undefined &&
    'tokenUrl' in auth === 'tokenUrl' in before.auth &&
    goesTo(auth, baseUrl) === goesTo(before.auth, before.baseUrl);
  if (!isSame) throw validation([{ field: 'auth.secret', message: 'is required' }]);
  return before.secret;
}

/** @throws {ApiError} validation: a mapped field does not exist in the profile */
async function requireFields(services: Services, { mapping = {} }: ProvisioningInput): Promise<void> {
  const { attributes } = await currentUserSchema(services);
  const known = new Set<string>(['login', 'email', ...BASE_ATTRIBUTES, ...attributes.map(({ name }) => name)]);
  const problems: FieldProblem[] = Object.entries(mapping).flatMap(([name, field]) =>
    field === null || known.has(field) ? [] : [{ field: `mapping.${name}`, message: `${field} is not a field of the profile` }],
  );
  if (problems.length > 0) throw validation(problems);
}

/** Queues everyone for a comparison with the target, and ends pauses. */
async function pushAll(trx: Executor, applicationId: string): Promise<void> {
  await forgetDigests(trx, applicationId);
  await queueAll(trx, applicationId);
}

/** Does not change users at the target. @throws {ApiError} not found */
export async function removeProvisioning(services: Services, applicationId: string, request: RequestContext): Promise<void> {
  const application = await getApplication(services, applicationId);
  await services.database.transaction(async (trx) => {
    const before = requireFound(await lockProvisioningTarget(trx, application.id), applicationId, 'ProvisioningTarget');
    await deleteProvisioningTarget(trx, application.id);
    await removeEntriesOf(trx, receiver(application.id));
    await recordEvent(trx, {
      eventType: 'application.provision.target.delete',
      displayMessage: 'Remove provisioning of application',
      request,
      targets: [applicationTarget(application)],
      before: described(before),
    });
  });
}

/**
 * Pushes everyone now, or one user or group.
 * @throws {ApiError} not found; wrong state: the target is inactive
 */
export async function pushNow(
  services: Services,
  applicationId: string,
  one: { readonly kind: ProvisionedKind; readonly id: string } | undefined,
  request: RequestContext,
): Promise<void> {
  const application = await getApplication(services, applicationId);
  await services.database.transaction(async (trx) => {
    const target = requireFound(await lockProvisioningTarget(trx, application.id), applicationId, 'ProvisioningTarget');
    if (target.status !== 'ACTIVE') throw wrongState('provisioning is inactive. Activate it first');
    if (one === undefined) await pushAll(trx, application.id);
    else {
      requireFound(await findProvisioned(trx, application.id, one.kind, one.id), one.id, 'ProvisionedResource');
      await forgetDigests(trx, application.id, one);
      await queueOne(trx, { applicationId: application.id, ...one }, present());
    }
    await recordEvent(trx, {
      eventType: 'application.provision.start',
      displayMessage: 'Push users and groups to the target',
      request,
      targets: [applicationTarget(application)],
      after: one ?? { all: true },
    });
  });
}

export interface ProvisioningState extends ProvisionedCounts {
  readonly waiting: Waiting;
}

export async function provisioningState(
  { database: { knex } }: Services,
  { applicationId }: ProvisioningTarget,
): Promise<ProvisioningState> {
  return { ...(await countProvisioned(knex, applicationId)), waiting: await waitingFor(knex, receiver(applicationId)) };
}

/** Oldest first. @throws {ApiError} not found */
export async function listProvisioned(
  services: Services,
  applicationId: string,
  search: ProvisionedSearch,
  window: Window,
): Promise<Page<ProvisionedResource>> {
  const target = await getProvisioning(services, applicationId);
  return selectProvisioned(services.database.knex, target.applicationId, search, window);
}

export interface PlannedUser {
  readonly id: string;
  readonly name: string;
  readonly action: 'CREATE' | 'LINK' | 'UPDATE' | 'DEACTIVATE' | 'DELETE' | 'NONE' | 'FAIL';
  /** Resource that would be sent. */
  readonly resource: ScimObject | undefined;
  readonly error: string | undefined;
}

/** Maximum users of a dry run: each is looked up at the target, with up to three calls. */
const MOST_PLANNED = 10;

/** Reads from the target what a push of the next users would change, and changes nothing. @throws {ApiError} not found */
export async function dryRun(services: Services, applicationId: string, window: Window): Promise<Page<PlannedUser>> {
  const target = await getProvisioning(services, applicationId);
  const { items, ...rest } = await listAssignedUserIds(services.database.knex, target.applicationId, {
    ...window,
    limit: Math.min(window.limit, MOST_PLANNED),
  });
  const planned: PlannedUser[] = [];
  for (const { id, login } of items) planned.push(await plannedUser(services, target, id, login));
  return { items: planned, ...rest };
}

async function plannedUser(services: Services, target: ProvisioningTarget, id: string, login: string): Promise<PlannedUser> {
  const plan = await planUser(services, target, id);
  const resultOf = (action: PlannedUser['action'], resource?: ScimObject, error?: string) => ({ id, name: login, action, resource, error });
  if (plan.action === 'none' || plan.action === 'forget') return resultOf('NONE');
  if (plan.action === 'delete') return resultOf('DELETE');
  const sent = plan.action === 'push' ? plan.wanted.resource : undefined;
  const remoteId = plan.known?.remoteId;
  try {
    const scim = scimTarget(services.keyring, sharedOutbound(services.config), target);
    const linked = remoteId == null ? undefined : await scim.read(`/Users/${encodeURIComponent(remoteId)}`);
    if (plan.action !== 'push') return resultOf(linked === undefined || linked.active === false ? 'NONE' : 'DEACTIVATE');
    if (linked !== undefined) return resultOf(mergedRemoteUser(linked, plan.wanted) === undefined ? 'NONE' : 'UPDATE', sent);
    return resultOf((await findRemoteUser(services, scim, target, id, plan.wanted)) === undefined ? 'CREATE' : 'LINK', sent);
  } catch (error) {
    if (error instanceof TargetUnavailable || error instanceof TargetRefusal) return resultOf('FAIL', sent, error.message);
    throw error;
  }
}

/** Form for the audit log, without the secret. */
const described = ({ status, baseUrl, auth, mapping, leavers, pushGroups }: ProvisioningTarget) => ({
  ...{ status, baseUrl, auth, mapping, leavers, pushGroups },
});
