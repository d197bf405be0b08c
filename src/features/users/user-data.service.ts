/** All data about a user in one document (Regulation (EU) 2016/679, articles 15 and 20); audit events separately, in pages. */

import { present } from '../../platform/clock/clock.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import type { Page, Window } from '../../platform/database/paging.ts';
import { type FileFormat, listFile } from '../../platform/http/list-files.ts';
import type { AssignedRole } from '../administrators/administration.policy.ts';
import { findRoles } from '../administrators/roles.store.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { listEventsAbout, listEventsNaming } from '../audit/audit-seals.store.ts';
import type { StoredEvent } from '../audit/events.resource.ts';
import type { Consent } from '../consents/consents.resource.ts';
import { listConsents } from '../consents/consents.store.ts';
import { queueNotice } from '../mail/mail.service.ts';
import { listSecondFactors, type SecondFactor } from '../second-factors/factors.service.ts';
import type { TrustedBrowser } from '../trusted-browsers/trusted-browsers.resource.ts';
import { listTrustedBrowsers } from '../trusted-browsers/trusted-browsers.store.ts';
import { currentUserSchema } from '../user-schema/user-schema.service.ts';
import { readUserData, type UserData } from './user-data.store.ts';
import { listUsers, type UserQuery } from './user-lists.service.ts';
import { asUser, findVisibleUser, userTarget } from './user-reach.service.ts';
import { BASE_ATTRIBUTES, type User } from './users.resource.ts';
import { profileFields } from './users.service.ts';
import { lockUser } from './users.store.ts';

// A list of users as a streamed file: CSV (RFC 4180) or newline-delimited JSON.

/** Rows per query. */
const BATCH = 500;
/** Columns that an import ignores. */
export const EXPORT_ONLY = ['id', 'status', 'created', 'lastLogin'] as const;
/** Attributes of the profile, in the order of the columns; custom ones come last. */
export const PROFILE_COLUMNS: readonly string[] = ['login', 'email', 'emailVerified', ...BASE_ATTRIBUTES];

const recordOf = (user: User) => ({
  id: user.id,
  status: user.status,
  created: user.created.toISOString(),
  lastLogin: user.lastLogin?.toISOString() ?? null,
  ...profileFields(user),
});

/**
 * The matching users, oldest first.
 * @throws {ApiError} validation of search or filter
 */
export async function exportUsers(services: Services, query: UserQuery, format: FileFormat, request: RequestContext) {
  // Read the first rows before the response starts, so that an invalid search returns an error.
  const first = await listUsers(services, { ...query, limit: BATCH }, request);
  await recordEvent(services.database.knex, {
    eventType: 'system.export.users',
    displayMessage: 'Export users',
    request,
    after: { format, q: query.q, search: query.search, filter: query.filter },
  });
  async function* records() {
    for (let page = first; ; page = await listUsers(services, { ...query, limit: BATCH, after: page.next }, request)) {
      yield* page.items.map(recordOf);
      if (page.next === undefined) return;
    }
  }
  const { attributes } = await currentUserSchema(services);
  const columns = [...EXPORT_ONLY, ...PROFILE_COLUMNS, ...attributes.map(({ name }) => name)];
  return listFile('users', format, columns, records());
}

/** Maximum consents in one response; no user has more. */
const MOST_CONSENTS = 10_000;

export interface ExportedUser extends UserData {
  readonly user: User;
  readonly roles: readonly AssignedRole[];
  readonly consents: readonly Consent[];
  readonly factors: readonly SecondFactor[];
  readonly trustedBrowsers: readonly TrustedBrowser[];
}

const gather = async (trx: Executor, user: User): Promise<ExportedUser> => ({
  user,
  ...(await readUserData(trx, user.id, present())),
  roles: await findRoles(trx, user.id),
  factors: await listSecondFactors(trx, user.id),
  trustedBrowsers: await listTrustedBrowsers(trx, user.id, new Date(0), present()),
  consents: (await listConsents(trx, user.id, { limit: MOST_CONSENTS })).items,
});

/** For the user. @returns undefined if there is no such user */
export async function exportOwnData({ database }: Services, userId: string, request: RequestContext): Promise<ExportedUser | undefined> {
  return database.transaction(async (trx) => {
    const user = await lockUser(trx, userId);
    if (user === undefined) return undefined;
    const byUser = asUser(request, user);
    await queueNotice(trx, userId, 'data-downloaded', {}, byUser);
    await recordEvent(trx, {
      eventType: 'user.account.export_data',
      displayMessage: 'User downloaded their data',
      request: byUser,
      targets: [userTarget(user)],
    });
    return gather(trx, user);
  });
}

/** Recorded in the audit log, because it is all data about one user. @throws {ApiError} not found */
export async function exportUserData(services: Services, idOrLogin: string, request: RequestContext): Promise<ExportedUser> {
  return services.database.transaction(async (trx) => {
    const user = await findVisibleUser(trx, idOrLogin, request);
    await recordEvent(trx, {
      eventType: 'user.account.export_data',
      displayMessage: 'Export data of user',
      request,
      targets: [userTarget(user)],
    });
    return gather(trx, user);
  });
}

/** Events by and about the user, oldest first, without those of the last seconds. @throws {ApiError} not found */
export async function listUserEvents(
  services: Services,
  idOrLogin: string,
  window: Window,
  request: RequestContext,
): Promise<Page<StoredEvent>> {
  const { knex } = services.database;
  const { id } = await findVisibleUser(knex, idOrLogin, request);
  return listEventsNaming(knex, id, window);
}

/** The same for display: newest first, including the last seconds. @throws {ApiError} not found */
export async function listUserActivity(
  services: Services,
  idOrLogin: string,
  window: Window,
  request: RequestContext,
): Promise<Page<StoredEvent>> {
  const { knex } = services.database;
  const { id } = await findVisibleUser(knex, idOrLogin, request);
  return listEventsAbout(knex, id, window);
}
