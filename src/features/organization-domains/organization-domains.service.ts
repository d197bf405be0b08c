/**
 * Domains of organizations, verified by a TXT record. A verified domain belongs to one organization; only callers who can also verify it learn
 * whether another one has it. It remains verified until it is removed (docs/decisions/0081).
 */
import { present } from '../../platform/clock/clock.ts';
import { randomToken } from '../../platform/crypto/secrets.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import type { Page, Window } from '../../platform/database/paging.ts';
import { txtRecords } from '../../platform/dns/dns.ts';
import { conflict, notFound, wrongState } from '../../platform/errors/errors.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { checkReadable, lockForChange, target as organizationTarget } from '../organizations/organizations.service.ts';
import { type Organization, organizationExists } from '../organizations/organizations.store.ts';
import { challengeName, MOST_DOMAINS, type OrganizationDomain } from './organization-domains.resource.ts';
import {
  countDomains,
  deleteDomainRow,
  findDomain,
  insertDomain,
  listVerifiedDomains,
  markVerified,
  selectDomains,
} from './organization-domains.store.ts';

/** Oldest first. @throws {ApiError} not found: the organization */
export async function listDomains(
  { database: { knex } }: Services,
  orgId: string,
  window: Window,
  request: RequestContext,
): Promise<Page<OrganizationDomain>> {
  checkReadable(orgId, request, 'MANAGE_DOMAINS');
  if (!(await organizationExists(knex, orgId))) throw notFound(orgId, 'Organization');
  return selectDomains(knex, orgId, window);
}

/** Verified domains of the organization in alphabetical order. @throws {ApiError} not found */
export function verifiedDomains({ database: { knex } }: Services, orgId: string, request: RequestContext): Promise<readonly string[]> {
  checkReadable(orgId, request, 'MANAGE_PROVIDERS');
  return listVerifiedDomains(knex, orgId);
}

/** @throws {ApiError} not found: the organization or the domain */
export async function getDomain(services: Services, orgId: string, domain: string, request: RequestContext): Promise<OrganizationDomain> {
  checkReadable(orgId, request, 'MANAGE_DOMAINS');
  return found(await findDomain(services.database.knex, orgId, domain), domain);
}

/**
 * Claims a domain. It takes effect when it is verified; until then, any number of organizations can claim it.
 * @param domain in ASCII
 * @throws {ApiError} not found, forbidden: the organization; conflict: it already has the domain; wrong state: it has too many
 */
export function addDomain(services: Services, orgId: string, domain: string, request: RequestContext): Promise<OrganizationDomain> {
  return services.database.transaction(async (trx) => {
    const organization = await lockForChange(trx, orgId, request, 'MANAGE_DOMAINS');
    if ((await countDomains(trx, orgId)) >= MOST_DOMAINS)
      throw wrongState(`the organization already has ${MOST_DOMAINS} domains. Remove one first`);
    const claimed = { orgId, domain, challenge: `gatehouse-domain-verification=${randomToken()}`, created: present(), verified: null };
    if (!(await insertDomain(trx, claimed))) throw conflict({ field: 'domain', message: 'is already a domain of this organization' });
    await recordEvent(trx, {
      eventType: 'org.domain.add',
      displayMessage: 'Add domain to organization',
      request,
      targets: targets(claimed, organization),
      after: { domain },
    });
    return claimed;
  });
}

/**
 * Looks up the TXT record and verifies the domain. A verified domain is returned unchanged.
 * @throws {ApiError} not found, forbidden; wrong state: the record does not exist, or DNS does not respond; conflict: another organization has
 * verified the domain
 */
export async function verifyDomain(
  services: Services,
  orgId: string,
  domain: string,
  request: RequestContext,
): Promise<OrganizationDomain> {
  const { database, config } = services;
  const claimed = await database.transaction(async (trx) => {
    await lockForChange(trx, orgId, request, 'MANAGE_DOMAINS');
    return found(await findDomain(trx, orgId, domain), domain);
  });
  if (claimed.verified !== null) return claimed;
  const name = challengeName(domain);
  const records = await txtRecords(config, name);
  if (records === 'unreachable') throw wrongState(`DNS did not answer for ${name}. Try again in a few minutes`);
  if (!records.includes(claimed.challenge))
    throw wrongState(
      `the TXT record ${name} with the value ${claimed.challenge} was not found. DNS changes can take an hour. Try again later`,
    );
  return database.transaction(async (trx) => {
    const organization = await lockForChange(trx, orgId, request, 'MANAGE_DOMAINS');
    const verified = present();
    const outcome = await markVerified(trx, orgId, domain, verified);
    if (outcome === 'taken') throw conflict({ field: 'domain', message: 'another organization has verified this domain' });
    if (outcome === 'gone') return found(await findDomain(trx, orgId, domain), domain);
    await recordEvent(trx, {
      eventType: 'org.domain.verify',
      displayMessage: 'Verify domain of organization',
      request,
      targets: targets(claimed, organization),
      before: { domain, verified: null },
      after: { domain, verified },
    });
    return { ...claimed, verified };
  });
}

/** @throws {ApiError} not found, forbidden; wrong state: an identity provider is connected for the domain */
export async function removeDomain(services: Services, orgId: string, domain: string, request: RequestContext): Promise<void> {
  await services.database.transaction(async (trx) => {
    const organization = await lockForChange(trx, orgId, request, 'MANAGE_DOMAINS');
    const before = found(await findDomain(trx, orgId, domain), domain);
    if ((await deleteDomainRow(trx, orgId, domain)) === 'used')
      throw wrongState('an identity provider of the organization uses this domain. Remove the domain from its settings first');
    await recordEvent(trx, {
      eventType: 'org.domain.remove',
      displayMessage: 'Remove domain from organization',
      request,
      targets: targets(before, organization),
      before: { domain, verified: before.verified },
    });
  });
}

function found(domain: OrganizationDomain | undefined, name: string): OrganizationDomain {
  if (domain === undefined) throw notFound(name, 'Domain');
  return domain;
}

const targets = ({ domain }: Pick<OrganizationDomain, 'domain'>, organization: Organization) => [
  { id: domain, type: 'Domain', displayName: domain },
  organizationTarget(organization),
];
