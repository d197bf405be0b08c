/** Users by SCIM. All changes use the services of the API and the console, so the same rules, events and limits apply. */
import { isDeepStrictEqual } from 'node:util';
import { present } from '../../platform/clock/clock.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { inOneTransaction } from '../../platform/database/one-transaction.ts';
import type { NumberedPage } from '../../platform/database/paging.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { findRights, lockSuperAdmins } from '../administrators/roles.store.ts';
import { recordEvent } from '../audit/audit.service.ts';
import { currentUserSchema } from '../user-schema/user-schema.service.ts';
import { endBrowserSessions, endOAuthTokens } from '../users/account-state.store.ts';
import { isActiveStatus } from '../users/user-lifecycle.policy.ts';
import { deleteUser, takeStep } from '../users/user-lifecycle.service.ts';
import { searchUsersBy } from '../users/user-lists.service.ts';
import { profileChanges, userCredentials, userProfile } from '../users/user-profile.service.ts';
import { findVisibleUser, lockChangeableUser, userTarget } from '../users/user-reach.service.ts';
import type { User } from '../users/users.resource.ts';
import { changeUser, createUser, profileFields } from '../users/users.service.ts';
import { findUserById } from '../users/users.store.ts';
import { findUserLinks, type GroupOfUser, listGroupsOfUsers, saveUserLink, scimUserColumns, type UserLink } from './scim.store.ts';
import type { ScimObject, ScimType } from './scim-attributes.policy.ts';
import { type ScimCaller, seesGroups } from './scim-caller.policy.ts';
import { notFoundHere, ScimError } from './scim-errors.policy.ts';
import { canonicalResource } from './scim-names.policy.ts';
import { applyOperations, type ScimOperation } from './scim-patch.service.ts';
import { locationOf, readListFilter, readSliceOf, requireVersion, type ScimQuery, versionOf } from './scim-resources.service.ts';
import { type Fields, userType, type WantedUser, wantedOf, writtenPart } from './scim-user.policy.ts';

/** A user for a client. */
export interface ScimView {
  readonly resource: ScimObject;
  readonly version: string;
  readonly id: string;
}

export const currentUserType = async (services: Services): Promise<ScimType> => userType((await currentUserSchema(services)).attributes);

const NO_LINK: UserLink = { externalId: undefined, labels: {} };

const fieldsOf = (user: User): Fields => {
  const { emailVerified: _, ...fields } = profileFields(user) as Record<string, Fields[string]>;
  return fields;
};

/** User fields that a client can write. */
const writable = (type: ScimType, user: User, { externalId, labels }: UserLink): ScimObject =>
  writtenPart(type, fieldsOf(user), { active: isActiveStatus(user.status), externalId, labels });

async function viewsOf(
  services: Services,
  executor: Executor,
  caller: ScimCaller,
  type: ScimType,
  users: readonly User[],
): Promise<ScimView[]> {
  const ids = users.map(({ id }) => id);
  const links = await findUserLinks(executor, caller.tokenId, ids);
  const groups = seesGroups(caller) ? await listGroupsOfUsers(executor, ids) : new Map<string, readonly GroupOfUser[]>();
  return users.map((user) => viewed(services, type, user, links.get(user.id) ?? NO_LINK, groups.get(user.id) ?? []));
}

function viewed(services: Services, type: ScimType, user: User, link: UserLink, groups: readonly GroupOfUser[]): ScimView {
  const written = writable(type, user, link);
  const content = {
    schemas: [type.core.id, ...type.extensions.map(({ id }) => id).filter((id) => id in written)],
    id: user.id,
    ...written,
    ...(groups.length > 0 && {
      groups: groups.map(({ id, name }) => ({ value: id, $ref: locationOf(services, 'Group', id), display: name })),
    }),
  };
  const version = versionOf([content, user.passwordChanged]);
  const meta = {
    resourceType: 'User',
    created: user.created.toISOString(),
    lastModified: user.lastUpdated.toISOString(),
    location: locationOf(services, 'User', user.id),
    version,
  };
  return { id: user.id, version, resource: { ...content, meta } };
}

