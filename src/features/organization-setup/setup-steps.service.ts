/**
 * Steps of a set-up link: a domain, its TXT record, the company's identity provider, and a test sign-in. The first browser claims the link; a
 * successful test sign-in uses it up. Until then the provider is not offered to anyone.
 */
import { present } from '../../platform/clock/clock.ts';
import { digest, randomToken } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { inOneTransaction } from '../../platform/database/one-transaction.ts';
import { domainOfAddress } from '../../platform/dns/domain-name.ts';
import { wrongState } from '../../platform/errors/errors.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { mayCall } from '../administrators/administration.policy.ts';
import { findRights } from '../administrators/roles.store.ts';
import { recordEvent } from '../audit/audit.service.ts';
import { type RequestContext, SYSTEM } from '../audit/audit-event.policy.ts';
import { identityProviderBody, identityProviderInput } from '../identity-providers/identity-provider-settings.service.ts';
import type { IdentityProvider } from '../identity-providers/identity-providers.resource.ts';
import {
  createIdentityProvider,
  identityProviderTarget,
  updateIdentityProvider,
} from '../identity-providers/identity-providers.service.ts';
import { findIdentityProvider, lockIdentityProvider } from '../identity-providers/identity-providers.store.ts';
import type { OrganizationDomain } from '../organization-domains/organization-domains.resource.ts';
import { addDomain, verifyDomain } from '../organization-domains/organization-domains.service.ts';
import { findDomain } from '../organization-domains/organization-domains.store.ts';
import { putProviderOf } from '../organization-providers/organization-providers.service.ts';
import { isUsedBeyond } from '../organization-providers/organization-providers.store.ts';
import { target as organizationTarget } from '../organizations/organizations.service.ts';
import { findOrganization, type Organization } from '../organizations/organizations.store.ts';
import { isActiveStatus } from '../users/user-lifecycle.policy.ts';
import { findUserById } from '../users/users.store.ts';
import { bindSetup, consumeSetup, findSetup, noteDomain, type SetupRow } from './organization-setup.store.ts';

export interface PendingSetup {
  readonly row: SetupRow;
  readonly organization: Organization;
  /** undefined: none was entered. */
  readonly domain: OrganizationDomain | undefined;
  /** undefined: not set up yet. */
  readonly provider: IdentityProvider | undefined;
}

/** The service is the actor, because the link's reader is unknown. */
const acting = (request: RequestContext): RequestContext => ({ ...request, actor: SYSTEM.actor, roles: SYSTEM.roles ?? [] });

/** Finds a link whose creator could still create it. Otherwise, administrators could set up customers' sign-ins after they have lost their role. */
async function findUsable(executor: Executor, by: Parameters<typeof findSetup>[1]): Promise<SetupRow | undefined> {
  const row = await findSetup(executor, by, present());
  if (row === undefined || row.createdBy === SYSTEM.actor.id) return row;
  const maker = await findUserById(executor, row.createdBy);
  const isActive = maker !== undefined && isActiveStatus(maker.status);
  return isActive && mayCall(await findRights(executor, maker.id), 'service', 'write') ? row : undefined;
}

/** @returns the organization's name; undefined: the link cannot be used, or another browser has started. Reading changes nothing. */
export async function readSetup({ database: { knex } }: Services, token: string): Promise<string | undefined> {
  const row = await findUsable(knex, { tokenHash: digest(token) });
  return row === undefined || row.browserHash !== null ? undefined : (await findOrganization(knex, row.orgId))?.name;
}

/** @returns the secret for the browser; undefined: the link cannot be used, or another browser has started */
export async function beginSetup({ database }: Services, token: string, request: RequestContext): Promise<string | undefined> {
  const secret = randomToken();
  return database.transaction(async (trx) => {
    const row = await findUsable(trx, { tokenHash: digest(token) });
    const organization = row && (await findOrganization(trx, row.orgId));
    // An unusable link stays free: its creator may get the role back.
    if (organization === undefined || !(await bindSetup(trx, digest(token), digest(secret), present()))) return undefined;
    await recordEvent(trx, {
      eventType: 'org.setup.begin',
      displayMessage: 'Begin to set up sign-in of organization',
      request: acting(request),
      targets: [organizationTarget(organization)],
    });
    return secret;
  });
}

