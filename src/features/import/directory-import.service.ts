/**
 * Organizations, groups, applications and identity providers of an import. An object is created unless one with its name exists; existing ones are
 * unchanged. An existing provider must be the same one, because its accounts sign users in. An existing organization must be the same company,
 * because its members would belong to it.
 */
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { inOneTransaction } from '../../platform/database/one-transaction.ts';
import { validation } from '../../platform/errors/errors.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { createApplicationRole } from '../application-roles/application-roles.service.ts';
import { assign } from '../applications/application-assignments.service.ts';
import { createApplication } from '../applications/applications.service.ts';
import { createGroup } from '../groups/groups.service.ts';
import { identityProviderInput } from '../identity-providers/identity-provider-settings.service.ts';
import { createIdentityProvider, setIdentityProviderStatus } from '../identity-providers/identity-providers.service.ts';
import { putProviderOf } from '../organization-providers/organization-providers.service.ts';
import { createOrganization } from '../organizations/organizations.service.ts';
import {
  type ImportItem,
  importedApplication,
  importedGroup,
  importedOrganization,
  importedProvider,
  reasonsOf,
} from './import-record.service.ts';
import type { ImportRun } from './user-batches.service.ts';
import { type ExistingProvider, findByNames, findClientIds, findOriginId, findProviders } from './user-batches.store.ts';

/** Objects that an import creates in addition to users. */
export type ObjectKind = 'organization' | 'group' | 'application' | 'provider';
export type ObjectItem = Extract<ImportItem, { readonly kind: ObjectKind }>;

/** `created` also in a dry run, if it would be created; `there already`: an existing object is unchanged; `refused` with the reasons. */
export type ObjectOutcome =
  | { readonly state: 'created' | 'there already'; readonly name: string }
  | { readonly state: 'refused'; readonly reasons: readonly string[] };

/** Imports one object in one transaction with its events. */
export async function importObject(run: ImportRun, item: ObjectItem): Promise<ObjectOutcome> {
  try {
    return await KINDS[item.kind](run, item.value);
  } catch (error) {
    return { state: 'refused', reasons: reasonsOf(error) };
  }
}

const RENAME_OR_UNITE = 'Rename one of the two. If both are the same organization, use that external ID in the file';

type Import = (run: ImportRun, value: unknown) => Promise<ObjectOutcome>;

const KINDS: Readonly<Record<ObjectKind, Import>> = {
  organization: (run, value) => notingRefusal(run.refusedOrganizations, value, importOrganization(run, value)),
  async group(run, value) {
    const group = parse(importedGroup, value);
    const isThere = await isGroup(run, group.name);
    return create(run, group.name, isThere, run.planned.groups, () => createGroup(run.services, group, run.request));
  },
  provider: (run, value) => notingRefusal(run.refusedProviders, value, importProvider(run, value)),
  async application(run, value) {
    const given = parse(importedApplication, value);
    const { clientId, label, secret, activate, settings, roles, groups } = given;
    const isThere = (await findClientIds(run.services.database.knex, [clientId])).has(clientId);
    const planned = { add: () => run.planned.applications.set(clientId, new Set(roles.map(({ name }) => name))) };
    return create(run, clientId, isThere, planned, () =>
      inOneTransaction(run.services, async (within, trx) => {
        await createApplication(within, { id: clientId, label, secret, activate, settings }, run.request);
        for (const role of roles) await createApplicationRole(within, clientId, role, run.request);
        await assignGroups(within, trx, run, clientId, groups);
      }),
    );
  },
};

/** Remembers the name of a refused object, so that users of the file are not attached to an existing object with that name. */
async function notingRefusal(refused: Set<string>, value: unknown, importing: Promise<ObjectOutcome>): Promise<ObjectOutcome> {
  try {
    return await importing;
  } catch (error) {
    const { name } = value as { readonly name?: unknown };
    if (typeof name === 'string') refused.add(name.trim());
    throw error;
  }
}

async function importOrganization(run: ImportRun, value: unknown): Promise<ObjectOutcome> {
  const { name, originId } = parse(importedOrganization, value);
  const there = run.planned.organizations.get(name) ?? (await findOriginId(run.services.database.knex, name));
  if (there && there !== originId) {
    const given = originId === '' ? 'the file gives none' : `the file says ${originId}`;
    throw refusal('name', `is taken by an organization with the external ID ${there}; ${given}. ${RENAME_OR_UNITE}`);
  }
  const planned = { add: () => run.planned.organizations.set(name, originId) };
  return create(run, name, there !== undefined, planned, () => createOrganization(run.services, { name, originId }, run.request));
}

async function importProvider(run: ImportRun, value: unknown): Promise<ObjectOutcome> {
  const { activate, organization, ...body } = parse(importedProvider, value);
  const { name } = body;
  if (run.providers.has(name)) throw refusal('name', 'the file has two identity providers with this name. Rename one of them in the file');
  run.providers.add(name);
  if (organization !== undefined && run.refusedOrganizations.has(organization))
    throw refusal('organization', `“${organization}” of the file is refused`);
  const input = identityProviderInput(body);
  const there = await run.services.database.transaction(async (trx) => (await findProviders(trx, [name])).get(name));
  if (there !== undefined && !isSame(there, input))
    throw refusal('name', 'an existing identity provider has this name, but another issuer or client. Rename one of them');
  const planned = { add: () => run.planned.providers.set(name, organization) };
  return create(run, name, there !== undefined, planned, () =>
    inOneTransaction(run.services, async (within, trx) => {
      const { id } = await createIdentityProvider(within, input, run.request);
      if (!activate) await setIdentityProviderStatus(within, id, 'INACTIVE', run.request);
      if (organization === undefined) return;
      const orgId = (await findByNames(trx, 'organizations', [organization])).get(organization);
      if (orgId === undefined) throw refusal('organization', 'does not exist');
      const connection = { domains: [], mode: 'OFFERED' as const, autoJoin: true, defaultDepId: null };
      await putProviderOf(within, orgId, id, connection, run.request);
    }),
  );
}

const refusal = (field: string, message: string) => validation([{ field, message }]);

/** Equal names are not enough: subjects belong to one issuer, and at some issuers to one client. */
const isSame = (there: ExistingProvider, { type, protocol }: ReturnType<typeof identityProviderInput>): boolean =>
  there.type === type && there.issuer === (protocol.issuer?.url ?? null) && there.clientId === protocol.credentials.client.client_id;

const isGroup = async ({ services }: ImportRun, name: string): Promise<boolean> =>
  services.database.transaction(async (trx) => (await findByNames(trx, 'groups', [name])).has(name));

async function create(
  { isDryRun }: ImportRun,
  name: string,
  isThere: boolean,
  planned: { add(name: string): unknown },
  write: () => Promise<unknown>,
): Promise<ObjectOutcome> {
  if (isThere) return { state: 'there already', name };
  if (isDryRun) planned.add(name);
  else await write();
  return { state: 'created', name };
}

async function assignGroups(
  within: Services,
  trx: Executor,
  { request }: ImportRun,
  clientId: string,
  groups: readonly { readonly name: string; readonly roles: readonly string[] }[],
): Promise<void> {
  const ids = await findByNames(
    trx,
    'groups',
    groups.map(({ name }) => name),
  );
  for (const { name, roles } of groups) {
    const id = ids.get(name);
    if (id !== undefined) await assign(within, clientId, { kind: 'group', id }, request, roles);
  }
}
