/** Pushes one user or group to a SCIM target: matched before it is created, changed only if it differs. */
import { present } from '../../platform/clock/clock.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { findAssignment, isAssigned } from '../applications/application-assignments.store.ts';
import { recordEvent } from '../audit/audit.service.ts';
import { type Event, SYSTEM } from '../audit/audit-event.policy.ts';
import { findGroup } from '../groups/groups.store.ts';
import { GROUP, type ScimObject } from '../scim/scim-attributes.policy.ts';
import type { Fields } from '../scim/scim-user.policy.ts';
import { isActiveStatus } from '../users/user-lifecycle.policy.ts';
import { profileFields } from '../users/users.service.ts';
import { findUserById } from '../users/users.store.ts';
import type { ProvisionedKind, ProvisionedResource, ProvisioningTarget } from './provisioning.resource.ts';
import {
  belongsToAnother,
  findProvisioned,
  forgetProvisioned,
  keepFormerAccount,
  listRemoteMembers,
  saveProvisioned,
} from './provisioning.store.ts';
import { queueGroupsOf } from './provisioning-queue.store.ts';
import { mergedRemoteUser, type WantedRemoteUser, wantedRemoteUser } from './remote-user.policy.ts';
import { isRemoteId, type ScimTarget, TargetRefusal } from './scim-target.service.ts';

/** Members of a group that is pushed. */
const MOST_MEMBERS = 5000;

export const provisioningTargets = (
  { applicationId }: Pick<ProvisioningTarget, 'applicationId'>,
  kind: ProvisionedKind,
  id: string,
  name: string,
) => [
  { id, type: kind === 'user' ? 'User' : 'UserGroup', displayName: name },
  { id: applicationId, type: 'AppInstance', displayName: applicationId },
];

const pathOf = (type: 'Users' | 'Groups', remoteId: string): string => `/${type}/${encodeURIComponent(remoteId)}`;
const quoted = (value: string): string => JSON.stringify(value);

/** Result of a push. */
type Pushed = Pick<ProvisionedResource, 'remoteId' | 'createdThere' | 'digest'>;

/** Operation for a user, decided from local data. */
export type UserPlan =
  | { readonly action: 'none' }
  | { readonly action: 'forget' }
  | {
      readonly action: 'push';
      readonly name: string;
      readonly wanted: WantedRemoteUser;
      readonly known: ProvisionedResource | undefined;
    }
  | {
      readonly action: 'deactivate' | 'delete';
      readonly name: string;
      /** Is the user deleted here? */
      readonly isErased: boolean;
      readonly known: ProvisionedResource & { readonly remoteId: string };
    };

const isLinked = (known: ProvisionedResource | undefined): known is ProvisionedResource & { readonly remoteId: string } =>
  known?.remoteId != null;

/** Decides for one user. */
export async function planUser({ database: { knex } }: Services, target: ProvisioningTarget, userId: string): Promise<UserPlan> {
  const [user, known] = [await findUserById(knex, userId), await findProvisioned(knex, target.applicationId, 'user', userId)];
  if (user !== undefined && isActiveStatus(user.status) && (await isAssigned(knex, target.applicationId, userId))) {
    const wanted = wantedRemoteUser(profileFields(user) as Fields, target.mapping, userId, true);
    return { action: 'push', name: user.login, wanted, known };
  }
  if (!isLinked(known)) return { action: known === undefined ? 'none' : 'forget' };
  // A user who was there before is the target's own.
  const action = target.leavers === 'DELETE' && known.createdThere ? 'delete' : 'deactivate';
  return { action, name: user?.login ?? known.name, isErased: user === undefined, known };
}

/** @throws {TargetUnavailable} @throws {TargetRefusal} */
export async function pushUser(services: Services, scim: ScimTarget, target: ProvisioningTarget, userId: string): Promise<void> {
  const { applicationId } = target;
  const plan = await planUser(services, target, userId);
  if (plan.action === 'none') return;
  if (plan.action === 'forget') return services.database.transaction((trx) => forgetProvisioned(trx, applicationId, 'user', userId));
  if (plan.action !== 'push') return deactivateOrDelete(services, scim, target, userId, plan);
  const { name, wanted, known } = plan;
  const contents = digest(JSON.stringify([wanted.resource, wanted.owned]));
  if (known?.state === 'PROVISIONED' && known.digest === contents) return;
  const pushed = await createOrChange(services, scim, target, userId, plan);
  await services.database.transaction(async (trx) => {
    const result = { ...pushed, digest: contents };
    if (!(await saveProvisioned(trx, target, succeeded('user', userId, name, 'PROVISIONED', result)))) return;
    if (known?.remoteId !== result.remoteId && target.pushGroups) await queueGroupsOf(trx, applicationId, userId, present());
    await recordEvent(trx, {
      ...userEvent(true, known?.state === 'DEACTIVATED'),
      request: SYSTEM,
      targets: provisioningTargets(target, 'user', userId, name),
      after: { remoteId: result.remoteId, state: 'PROVISIONED' },
    });
  });
}

