/**
 * Writes many users at once with all their data, one statement for each kind of data. In addition to the stores of users, groups, memberships,
 * factors, links and assignments, the only SQL that writes those tables.
 */
import { type Columns, toRow } from '../../platform/database/columns.ts';
import type { Executor } from '../../platform/database/database.ts';
import { asciiAddress } from '../../platform/dns/address-spelling.ts';
import type { Factor } from '../second-factors/factors.store.ts';
import type { User } from '../users/users.resource.ts';
import { USER_COLUMNS } from '../users/users.store.ts';

/**
 * Locks are taken in a fixed order, so that two transactions do not wait for each other. The keys are the same as for single users
 * (features/users/users.store.ts).
 */
const LOCK_NAMES = `SELECT pg_advisory_xact_lock(key) FROM (
  SELECT DISTINCT hashtextextended('user name ' || lower(name), 0) AS key FROM unnest(CAST(? AS text[])) AS name ORDER BY 1) AS keys`;

/** Reserves these user names and e-mail addresses until the transaction ends. */
export async function lockUserNames(trx: Executor, names: readonly string[]): Promise<void> {
  await trx.raw(LOCK_NAMES, [[...names]]);
}

/** Conflicts between the names of a new user and existing users. */
export interface NameFacts {
  /** User name and e-mail address in the form in which they are compared. */
  readonly loginKey: string;
  readonly emailKey: string | null;
  /** Does a user with this user name exist? */
  readonly isThere: boolean;
  readonly loginIsEmail: boolean;
  readonly emailIsLogin: boolean;
}

/** LATERAL with a limit uses the indexes row by row, regardless of the planner's estimates. */
const NAME_FACTS = `SELECT lower(given.login) AS "loginKey", lower(given.email) AS "emailKey", coalesce(there.id, there_ascii.id) IS NOT NULL AS "isThere",
    coalesce(as_email.id, as_email_ascii.id) IS NOT NULL AS "loginIsEmail",
    coalesce(as_login.id, as_login_ascii.id) IS NOT NULL AS "emailIsLogin"
  FROM unnest(CAST(:logins AS text[]), CAST(:emails AS text[]), CAST(:asciiLogins AS text[]), CAST(:asciiEmails AS text[]))
    WITH ORDINALITY AS given(login, email, ascii_login, ascii_email, n)
  LEFT JOIN LATERAL (SELECT id FROM users WHERE lower(login) = lower(given.login) LIMIT 1) AS there ON true
  LEFT JOIN LATERAL (SELECT id FROM users WHERE lower(login) = lower(given.ascii_login) LIMIT 1) AS there_ascii ON true
  LEFT JOIN LATERAL (SELECT id FROM users WHERE lower(email) = lower(given.login) LIMIT 1) AS as_email ON true
  LEFT JOIN LATERAL (SELECT id FROM users WHERE lower(email) = lower(given.ascii_login) LIMIT 1) AS as_email_ascii ON true
  LEFT JOIN LATERAL (SELECT id FROM users WHERE lower(login) = lower(given.email) LIMIT 1) AS as_login ON true
  LEFT JOIN LATERAL (SELECT id FROM users WHERE lower(login) = lower(given.ascii_email) LIMIT 1) AS as_login_ascii ON true
  ORDER BY n`;

/** @returns the facts about each user, in the given order */
export async function findNameFacts(executor: Executor, users: readonly Pick<User, 'login' | 'email'>[]): Promise<readonly NameFacts[]> {
  const [logins, emails] = [users.map(({ login }) => login), users.map(({ email }) => email)];
  // null if there is no other spelling: then nothing is looked up.
  const otherOf = (name: string | null) => (name === null || asciiAddress(name) === name ? null : asciiAddress(name));
  const names = { logins, emails, asciiLogins: logins.map(otherOf), asciiEmails: emails.map(otherOf) };
  return (await executor.raw<{ rows: NameFacts[] }>(NAME_FACTS, names)).rows;
}

/** Columns of a row set, each `name type`. */
const columnsOf = (types: Readonly<Record<string, string>>): string =>
  Object.entries(types)
    .map((pair) => pair.join(' '))
    .join(', ');

const insertion = (table: string, types: Readonly<Record<string, string>>): string =>
  `INSERT INTO ${table} (${Object.keys(types).join(', ')}) SELECT * FROM jsonb_to_recordset(CAST(? AS jsonb)) AS r (${columnsOf(types)})`;

async function insertAll(trx: Executor, statement: string, rows: readonly object[]): Promise<void> {
  if (rows.length > 0) await trx.raw(statement, [JSON.stringify(rows)]);
}

