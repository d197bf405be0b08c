/** Identity providers of organizations, with their domains. The only SQL that writes those tables. */
import type { Knex } from 'knex';
import type { Executor } from '../../platform/database/database.ts';
import { violatedConstraint } from '../../platform/database/database-failures.ts';
import { type Page, readPage, type Window } from '../../platform/database/paging.ts';
import { applyWords } from '../../platform/database/words.ts';
import { shownDomain } from '../../platform/dns/domain-name.ts';
import type { OrganizationProvider } from './organization-providers.resource.ts';

type Row = Omit<OrganizationProvider, 'domains'> & { readonly domains: string[] | null };

const DOMAINS = `(SELECT array_agg(d.domain ORDER BY d.domain) FROM organization_provider_domains d
  WHERE d.org_id = o.org_id AND d.idp_id = o.idp_id)`;

const SPELLINGS = `(SELECT string_agg(d.domain || ' ' || d.spelling, ' ') FROM organization_provider_domains d
  WHERE d.org_id = o.org_id AND d.idp_id = o.idp_id)`;

const COLUMNS = {
  orgId: 'o.org_id',
  idpId: 'o.idp_id',
  name: 'i.name',
  status: 'i.status',
  mode: 'o.mode',
  autoJoin: 'o.auto_join',
  defaultDepId: 'o.default_dep_id',
  created: 'o.created',
  lastUpdated: 'o.last_updated',
} as const;

const providersOf = (executor: Executor, orgId: string) =>
  executor('organization_providers AS o').join('identity_providers AS i', 'i.id', 'o.idp_id').where('o.org_id', orgId);

const complete = (row: Row): OrganizationProvider => ({ ...row, domains: row.domains ?? [] });

/** Searches by words of the name and of the domains, in ASCII or as displayed. An organization has few domains, so no index is needed. */
const applyProviderSearch = (query: Knex.QueryBuilder, typed: string): void => applyWords(query, ['i.name', SPELLINGS], typed);

/** Oldest first. */
export async function selectOrganizationProviders(executor: Executor, orgId: string, window: Window): Promise<Page<OrganizationProvider>> {
  const columns = { ...COLUMNS, domains: executor.raw(DOMAINS) };
  const { items, ...rest } = await readPage<Row>(providersOf(executor, orgId), columns, window, {
    by: 'o.seq',
    search: applyProviderSearch,
  });
  return { items: items.map(complete), ...rest };
}

export async function findOrganizationProvider(
  executor: Executor,
  orgId: string,
  idpId: string,
): Promise<OrganizationProvider | undefined> {
  const row = await providersOf(executor, orgId)
    .where('o.idp_id', idpId)
    .first<Row | undefined>(COLUMNS, executor.raw(`${DOMAINS} AS domains`));
  return row && complete(row);
}

export type ProviderMismatch =
  | { readonly field: 'defaultDepId' }
  | { readonly field: 'domains'; readonly domain: string; readonly why: 'unverified' | 'required elsewhere' };

/** @returns the conflict that prevented it; the transaction can then only be rolled back */
export async function putOrganizationProvider(
  trx: Executor,
  { orgId, idpId, domains, mode, autoJoin, defaultDepId, created, lastUpdated }: Omit<OrganizationProvider, 'name' | 'status'>,
): Promise<ProviderMismatch | undefined> {
  const key = { org_id: orgId, idp_id: idpId };
  const settings = { mode, auto_join: autoJoin, default_dep_id: defaultDepId, last_updated: lastUpdated };
  try {
    await trx('organization_providers')
      .insert({ ...key, ...settings, created })
      .onConflict(['org_id', 'idp_id'])
      .merge(settings);
  } catch (error) {
    if (violatedConstraint(error) === 'organization_providers_department') return { field: 'defaultDepId' };
    throw error;
  }
  // The lock keeps the verified domains until the commit.
  const verified = await trx('organization_domains')
    .where({ org_id: orgId })
    .whereIn('domain', [...domains])
    .whereNotNull('verified')
    .forKeyShare()
    .pluck('domain');
  const unverified = domains.find((domain) => !verified.includes(domain));
  if (unverified !== undefined) return { field: 'domains', domain: unverified, why: 'unverified' };
  await trx('organization_provider_domains').where(key).delete();
  await trx('identity_providers').where({ id: key.idp_id }).update({ of_organization: true });
  for (const domain of domains) {
    try {
      await trx('organization_provider_domains').insert({ ...key, domain, spelling: shownDomain(domain), required: mode === 'REQUIRED' });
    } catch (error) {
      if (violatedConstraint(error) === 'organization_provider_domains_required')
        return { field: 'domains', domain, why: 'required elsewhere' };
      throw error;
    }
  }
  return undefined;
}

