/** Reads and sets the branding of an organization. */
import { isDeepStrictEqual } from 'node:util';
import type Koa from 'koa';
import type { Services } from '../../platform/database/dependencies.ts';
import { requireFound } from '../../platform/errors/errors.ts';
import { isPrintable } from '../../platform/validation/text.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { checkReadable, lockForChange, target } from '../organizations/organizations.service.ts';
import { NO_BRANDING, type OrganizationBranding, type OrganizationDesign } from './organization-branding.resource.ts';
import { findBranding, findOrganizationDesign, updateBranding } from './organization-branding.store.ts';

/** @throws {ApiError} not found, forbidden */
export async function readOrganizationBranding(
  { database: { knex } }: Services,
  orgId: string,
  request: RequestContext,
): Promise<OrganizationBranding> {
  checkReadable(orgId, request, 'MANAGE_BRANDING');
  const found = requireFound(await findBranding(knex, orgId), orgId, 'Organization');
  return found ?? NO_BRANDING;
}

/** @param set replaces all settings; absent ones have the service's values @throws {ApiError} not found, forbidden */
export async function replaceOrganizationBranding(
  { database }: Services,
  orgId: string,
  set: Partial<OrganizationBranding>,
  request: RequestContext,
): Promise<OrganizationBranding> {
  return database.transaction(async (trx) => {
    const organization = await lockForChange(trx, orgId, request, 'MANAGE_BRANDING');
    const before = (await findBranding(trx, orgId)) ?? NO_BRANDING;
    const after = { ...NO_BRANDING, ...set };
    await updateBranding(trx, orgId, isDeepStrictEqual(after, NO_BRANDING) ? null : after);
    await recordEvent(trx, {
      eventType: 'org.branding.update',
      displayMessage: 'Change branding of organization',
      request,
      targets: [target(organization)],
      before,
      after,
    });
    return after;
  });
}

/** @param wanted ID or name of the organization, as in a request */
export const findDesignOfOrganization = async (
  { database: { knex } }: Services,
  wanted: string,
): Promise<OrganizationDesign | undefined> => (isPrintable(wanted) ? findOrganizationDesign(knex, wanted) : undefined);

/**
 * Shows the pages of this request with the organization's branding. Its colours take precedence over the application's: users look for their
 * company's name.
 */
export function showOrganization(ctx: Koa.Context, look: OrganizationDesign | undefined): void {
  if (look === undefined) return;
  ctx.state.organizationDesign = look;
  if (look.primaryColorHex !== null || look.primaryColorDarkHex !== null) ctx.state.brandColor = undefined;
}