const TIMES = new Set<string>([
  ...[USER_COLUMNS.lockedUntil, USER_COLUMNS.passwordChanged, USER_COLUMNS.created, USER_COLUMNS.activated],
  ...[USER_COLUMNS.approvalRequested, USER_COLUMNS.statusChanged, USER_COLUMNS.lastLogin, USER_COLUMNS.lastUpdated],
]);
const typeOf = (column: string): string =>
  TIMES.has(column)
    ? 'timestamptz'
    : column === USER_COLUMNS.emailVerified
      ? 'boolean'
      : column === USER_COLUMNS.profile
        ? 'jsonb'
        : 'text';

const INSERT_USERS = insertion('users', Object.fromEntries(Object.values(USER_COLUMNS).map((column) => [column, typeOf(column)])));

/** @param users whose names are locked and not taken */
export const insertUsers = (trx: Executor, users: readonly User[]): Promise<void> =>
  insertAll(
    trx,
    INSERT_USERS,
    users.map((user) => toRow<User>(USER_COLUMNS, user)),
  );

export interface NewMembership {
  readonly org_id: string;
  readonly dep_id: string | null;
  readonly user_id: string;
  readonly created: Date;
}
const INSERT_MEMBERSHIPS = insertion('memberships', { org_id: 'text', dep_id: 'text', user_id: 'text', created: 'timestamptz' });
export const insertMemberships = (trx: Executor, rows: readonly NewMembership[]): Promise<void> => insertAll(trx, INSERT_MEMBERSHIPS, rows);

export interface NewGroupMember {
  readonly group_id: string;
  readonly user_id: string;
  readonly created: Date;
}
const INSERT_GROUP_MEMBERS = insertion('group_members', { group_id: 'text', user_id: 'text', created: 'timestamptz' });
export const insertGroupMembers = (trx: Executor, rows: readonly NewGroupMember[]): Promise<void> =>
  insertAll(trx, INSERT_GROUP_MEMBERS, rows);

const FACTOR: Columns<Omit<Factor, 'lastUsed'>> & { readonly lastStep: string } = {
  ...{ id: 'id', userId: 'user_id', type: 'type', name: 'name', created: 'created' },
  ...{ sealedSecret: 'sealed_secret', lastStep: 'last_step' },
};
const INSERT_FACTORS = insertion('user_factors', {
  ...{ id: 'text', user_id: 'text', type: 'text', name: 'text', created: 'timestamptz' },
  ...{ sealed_secret: 'text', last_step: 'bigint' },
});
/** Inserts factors whose codes have never been used here. */
export const insertFactors = (trx: Executor, factors: readonly Factor[]): Promise<void> =>
  insertAll(
    trx,
    INSERT_FACTORS,
    factors.map(({ lastUsed: _, ...factor }) => toRow(FACTOR, { ...factor, lastStep: 0 })),
  );

export interface NewLink {
  readonly idp_id: string;
  readonly subject: string;
  readonly user_id: string;
  readonly known_as: string | null;
  readonly created: Date;
}
const INSERT_LINKS = insertion('identity_provider_links', {
  ...{ idp_id: 'text', subject: 'text', user_id: 'text', known_as: 'text', created: 'timestamptz' },
});
/** @param rows links whose subjects are not taken */
export const insertLinks = (trx: Executor, rows: readonly NewLink[]): Promise<void> => insertAll(trx, INSERT_LINKS, rows);

export interface NewAssignment {
  readonly application_id: string;
  readonly user_id: string;
  readonly created: Date;
}
const INSERT_ASSIGNMENTS = insertion('application_users', { application_id: 'text', user_id: 'text', created: 'timestamptz' });
export const insertAssignments = (trx: Executor, rows: readonly NewAssignment[]): Promise<void> => insertAll(trx, INSERT_ASSIGNMENTS, rows);

export interface NewAssignedRole {
  readonly application_id: string;
  readonly user_id: string;
  readonly role_id: string;
}
const INSERT_ROLES = insertion('application_user_roles', { application_id: 'text', user_id: 'text', role_id: 'text' });
export const insertAssignedRoles = (trx: Executor, rows: readonly NewAssignedRole[]): Promise<void> => insertAll(trx, INSERT_ROLES, rows);

/** Locks the results until the transaction ends. @returns IDs by names */
export async function findByNames(
  trx: Executor,
  table: 'groups' | 'organizations',
  names: readonly string[],
): Promise<Map<string, string>> {
  if (names.length === 0) return new Map();
  const rows: { id: string; name: string }[] = await trx(table)
    .whereIn('name', [...names])
    .orderBy('id')
    .forKeyShare()
    .select('id', 'name');
  return new Map(rows.map(({ id, name }) => [name, id]));
}

