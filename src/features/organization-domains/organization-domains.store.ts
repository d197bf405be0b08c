/** Domains of organizations. The only SQL that writes that table. */
import { type Columns, columns, toRow } from '../../platform/database/columns.ts';
import type { Executor } from '../../platform/database/database.ts';
import { violatedConstraint } from '../../platform/database/database-failures.ts';
import { type Page, readPage, type Window } from '../../platform/database/paging.ts';
import type { OrganizationDomain } from './organization-domains.resource.ts';

const DOMAIN: Columns<OrganizationDomain> = columns('orgId', 'domain', 'challenge', 'created', 'verified');

/** @returns false if the organization already has the domain */
export async function insertDomain(trx: Executor, domain: OrganizationDomain): Promise<boolean> {
  return (
    (await trx('organization_domains').insert(toRow(DOMAIN, domain)).onConflict(['org_id', 'domain']).ignore().returning('domain'))
      .length === 1
  );
}

/** Oldest first. */
export const selectDomains = (executor: Executor, orgId: string, window: Window): Promise<Page<OrganizationDomain>> =>
  readPage<OrganizationDomain>(executor('organization_domains').where({ org_id: orgId }), DOMAIN, window);

export async function findDomain(executor: Executor, orgId: string, domain: string): Promise<OrganizationDomain | undefined> {
  return executor('organization_domains').where({ org_id: orgId, domain }).first<OrganizationDomain | undefined>(DOMAIN);
}

export async function countDomains(executor: Executor, orgId: string): Promise<number> {
  const row = await executor('organization_domains').where({ org_id: orgId }).first<{ n: number }>(executor.raw('count(*)::int AS n'));
  return row.n;
}

/** In alphabetical order. */
export async function listVerifiedDomains(executor: Executor, orgId: string): Promise<string[]> {
  return executor('organization_domains').where({ org_id: orgId }).whereNotNull('verified').orderBy('domain').pluck('domain');
}

/** Has one of these organizations verified the domain? @param domain in ASCII */
export async function hasVerifiedDomain(executor: Executor, orgIds: readonly string[], domain: string): Promise<boolean> {
  const found = executor('organization_domains').where({ domain }).whereNotNull('verified').whereIn('org_id', orgIds);
  return (await found.first('domain')) !== undefined;
}

/**
 * @returns `taken`: another organization has verified it; the transaction can then only be rolled back. `gone`: it was verified or removed meanwhile
 */
export async function markVerified(trx: Executor, orgId: string, domain: string, verified: Date): Promise<'verified' | 'taken' | 'gone'> {
  try {
    const count = await trx('organization_domains').where({ org_id: orgId, domain, verified: null }).update({ verified });
    return count === 1 ? 'verified' : 'gone';
  } catch (error) {
    if (violatedConstraint(error) === 'organization_domains_verified') return 'taken';
    throw error;
  }
}

/** @returns `used`: an identity provider of the organization is connected for it; the transaction can then only be rolled back */
export async function deleteDomainRow(trx: Executor, orgId: string, domain: string): Promise<'deleted' | 'used'> {
  try {
    await trx('organization_domains').where({ org_id: orgId, domain }).delete();
    return 'deleted';
  } catch (error) {
    if (violatedConstraint(error) === 'organization_provider_domains_verified') return 'used';
    throw error;
  }
}

interface VerifiedDomain extends Pick<OrganizationDomain, 'domain' | 'challenge'> {
  readonly orgName: string;
  /** Challenges of other organizations that also claim the domain. */
  readonly rivals: readonly string[];
}

/** Verified domains; first those that other organizations also claim. */
export async function listAllVerifiedDomains(executor: Executor, most: number): Promise<VerifiedDomain[]> {
  const rivals = `(SELECT coalesce(json_agg(r.challenge), '[]') FROM organization_domains r WHERE r.domain = d.domain AND r.org_id <> d.org_id)`;
  const { rows } = await executor.raw<{ rows: VerifiedDomain[] }>(
    `SELECT d.domain, d.challenge, o.name AS "orgName", ${rivals} AS rivals FROM organization_domains d JOIN organizations o ON o.id = d.org_id
      WHERE d.verified IS NOT NULL
      ORDER BY EXISTS (SELECT FROM organization_domains r WHERE r.domain = d.domain AND r.org_id <> d.org_id) DESC, d.seq LIMIT ?`,
    [most],
  );
  return rows;
}