async function viewOf(services: Services, executor: Executor, caller: ScimCaller, type: ScimType, id: string): Promise<ScimView> {
  const user = await findUserById(executor, id);
  const [view] = user === undefined ? [] : await viewsOf(services, executor, caller, type, [user]);
  if (view === undefined) throw notFoundHere(id);
  return view;
}

/** @throws {ScimError} invalidFilter, invalidPath */
export async function listScimUsers(services: Services, caller: ScimCaller, query: ScimQuery): Promise<NumberedPage<ScimView>> {
  const { attributes } = await currentUserSchema(services);
  const type = userType(attributes);
  const columns = scimUserColumns(type, attributes, { tokenId: caller.tokenId, seesGroups: seesGroups(caller) }, present());
  const page = await searchUsersBy(services, readListFilter(query.filter, columns), columns, readSliceOf(query, columns), caller.request);
  return { total: page.total, items: await viewsOf(services, services.database.knex, caller, type, page.items) };
}

/** @throws {ScimError} not found, also for a user who is invisible to the caller */
export async function getScimUser(services: Services, caller: ScimCaller, id: string): Promise<ScimView> {
  const user = await findVisibleUser(services.database.knex, id, caller.request);
  if (user.id !== id) throw notFoundHere(id);
  return viewOf(services, services.database.knex, caller, await currentUserType(services), id);
}

/** @throws {ScimError} @throws {ApiError} as `createUser` */
export async function createScimUser(services: Services, caller: ScimCaller, body: unknown): Promise<ScimView> {
  const type = await currentUserType(services);
  const wanted = wantedOf(type, canonicalResource(type, body));
  const profile = parse(userProfile, withoutNothing(wanted.fields));
  return inOneTransaction(services, async (within, trx) => {
    const input = { profile, ...passwordOf(wanted), activate: wanted.active !== false, orgId: caller.orgId ?? undefined };
    const user = await createUser(within, input, caller.request);
    const { externalId, labels } = wanted;
    if (externalId !== undefined || Object.keys(labels).length > 0) await saveUserLink(trx, caller.tokenId, user.id, wanted);
    return viewed(services, type, user, { externalId, labels }, []);
  });
}

/** Replaces a user (PUT): absent attributes are removed. `active` and the password are unchanged. */
export async function replaceScimUser(
  services: Services,
  caller: ScimCaller,
  id: string,
  body: unknown,
  ifMatch?: string,
): Promise<ScimView> {
  const type = await currentUserType(services);
  const resource = canonicalResource(type, body);
  return changeScimUser(services, caller, type, id, () => resource, ifMatch);
}

/** @param operations as `readOperations` has read them */
export async function patchScimUser(
  services: Services,
  caller: ScimCaller,
  id: string,
  operations: readonly ScimOperation[],
  ifMatch?: string,
): Promise<ScimView> {
  const type = await currentUserType(services);
  return changeScimUser(services, caller, type, id, (before) => applyOperations(type, before, operations), ifMatch);
}

/** Deactivates and deletes: afterwards no request finds the user. @throws {ApiError} as `deleteUser` */
export async function deleteScimUser(services: Services, caller: ScimCaller, id: string, ifMatch?: string): Promise<void> {
  await inOneTransaction(services, async (within, trx) => {
    await lockSuperAdmins(trx);
    const user = await lockNamed(trx, id, caller);
    requireVersion((await viewOf(within, trx, caller, await currentUserType(services), id)).version, ifMatch);
    if (user.status !== 'DEPROVISIONED') await deleteUser(within, id, caller.request);
    await deleteUser(within, id, caller.request);
  });
  await endSessionsAndTokens(services, id);
}

async function lockNamed(trx: Executor, id: string, { request }: ScimCaller): Promise<User> {
  const user = await lockChangeableUser(trx, id, request);
  if (user.id !== id) throw notFoundHere(id);
  return user;
}