export async function deleteOrganizationProvider(trx: Executor, orgId: string, idpId: string): Promise<void> {
  await trx('organization_providers').where({ org_id: orgId, idp_id: idpId }).delete();
}

/** Does or did the provider belong to an organization? Then only users of its domains see it, and it is not trusted for other addresses. */
export async function isOrganizationProvider(executor: Executor, idpId: string): Promise<boolean> {
  return (await executor('identity_providers').where({ id: idpId, of_organization: true }).first('id')) !== undefined;
}

/** Is the provider used for a domain, or by another organization? */
export async function isUsedBeyond(executor: Executor, idpId: string, orgId: string): Promise<boolean> {
  const elsewhere = await executor('organization_providers').where({ idp_id: idpId }).whereNot({ org_id: orgId }).first('idp_id');
  return (
    elsewhere !== undefined || (await executor('organization_provider_domains').where({ idp_id: idpId }).first('idp_id')) !== undefined
  );
}

/** Settings of a connection for addresses of one of its domains. */
export interface DomainConnection {
  readonly orgId: string;
  readonly orgName: string;
  readonly isRequired: boolean;
  readonly autoJoin: boolean;
  readonly defaultDepId: string | null;
}

/** @returns the organization that has connected the domain with the provider; it has verified the domain */
export async function findDomainConnection(executor: Executor, idpId: string, domain: string): Promise<DomainConnection | undefined> {
  return executor('organization_provider_domains AS d')
    .join('organization_providers AS o', { 'o.org_id': 'd.org_id', 'o.idp_id': 'd.idp_id' })
    .join('organizations AS g', 'g.id', 'd.org_id')
    .where({ 'd.idp_id': idpId, 'd.domain': domain })
    .first<DomainConnection | undefined>({
      orgId: 'd.org_id',
      orgName: 'g.name',
      isRequired: 'd.required',
      autoJoin: 'o.auto_join',
      defaultDepId: 'o.default_dep_id',
    });
}

/** @returns the organization that has connected a provider for the domain, which it has verified */
export async function findConnectedOrganization(executor: Executor, domain: string | undefined): Promise<string | undefined> {
  const row = await executor('organization_provider_domains')
    .where({ domain: domain ?? '' })
    .first<{ org_id: string } | undefined>('org_id');
  return row?.org_id;
}

interface UnusableProvider extends Pick<OrganizationProvider, 'name' | 'status'> {
  readonly orgName: string;
}

/** Required providers that are inactive, or do not link existing users. */
export async function listUnusableProviders(executor: Executor, most: number): Promise<UnusableProvider[]> {
  return executor('organization_providers AS o')
    .join('identity_providers AS i', 'i.id', 'o.idp_id')
    .join('organizations AS g', 'g.id', 'o.org_id')
    .where('o.mode', 'REQUIRED')
    .whereRaw("(i.status <> 'ACTIVE' OR i.policy->'accountLink'->>'action' <> 'AUTO')")
    .orderBy('o.seq')
    .limit(most)
    .select<UnusableProvider[]>({ name: 'i.name', status: 'i.status', orgName: 'g.name' });
}

/** Verified domains without a required provider, of organizations that require one for other domains. */
export async function listOpenDomains(executor: Executor, most: number): Promise<{ readonly domain: string; readonly orgName: string }[]> {
  return executor('organization_domains AS d')
    .join('organizations AS g', 'g.id', 'd.org_id')
    .whereNotNull('d.verified')
    .whereExists(executor('organization_providers AS o').whereRaw("o.org_id = d.org_id AND o.mode = 'REQUIRED'"))
    .whereNotExists(executor('organization_provider_domains AS p').whereRaw('p.domain = d.domain AND p.required'))
    .orderBy('d.seq')
    .limit(most)
    .select<{ domain: string; orgName: string }[]>({ domain: 'd.domain', orgName: 'g.name' });
}
