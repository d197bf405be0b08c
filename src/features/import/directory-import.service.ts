/** Organizations, groups, applications and identity providers of an import: each is created where there is none of its name, and otherwise left as it is. */
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { inOneTransaction } from '../../platform/database/one-transaction.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { createApplicationRole } from '../application-roles/application-roles.service.ts';
import { assign } from '../applications/application-assignments.service.ts';
import { createApplication } from '../applications/applications.service.ts';
import { createGroup } from '../groups/groups.service.ts';
import { identityProviderInput } from '../identity-providers/identity-provider-settings.service.ts';
import { createIdentityProvider, setIdentityProviderStatus } from '../identity-providers/identity-providers.service.ts';
import { createOrganization } from '../organizations/organizations.service.ts';
import { reasonsOf } from './formats/reasons.service.ts';
import { type ImportItem, importedApplication, importedGroup, importedOrganization, importedProvider } from './import-record.service.ts';
import type { ImportRun } from './user-batches.service.ts';
import { findByNames, findClientIds } from './user-batches.store.ts';

/** What an import creates beside users. */
export type ThingKind = 'organization' | 'group' | 'application' | 'provider';
export type ThingItem = Extract<ImportItem, { readonly kind: ThingKind }>;

/** Created, or in a dry run to be created; there already, and left as it is; or why it is refused. */
export type ThingOutcome =
  | { readonly state: 'created' | 'there already'; readonly name: string }
  | { readonly state: 'refused'; readonly reasons: readonly string[] };

/** One thing in one transaction with its events. */
export async function importThing(run: ImportRun, item: ThingItem): Promise<ThingOutcome> {
  try {
    return await KINDS[item.kind](run, item.value);
  } catch (error) {
    return { state: 'refused', reasons: reasonsOf(error) };
  }
}

type Import = (run: ImportRun, value: unknown) => Promise<ThingOutcome>;

const KINDS: Readonly<Record<ThingKind, Import>> = {
  async organization(run, value) {
    const { name, originId } = parse(importedOrganization, value);
    const isThere = await isNamed(run, 'organizations', name);
    return create(run, name, isThere, run.planned.organizations, () => createOrganization(run.services, { name, originId }, run.request));
  },
  async group(run, value) {
    const group = parse(importedGroup, value);
    const isThere = await isNamed(run, 'groups', group.name);
    return create(run, group.name, isThere, run.planned.groups, () => createGroup(run.services, group, run.request));
  },
  async provider(run, value) {
    const { activate, ...body } = parse(importedProvider, value);
    const isThere = await isNamed(run, 'identity_providers', body.name);
    return create(run, body.name, isThere, run.planned.providers, () =>
      inOneTransaction(run.services, async (within) => {
        const { id } = await createIdentityProvider(within, identityProviderInput(body), run.request);
        if (!activate) await setIdentityProviderStatus(within, id, 'INACTIVE', run.request);
      }),
    );
  },
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

const isNamed = async ({ services }: ImportRun, table: 'organizations' | 'groups' | 'identity_providers', name: string): Promise<boolean> =>
  services.database.transaction(async (trx) => (await findByNames(trx, table, [name])).has(name));

async function create(
  { isDryRun }: ImportRun,
  name: string,
  isThere: boolean,
  planned: { add(name: string): unknown },
  write: () => Promise<unknown>,
): Promise<ThingOutcome> {
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