/** @returns the external ID of the organization with this name, empty if it has none; undefined: the organization does not exist */
export async function findOriginId(executor: Executor, name: string): Promise<string | undefined> {
  const [originId] = await executor('organizations').where({ name }).pluck<string[]>('origin_id');
  return originId;
}

/** Locks the results as `findByNames` does. @returns labels of the existing applications by client ID */
export async function findApplicationsAmong(trx: Executor, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows: { id: string; label: string }[] = await trx('applications')
    .whereIn('id', [...ids])
    .where({ system: false })
    .orderBy('id')
    .forKeyShare()
    .select('id', 'label');
  return new Map(rows.map(({ id, label }) => [id, label]));
}

/** @returns role IDs by client ID and name */
export async function findRolesOf(trx: Executor, applicationIds: readonly string[]): Promise<Map<string, Map<string, string>>> {
  const found = new Map<string, Map<string, string>>(applicationIds.map((id) => [id, new Map()]));
  if (applicationIds.length === 0) return found;
  const rows: { id: string; name: string; application_id: string }[] = await trx('application_roles')
    .whereIn('application_id', [...applicationIds])
    .orderBy('id')
    .forKeyShare()
    .select('id', 'name', 'application_id');
  for (const { id, name, application_id } of rows) found.get(application_id)?.set(name, id);
  return found;
}

/** @returns the existing ones of these IDs */
export async function findOrganizationsAmong(trx: Executor, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  return new Set(
    await trx('organizations')
      .whereIn('id', [...ids])
      .orderBy('id')
      .forKeyShare()
      .pluck<string[]>('id'),
  );
}

/** @returns the existing departments, with the IDs of their organizations */
export async function findDepartmentsAmong(trx: Executor, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows: { id: string; org_id: string }[] = await trx('departments')
    .whereIn('id', [...ids])
    .orderBy('id')
    .forKeyShare()
    .select('id', 'org_id');
  return new Map(rows.map(({ id, org_id }) => [id, org_id]));
}

/** An existing identity provider: whether it is the same as in the file, and whose users can have accounts there. */
export interface ExistingProvider {
  readonly id: string;
  readonly type: string;
  /** null: the issuer is built in for its type. */
  readonly issuer: string | null;
  readonly clientId: string;
  /** Connected organizations; null: the provider belongs to the whole service. */
  readonly orgIds: readonly string[] | null;
}

const PROVIDERS = `SELECT p.name, p.id, p.type, p.protocol->'issuer'->>'url' AS issuer, p.protocol->'credentials'->'client'->>'client_id' AS "clientId",
    CASE WHEN p.of_organization THEN ARRAY(SELECT o.org_id FROM organization_providers o WHERE o.idp_id = p.id) END AS "orgIds"
  FROM identity_providers p WHERE p.name = ANY(CAST(? AS text[])) ORDER BY p.id FOR KEY SHARE OF p`;

/** Like `findByNames`. @returns the providers by name */
export async function findProviders(trx: Executor, names: readonly string[]): Promise<Map<string, ExistingProvider>> {
  if (names.length === 0) return new Map();
  const { rows } = await trx.raw<{ rows: (ExistingProvider & { readonly name: string })[] }>(PROVIDERS, [[...names]]);
  return new Map(rows.map(({ name, ...provider }) => [name, provider]));
}

const LINKED = `SELECT l.idp_id || ' ' || l.subject AS key FROM identity_provider_links l
  JOIN unnest(CAST(:idps AS text[]), CAST(:subjects AS text[])) AS given(idp_id, subject) ON given.idp_id = l.idp_id AND given.subject = l.subject`;

/** @returns those pairs that are linked to a user, each as provider ID, space and subject */
export async function findLinkedSubjects(
  trx: Executor,
  pairs: readonly { readonly idpId: string; readonly subject: string }[],
): Promise<Set<string>> {
  if (pairs.length === 0) return new Set();
  const bindings = { idps: pairs.map(({ idpId }) => idpId), subjects: pairs.map(({ subject }) => subject) };
  const { rows } = await trx.raw<{ rows: { key: string }[] }>(LINKED, bindings);
  return new Set(rows.map(({ key }) => key));
}

/** @returns those client IDs that are taken, including those of the service's own applications */
export const findClientIds = async (executor: Executor, ids: readonly string[]): Promise<Set<string>> =>
  new Set(
    await executor('applications')
      .whereIn('id', [...ids])
      .pluck<string[]>('id'),
  );
