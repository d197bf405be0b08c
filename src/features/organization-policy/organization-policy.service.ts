/** Reads and sets an organization's requirements for signing in to it. */
import { isDeepStrictEqual } from 'node:util';
import type { Services } from '../../platform/database/dependencies.ts';
import { requireFound, validation } from '../../platform/errors/errors.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { checkReadable, lockForChange, target } from '../organizations/organizations.service.ts';
import { readSettings } from '../settings/settings.service.ts';
import { longerThanService, NO_POLICY, type OrganizationPolicy } from './organization-policy.policy.ts';
import { findOrganizationPolicy, updateOrganizationPolicy } from './organization-policy.store.ts';

/** @throws {ApiError} not found, forbidden */
export async function readOrganizationPolicy(
  { database: { knex } }: Services,
  orgId: string,
  request: RequestContext,
): Promise<OrganizationPolicy> {
  checkReadable(orgId, request, 'MANAGE_PROVIDERS');
  const found = requireFound(await findOrganizationPolicy(knex, orgId), orgId, 'Organization');
  return found ?? NO_POLICY;
}

/** @param set replaces all settings; absent ones have the service's values @throws {ApiError} not found, forbidden, validation */
export async function replaceOrganizationPolicy(
  services: Services,
  orgId: string,
  set: Partial<OrganizationPolicy>,
  request: RequestContext,
): Promise<OrganizationPolicy> {
  const signIn = await readSettings(services, 'sign-in');
  return services.database.transaction(async (trx) => {
    const organization = await lockForChange(trx, orgId, request, 'MANAGE_PROVIDERS');
    const before = (await findOrganizationPolicy(trx, orgId)) ?? NO_POLICY;
    const after = { ...NO_POLICY, ...set };
    // A value longer than the service's would have no effect.
    const problem = longerThanService(after, signIn);
    if (problem !== undefined) throw validation([{ field: problem.field, message: `must be at most ${problem.most}` }]);
    await updateOrganizationPolicy(trx, orgId, isDeepStrictEqual(after, NO_POLICY) ? null : after);
    await recordEvent(trx, {
      eventType: 'org.policy.update',
      displayMessage: 'Change sign-in policy of organization',
      request,
      targets: [target(organization)],
      before,
      after,
    });
    return after;
  });
}