/** Digest of a user who is inactive at the target: nothing to compare. */
const INACTIVE = 'inactive';

/**
 * Deactivates the user at the target, or deletes them there. Deactivation changes only `active`: a target that refuses another attribute must not
 * keep the user active.
 */
async function deactivateOrDelete(
  services: Services,
  scim: ScimTarget,
  target: ProvisioningTarget,
  userId: string,
  { action, name, isErased, known }: Extract<UserPlan, { action: 'deactivate' | 'delete' }>,
): Promise<void> {
  if (known.state === 'DEACTIVATED' && known.digest !== null && !isErased) return;
  const path = pathOf('Users', known.remoteId);
  const isThere = action === 'delete' ? await scim.remove(path) : await deactivate(scim, path);
  // With a wrong URL, every user would seem to be missing.
  if (!isThere) await scim.check();
  const { applicationId } = target;
  await services.database.transaction(async (trx) => {
    if (action === 'delete' || isErased) {
      await forgetProvisioned(trx, applicationId, 'user', userId);
      if (action !== 'delete') await keepFormerAccount(trx, target, known.remoteId);
    } else {
      const result = { remoteId: isThere ? known.remoteId : null, createdThere: known.createdThere, digest: INACTIVE };
      if (!(await saveProvisioned(trx, target, succeeded('user', userId, name, 'DEACTIVATED', result)))) return;
    }
    await recordEvent(trx, {
      ...userEvent(false, false),
      request: SYSTEM,
      targets: provisioningTargets(target, 'user', userId, name),
      after: { remoteId: known.remoteId, state: 'DEACTIVATED', ...(action === 'delete' && { deleted: true }) },
    });
  });
}

/** @returns false if the user does not exist there */
async function deactivate(scim: ScimTarget, path: string): Promise<boolean> {
  const before = await scim.read(path);
  if (before === undefined) return false;
  const { meta: _, groups: __, password: ___, ...rest } = before;
  return before.active === false || scim.replace(path, { ...rest, active: false });
}

function userEvent(isPush: boolean, isBack: boolean): Pick<Event, 'eventType' | 'displayMessage'> {
  if (!isPush) return { eventType: 'application.provision.user.deactivate', displayMessage: 'Deactivate user at the target' };
  if (isBack) return { eventType: 'application.provision.user.reactivate', displayMessage: 'Reactivate user at the target' };
  return { eventType: 'application.provision.user.push', displayMessage: 'Push user to the target' };
}

const succeeded = (
  kind: ProvisionedKind,
  id: string,
  name: string,
  state: ProvisionedResource['state'],
  pushed: Pushed,
): ProvisionedResource => ({ kind, id, name, state, ...pushed, failures: 0, error: null, lastAttempt: present(), lastSuccess: present() });

/** Creates or changes the user there. */
async function createOrChange(
  services: Services,
  scim: ScimTarget,
  target: ProvisioningTarget,
  userId: string,
  { wanted, known }: Extract<UserPlan, { action: 'push' }>,
): Promise<Omit<Pushed, 'digest'>> {
  const there = isLinked(known) ? await scim.read(pathOf('Users', known.remoteId)) : undefined;
  if (isLinked(known) && there !== undefined) {
    await change(scim, known.remoteId, there, wanted);
    return { remoteId: known.remoteId, createdThere: known.createdThere };
  }
  const find = () => findRemoteUser(services, scim, target, userId, wanted);
  const found = (await find()) ?? (await createdOrFound(scim, wanted, find));
  if (typeof found === 'string') return { remoteId: found, createdThere: true };
  const remoteId = String(found.id);
  await change(scim, remoteId, found, wanted);
  return { remoteId, createdThere: known?.remoteId === remoteId && known.createdThere };
}

/** @returns the ID of the new or of an existing user: one that no filter found, or of an earlier attempt whose response was lost */
async function createdOrFound(
  scim: ScimTarget,
  { resource }: WantedRemoteUser,
  find: () => Promise<ScimObject | undefined>,
): Promise<string | ScimObject> {
  try {
    return await scim.create('Users', resource);
  } catch (error) {
    if (!(error instanceof TargetRefusal) || error.status !== 409) throw error;
    const before = await find();
    if (before === undefined) throw error;
    return before;
  }
}

async function change(scim: ScimTarget, remoteId: string, before: ScimObject, wanted: WantedRemoteUser): Promise<void> {
  const merged = mergedRemoteUser(before, wanted);
  if (merged === undefined) return;
  const isThere = await scim.replace(pathOf('Users', remoteId), { ...merged, id: remoteId });
  if (!isThere) throw new TargetRefusal(404, 'the user is not at the target any more');
}

