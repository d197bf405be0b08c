/**
 * Identity providers of organizations: their verified domains, whether a provider is required, and whether its users become members. The service's
 * administrators connect providers; an organization's administrators can only change and remove connected ones.
 */
import { present } from '../../platform/clock/clock.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import type { Page, Window } from '../../platform/database/paging.ts';
import { type ApiError, conflict, notFound, requireFound, validation } from '../../platform/errors/errors.ts';
import { mayCall } from '../administrators/administration.policy.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { identityProviderTarget } from '../identity-providers/identity-providers.service.ts';
import { findIdentityProvider, keepIdentityProviders } from '../identity-providers/identity-providers.store.ts';
import { checkReadable, lockForChange, target as organizationTarget } from '../organizations/organizations.service.ts';
import { organizationExists } from '../organizations/organizations.store.ts';
import type { OrganizationProvider, OrganizationProviderFields } from './organization-providers.resource.ts';
import {
  deleteOrganizationProvider,
  findOrganizationProvider,
  type ProviderMismatch,
  putOrganizationProvider,
  selectOrganizationProviders,
} from './organization-providers.store.ts';

/** Oldest first. @throws {ApiError} not found: the organization */
export async function listProvidersOf(
  { database: { knex } }: Services,
  orgId: string,
  window: Window,
  request: RequestContext,
): Promise<Page<OrganizationProvider>> {
  checkReadable(orgId, request, 'MANAGE_PROVIDERS');
  if (!(await organizationExists(knex, orgId))) throw notFound(orgId, 'Organization');
  return selectOrganizationProviders(knex, orgId, window);
}

/** @throws {ApiError} not found: the organization, or the provider is not connected with it */
export async function getProviderOf(
  services: Services,
  orgId: string,
  idpId: string,
  request: RequestContext,
): Promise<OrganizationProvider> {
  checkReadable(orgId, request, 'MANAGE_PROVIDERS');
  return requireFound(await findOrganizationProvider(services.database.knex, orgId, idpId), idpId, 'IdentityProvider');
}

/**
 * Connects a provider with an organization, or replaces the settings of the connection.
 * @throws {ApiError} not found, forbidden; validation: domains are not verified, the department does not exist, or users of a required provider could
 * not sign in; conflict: another provider is required for a domain
 */
export function putProviderOf(
  services: Services,
  orgId: string,
  idpId: string,
  fields: OrganizationProviderFields,
  request: RequestContext,
): Promise<OrganizationProvider> {
  return changing(services, idpId, async (trx) => {
    const organization = await lockForChange(trx, orgId, request, 'MANAGE_PROVIDERS');
    const before = await findOrganizationProvider(trx, orgId, idpId);
    if (before === undefined && !mayCall(request.roles ?? [], 'service', 'write')) throw notFound(idpId, 'IdentityProvider');
    await keepIdentityProviders(trx, [idpId]);
    const provider = requireFound(await findIdentityProvider(trx, idpId), idpId, 'IdentityProvider');
    if (fields.mode === 'REQUIRED') refuseUnusable(fields, provider.policy.accountLink.action);
    const { name, status } = provider;
    const now = present();
    const after = { orgId, idpId, name, status, ...fields, created: before?.created ?? now, lastUpdated: now };
    if (before !== undefined && JSON.stringify(described(before)) === JSON.stringify(described(after))) return before;
    const unfit = await putOrganizationProvider(trx, after);
    if (unfit !== undefined) throw refusal(unfit);
    await recordEvent(trx, {
      eventType: before === undefined ? 'org.idp.add' : 'org.idp.update',
      displayMessage: before === undefined ? 'Connect identity provider with organization' : 'Update identity provider of organization',
      request,
      targets: [identityProviderTarget(provider), organizationTarget(organization)],
      ...(before !== undefined && { before: described(before) }),
      after: described(after),
    });
    return after;
  });
}

/** Removes the connection. The provider is still not offered to everyone, and its users remain members. @throws {ApiError} not found, forbidden */
export async function removeProviderOf(services: Services, orgId: string, idpId: string, request: RequestContext): Promise<void> {
  await changing(services, idpId, async (trx) => {
    const organization = await lockForChange(trx, orgId, request, 'MANAGE_PROVIDERS');
    const before = requireFound(await findOrganizationProvider(trx, orgId, idpId), idpId, 'IdentityProvider');
    await deleteOrganizationProvider(trx, orgId, idpId);
    await recordEvent(trx, {
      eventType: 'org.idp.remove',
      displayMessage: 'Remove identity provider from organization',
      request,
      targets: [identityProviderTarget({ id: idpId, name: before.name }), organizationTarget(organization)],
      before: described(before),
    });
  });
}

/** Notifies all processes: the owner of a provider determines who can use it. */
async function changing<T>({ database, notifications }: Services, idpId: string, change: (trx: Executor) => Promise<T>): Promise<T> {
  const news = { kind: 'identity-provider', id: idpId } as const;
  const done = await database.transaction(async (trx) => {
    const result = await change(trx);
    await notifications.publish(trx, news);
    return result;
  });
  notifications.announce(news);
  return done;
}

/** @throws {ApiError} validation: a required provider that admits no users would lock the organization out */
function refuseUnusable({ domains }: OrganizationProviderFields, linking: 'AUTO' | 'DISABLED'): void {
  if (domains.length === 0) throw validation([{ field: 'domains', message: 'must not be empty with mode REQUIRED' }]);
  if (linking !== 'AUTO')
    throw validation([
      { field: 'mode', message: 'must be OFFERED unless the identity provider links existing accounts (policy.accountLink.action AUTO)' },
    ]);
}

function refusal(unfit: ProviderMismatch): ApiError {
  const { field } = unfit;
  if (field === 'defaultDepId') return validation([{ field, message: 'does not exist' }]);
  return unfit.why === 'unverified'
    ? validation([{ field, message: `${unfit.domain} is not a verified domain of the organization. Verify it first` }])
    : conflict({ field, message: `another identity provider is already required for ${unfit.domain}. Remove the domain there first` });
}

const described = ({ domains, mode, autoJoin, defaultDepId }: OrganizationProviderFields) => ({
  domains,
  mode,
  autoJoin,
  defaultDepId: defaultDepId ?? '',
});