/** @param secret of the browser @returns undefined if the link is used, revoked or expired */
export async function findPendingSetup({ database: { knex } }: Services, secret: string): Promise<PendingSetup | undefined> {
  const row = await findUsable(knex, { browserHash: digest(secret) });
  const organization = row && (await findOrganization(knex, row.orgId));
  if (row === undefined || organization === undefined) return undefined;
  const domain = row.domain === null ? undefined : await findDomain(knex, row.orgId, row.domain);
  return { row, organization, domain, provider: await findIdentityProvider(knex, row.idpId) };
}

/**
 * @param domain in ASCII; null: the user wants to enter another one
 * @throws {ApiError} as `addDomain`, but not if the organization already has the domain
 */
export async function chooseDomain(
  services: Services,
  { row: { orgId, browserHash } }: PendingSetup,
  domain: string | null,
  request: RequestContext,
): Promise<void> {
  const { knex } = services.database;
  if (domain !== null && (await findDomain(knex, orgId, domain)) === undefined) await addDomain(services, orgId, domain, acting(request));
  await noteDomain(knex, browserHash ?? '', domain);
}

/** @throws {ApiError} as verifyDomain */
export const proveDomain = (services: Services, { row }: PendingSetup, request: RequestContext): Promise<OrganizationDomain> =>
  verifyDomain(services, row.orgId, row.domain ?? '', acting(request));

export interface ProviderTyped {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/**
 * Creates the provider, or changes it while it is not used for anything else. The same transaction connects it with the organization, for no domain
 * yet, so that no sign-in page offers it.
 * @throws {ApiError} the input is refused
 */
export async function writeProvider(
  services: Services,
  { row, organization, provider }: PendingSetup,
  { issuer, clientId, clientSecret }: ProviderTyped,
  request: RequestContext,
): Promise<void> {
  const body = parse(identityProviderBody, {
    name: provider?.name ?? `${organization.name.slice(0, 60)} ${row.idpId.slice(-6)}`,
    type: 'OIDC',
    protocol: { issuer: { url: issuer }, credentials: { client: { client_id: clientId, client_secret: clientSecret } } },
    policy: { provisioning: { action: 'AUTO' }, accountLink: { action: 'AUTO' } },
  });
  const input = identityProviderInput(body);
  await inOneTransaction(services, async (within, trx) => {
    if (provider !== undefined) {
      await lockIdentityProvider(trx, row.idpId);
      if (await isUsedBeyond(trx, row.idpId, row.orgId))
        throw wrongState('this identity provider is already in use. Ask an administrator to change it');
      await updateIdentityProvider(within, row.idpId, input, acting(request));
      return;
    }
    await createIdentityProvider(within, { id: row.idpId, ...input }, acting(request));
    const unused = { domains: [], mode: 'OFFERED' as const, autoJoin: true, defaultDepId: null };
    await putProviderOf(within, row.orgId, row.idpId, unused, acting(request));
  });
}

/** Result of a test sign-in. `foreign`: an address outside the domain. */
export type Tried = 'works' | 'gone' | 'no-email' | { readonly foreign: string };

/**
 * Completes the set-up after a successful sign-in: the domain now uses the provider.
 * @param email verified by the provider
 * @throws {ApiError} another provider is required for the domain
 */
export async function finishSetup(
  services: Services,
  { row, organization, provider }: PendingSetup,
  email: string | undefined,
  request: RequestContext,
): Promise<Tried> {
  const { domain } = row;
  if (provider === undefined || domain === null) return 'gone';
  if (email === undefined) return 'no-email';
  if (domainOfAddress(email) !== domain) return { foreign: email };
  const isDone = await inOneTransaction(services, async (within, trx) => {
    if (!(await consumeSetup(trx, row.browserHash ?? '', domain, present()))) return false;
    const used = { domains: [domain], mode: row.mode, autoJoin: true, defaultDepId: null };
    await putProviderOf(within, row.orgId, row.idpId, used, acting(request));
    await recordEvent(trx, {
      eventType: 'org.setup.complete',
      displayMessage: 'Complete set-up of sign-in of organization',
      request: acting(request),
      targets: [organizationTarget(organization), identityProviderTarget(provider)],
      after: { domain, mode: row.mode },
    });
    return true;
  });
  return isDone ? 'works' : 'gone';
}