/** By `externalId`, then by user name. A target may ignore a filter, so results are compared. @throws {TargetUnavailable} @throws {TargetRefusal} */
export async function findRemoteUser(
  { database: { knex } }: Services,
  scim: ScimTarget,
  { applicationId }: ProvisioningTarget,
  userId: string,
  { resource: { userName } }: WantedRemoteUser,
): Promise<ScimObject | undefined> {
  const byExternalId = await scim.find('Users', `externalId eq ${quoted(userId)}`).catch(noSuchFilter);
  const known = byExternalId.find((one) => one.externalId === userId && isRemoteId(one.id));
  if (known !== undefined) return known;
  const named = (await scim.find('Users', `userName eq ${quoted(String(userName))}`)).filter(
    (one) => isRemoteId(one.id) && String(one.userName).toLowerCase() === String(userName).toLowerCase(),
  );
  const [found, another] = named;
  if (another !== undefined) throw new TargetRefusal(409, `the target has several users with the name ${userName}`);
  if (found === undefined) return undefined;
  // A user who had this name before owns the account there and its data. Not every target stores `externalId`.
  if (isOfAnother(found.externalId, userId) || (await belongsToAnother(knex, applicationId, String(found.id), userId)))
    throw new TargetRefusal(409, `the target's ${userName} is another user of this service`);
  return found;
}

/** Is it the ID of another user of this service? IDs of other systems have another form. */
const isOfAnother = (externalId: unknown, own: unknown): boolean =>
  typeof externalId === 'string' && /^usr_\w+$/.test(externalId) && externalId !== own;

function noSuchFilter(error: unknown): readonly ScimObject[] {
  if (error instanceof TargetRefusal) return [];
  throw error;
}

/** Pushes a group, or removes it from the target. @throws {TargetUnavailable} @throws {TargetRefusal} */
export async function pushGroup(services: Services, scim: ScimTarget, target: ProvisioningTarget, groupId: string): Promise<void> {
  const { applicationId } = target;
  const { knex } = services.database;
  const [group, known] = [await findGroup(knex, groupId), await findProvisioned(knex, applicationId, 'group', groupId)];
  const isWanted = group !== undefined && target.pushGroups && (await findAssignment(knex, applicationId, 'group', groupId)) !== undefined;
  if (!isWanted) {
    if (known === undefined) return;
    // A group that was there before is the target's own.
    if (known.remoteId !== null && known.createdThere && !(await scim.remove(pathOf('Groups', known.remoteId)))) await scim.check();
    await services.database.transaction(async (trx) => {
      await forgetProvisioned(trx, applicationId, 'group', groupId);
      if (known.remoteId !== null) await recordGroup(trx, target, groupId, known.name, { removed: known.createdThere });
    });
    return;
  }
  const members = await listRemoteMembers(knex, applicationId, groupId, MOST_MEMBERS + 1);
  if (members.length > MOST_MEMBERS) throw new TargetRefusal(413, `the group has more than ${MOST_MEMBERS} members`);
  const resource = { schemas: [GROUP.id], displayName: group.name, externalId: groupId, members: members.map((value) => ({ value })) };
  const contents = digest(JSON.stringify(resource));
  if (known?.state === 'PROVISIONED' && known.digest === contents) return;
  const remote = await bringGroup(scim, resource, known);
  await services.database.transaction(async (trx) => {
    if (!(await saveProvisioned(trx, target, succeeded('group', groupId, group.name, 'PROVISIONED', { ...remote, digest: contents }))))
      return;
    await recordGroup(trx, target, groupId, group.name, { remoteId: remote.remoteId, members: members.length });
  });
}

async function bringGroup(scim: ScimTarget, resource: ScimObject, known: ProvisionedResource | undefined): Promise<Omit<Pushed, 'digest'>> {
  const replace = (remoteId: string) =>
    scim.replace(`${pathOf('Groups', remoteId)}?excludedAttributes=members`, { ...resource, id: remoteId });
  if (known?.remoteId != null && (await replace(known.remoteId))) return { remoteId: known.remoteId, createdThere: known.createdThere };
  const found = await scim.find('Groups', `displayName eq ${quoted(String(resource.displayName))}`);
  const same = found.find((one) => isRemoteId(one.id) && one.displayName === resource.displayName);
  if (same === undefined) return { remoteId: await scim.create('Groups', resource), createdThere: true };
  await replace(String(same.id));
  return { remoteId: String(same.id), createdThere: false };
}

const recordGroup = (trx: Executor, target: ProvisioningTarget, groupId: string, name: string, after: object): Promise<string> =>
  recordEvent(trx, {
    eventType: 'application.provision.group.push',
    displayMessage: 'Push group to the target',
    request: SYSTEM,
    targets: provisioningTargets(target, 'group', groupId, name),
    after,
  });
