/** References of imported users: organizations, groups, applications with roles, and accounts at identity providers. */
import type { Executor } from '../../platform/database/database.ts';
import type { ImportedUser } from './import-record.service.ts';
import {
  type ExistingProvider,
  findApplicationsAmong,
  findByNames,
  findDepartmentsAmong,
  findLinkedSubjects,
  findOrganizationsAmong,
  findProviders,
  findRolesOf,
} from './user-batches.store.ts';

/** Existing referenced objects, locked until the transaction ends. */
export interface References {
  readonly organizations: ReadonlyMap<string, string>;
  readonly orgIds: ReadonlySet<string>;
  readonly departments: ReadonlyMap<string, string>;
  readonly groups: ReadonlyMap<string, string>;
  readonly providers: ReadonlyMap<string, ExistingProvider>;
  /** Labels by client ID. */
  readonly applications: ReadonlyMap<string, string>;
  /** IDs by client ID and name. */
  readonly roles: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** Accounts of users: the provider's ID, a space and the subject; those of the batch are added. */
  readonly linked: Set<string>;
}

/** Names of objects that a dry run would have created, and the names inside them. */
interface PlannedNames {
  /** External IDs by name. */
  readonly organizations: Map<string, string>;
  readonly groups: Set<string>;
  /** Name of the owning organization by provider name; undefined: none. */
  readonly providers: Map<string, string | undefined>;
  readonly applications: Map<string, ReadonlySet<string>>;
}

/** Names from the part of a file before its users. */
export interface FileNames {
  /** Objects that a dry run would have created. */
  readonly planned: PlannedNames;
  /** Names of refused identity providers of the file: links to them are refused. */
  readonly refusedProviders: Set<string>;
  /** Names of refused organizations of the file: users do not become members of existing organizations with these names. */
  readonly refusedOrganizations: Set<string>;
}

const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)];

export async function findReferences(trx: Executor, candidates: readonly { readonly given: ImportedUser }[]): Promise<References> {
  const all = <T>(of: (given: ImportedUser) => readonly T[]): T[] => distinct(candidates.flatMap(({ given }) => of(given)));
  const providers = await findProviders(
    trx,
    all(({ links }) => links.map(({ provider }) => provider)),
  );
  const pairs = candidates.flatMap(({ given: { links } }) =>
    links.flatMap(({ provider, subject }) => {
      const idpId = providers.get(provider)?.id;
      return idpId === undefined ? [] : [{ idpId, subject }];
    }),
  );
  const applications = await findApplicationsAmong(
    trx,
    all((given) => given.applications.map(({ clientId }) => clientId)),
  );
  return {
    organizations: await findByNames(
      trx,
      'organizations',
      all((given) => given.organizations),
    ),
    orgIds: await findOrganizationsAmong(
      trx,
      all(({ orgId }) => (orgId === undefined ? [] : [orgId])),
    ),
    departments: await findDepartmentsAmong(
      trx,
      all(({ depId }) => (depId === undefined ? [] : [depId])),
    ),
    groups: await findByNames(
      trx,
      'groups',
      all((given) => given.groups),
    ),
    providers,
    applications,
    roles: await findRolesOf(trx, [...applications.keys()]),
    linked: await findLinkedSubjects(trx, pairs),
  };
}

/** @returns the problems of a user's references: missing objects, and accounts of other users. Without problems, the user's accounts are reserved */
export function referenceProblems(
  references: References,
  { planned, refusedProviders, refusedOrganizations }: FileNames,
  given: ImportedUser,
): string[] {
  const problems: string[] = [];
  const unless = (right: boolean, field: string, message: string) => {
    if (!right) problems.push(`${field}: ${message}`);
  };
  const { orgId, depId } = given;
  unless(orgId === undefined || references.orgIds.has(orgId), 'orgId', 'does not exist');
  unless(depId === undefined || references.departments.get(depId) === orgId, 'depId', 'does not exist');
  for (const [at, name] of given.organizations.entries()) {
    const isThere = references.organizations.has(name) || planned.organizations.has(name);
    unless(!refusedOrganizations.has(name), `organizations.${at}`, `“${name}” of the file is refused`);
    unless(isThere, `organizations.${at}`, `“${name}” does not exist`);
  }
  for (const [at, name] of given.groups.entries())
    unless(references.groups.has(name) || planned.groups.has(name), `groups.${at}`, `“${name}” does not exist`);
  for (const [at, { clientId, roles }] of given.applications.entries()) {
    const isThere = references.applications.has(clientId) || planned.applications.has(clientId);
    unless(isThere, `applications.${at}.clientId`, `“${clientId}” does not exist`);
    for (const role of isThere ? roles : []) {
      const isKnown = references.roles.get(clientId)?.has(role) === true || planned.applications.get(clientId)?.has(role) === true;
      unless(isKnown, `applications.${at}.roles`, `“${role}” is not a role of the application`);
    }
  }
  problems.push(...linkProblems(references, planned, refusedProviders, given));
  return problems;
}

function linkProblems(references: References, planned: PlannedNames, refusedProviders: ReadonlySet<string>, given: ImportedUser): string[] {
  const { providers, linked } = references;
  const { links } = given;
  const problems: string[] = [];
  const own: string[] = [];
  for (const [at, { provider, subject }] of links.entries()) {
    const there = providers.get(provider);
    const key = `${there?.id ?? provider} ${subject}`;
    if (refusedProviders.has(provider)) problems.push(`links.${at}.provider: “${provider}” of the file is refused`);
    else if (there === undefined && !planned.providers.has(provider)) problems.push(`links.${at}.provider: “${provider}” does not exist`);
    else if (!isForUser(there?.orgIds, planned.providers.get(provider), references, given))
      problems.push(`links.${at}.provider: “${provider}” belongs to an organization that the user is not in`);
    else if (links.findIndex((one) => one.provider === provider) < at)
      problems.push(`links.${at}.provider: a user has one account at a provider`);
    else if (linked.has(key)) problems.push(`links.${at}.subject: another user has this account`);
    own.push(key);
  }
  if (problems.length === 0) for (const key of own) linked.add(key);
  return problems;
}

/** Can the user have an account at the provider? An organization controls its provider, so only its own members can. */
function isForUser(
  orgIds: readonly string[] | null | undefined,
  plannedOrganization: string | undefined,
  { organizations }: References,
  given: ImportedUser,
): boolean {
  if (plannedOrganization !== undefined) return given.organizations.includes(plannedOrganization);
  if (orgIds === undefined || orgIds === null) return true;
  const own = [given.orgId, ...given.organizations.map((name) => organizations.get(name))];
  return orgIds.some((id) => own.includes(id));
}