/** Locks the user: the second of two concurrent writers waits and sees the version of the first. */
async function changeScimUser(
  services: Services,
  caller: ScimCaller,
  type: ScimType,
  id: string,
  change: (before: ScimObject) => ScimObject,
  ifMatch: string | undefined,
): Promise<ScimView> {
  const { view, endsHoldings } = await inOneTransaction(services, async (within, trx) => {
    // Called before any row is locked, if the change may remove an administrator.
    if (await mayDeactivate(trx, caller, type, id, change)) await lockSuperAdmins(trx);
    const user = await lockNamed(trx, id, caller);
    const link = (await findUserLinks(trx, caller.tokenId, [id])).get(id) ?? NO_LINK;
    requireVersion((await viewOf(within, trx, caller, type, id)).version, ifMatch);
    const wanted = wantedOf(type, change(writable(type, user, link)));
    await applyChange(within, trx, caller, { user, link, wanted });
    const isGone = wanted.active === false && isActiveStatus(user.status);
    return { view: await viewOf(within, trx, caller, type, id), endsHoldings: isGone || wanted.password !== undefined };
  });
  if (endsHoldings) await endSessionsAndTokens(services, id);
  return view;
}

async function mayDeactivate(
  executor: Executor,
  caller: ScimCaller,
  type: ScimType,
  id: string,
  change: (before: ScimObject) => ScimObject,
): Promise<boolean> {
  const user = await findVisibleUser(executor, id, caller.request);
  return isActiveStatus(user.status) && wantedOf(type, change(writable(type, user, NO_LINK))).active === false;
}

/** Ends sessions and tokens that were written concurrently. */
async function endSessionsAndTokens({ database: { knex } }: Services, userId: string): Promise<void> {
  await endBrowserSessions(knex, userId);
  await endOAuthTokens(knex, userId);
}

interface Change {
  readonly user: User;
  readonly link: UserLink;
  readonly wanted: WantedUser;
}

/** Writes only differences, so that a request without a change leaves no event and keeps the version. */
async function applyChange(within: Services, trx: Executor, caller: ScimCaller, { user, link, wanted }: Change): Promise<void> {
  const before = fieldsOf(user);
  const changed = Object.entries(wanted.fields).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name]));
  const merge = Object.fromEntries(changed.map(([name, value]) => [name, value ?? null]));
  const { password } = passwordOf(wanted);
  await refuseTakeover(trx, user, 'login' in merge || 'email' in merge || password !== undefined);
  if (changed.length > 0 || password !== undefined) {
    const profile = changed.length > 0 ? { merge: parse(profileChanges, merge) } : undefined;
    await changeUser(within, user.id, { profile, password }, caller.request);
  }
  await keepLink(trx, caller, { user, link, wanted }, changed.length > 0);
  if (wanted.active !== undefined && wanted.active !== isActiveStatus(user.status)) {
    const step = !wanted.active ? 'deactivate' : user.status === 'SUSPENDED' ? 'unsuspend' : 'activate';
    await takeStep(within, user.id, step, caller.request);
  }
}

/**
 * Prevents takeover of an administrator: with a changed name, address or password the client could sign in with rights that the SCIM token lacks.
 * @throws {ScimError} forbidden
 */
async function refuseTakeover(trx: Executor, user: User, isOfSignIn: boolean): Promise<void> {
  if (!isOfSignIn || (await findRights(trx, user.id)).length === 0) return;
  throw new ScimError(
    403,
    undefined,
    'userName, e-mail address and password of administrators cannot be changed with SCIM. Use the console',
  );
}

/** @param hasEvent has the change already been recorded? */
async function keepLink(trx: Executor, caller: ScimCaller, { user, link, wanted }: Change, hasEvent: boolean): Promise<void> {
  const isRenamed = wanted.externalId !== link.externalId;
  if (!isRenamed && isDeepStrictEqual(wanted.labels, link.labels)) return;
  await saveUserLink(trx, caller.tokenId, user.id, wanted);
  if (hasEvent && !isRenamed) return;
  await recordEvent(trx, {
    eventType: 'user.account.update_profile',
    displayMessage: 'Update user profile',
    request: caller.request,
    targets: [userTarget(user)],
    before: { externalId: link.externalId, labels: link.labels },
    after: { externalId: wanted.externalId, labels: wanted.labels },
  });
}

const withoutNothing = (fields: Fields) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/** @throws {ApiError} validation of `password` */
function passwordOf({ password }: WantedUser): { readonly password?: string | undefined } {
  if (password === undefined) return {};
  return { password: parse(userCredentials, { password: { value: password } }).password?.value };
}
