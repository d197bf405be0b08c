/**
 * The link that the service's administrators send to a customer, whose own administrator uses it to set up the organization's sign-in
 * (docs/decisions/0081).
 */
import { z } from 'zod';
import { LIFETIMES } from '../../../config/defaults.ts';
import { present } from '../../platform/clock/clock.ts';
import { digest, newId, randomToken } from '../../platform/crypto/secrets.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { notFound, requireFound } from '../../platform/errors/errors.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { PROVIDER_MODES } from '../organization-providers/organization-providers.resource.ts';
import { checkReadable, lockForChange, target as organizationTarget } from '../organizations/organizations.service.ts';
import { deleteSetup, findSetup, replaceSetup, type SetupRow } from './organization-setup.store.ts';

export const setupBody = z.strictObject({ mode: z.enum(PROVIDER_MODES).default('OFFERED') });

export type Setup = Pick<SetupRow, 'mode' | 'domain' | 'created' | 'expiresAt'> & {
  /** Has a browser started the set-up? */
  readonly isBegun: boolean;
};

const shown = ({ mode, domain, created, expiresAt, browserHash }: SetupRow): Setup => ({
  ...{ mode, domain, created, expiresAt },
  isBegun: browserHash !== null,
});

/**
 * Creates a link, which replaces the previous one.
 * @returns the link with its URL, which is returned only once
 * @throws {ApiError} not found
 */
export async function createSetup(
  services: Services,
  orgId: string,
  mode: SetupRow['mode'],
  request: RequestContext,
): Promise<Setup & { readonly link: string }> {
  const token = randomToken();
  const created = present();
  const row: SetupRow = {
    ...{ orgId, mode, created, tokenHash: digest(token), browserHash: null, idpId: newId('idp'), domain: null },
    ...{ createdBy: request.actor.id, expiresAt: new Date(created.getTime() + LIFETIMES.activationLink * 1000) },
  };
  await services.database.transaction(async (trx) => {
    const organization = await lockForChange(trx, orgId, request, 'MANAGE_PROVIDERS');
    await replaceSetup(trx, row);
    await recordEvent(trx, {
      eventType: 'org.setup.create',
      displayMessage: 'Create link to set up sign-in of organization',
      request,
      targets: [organizationTarget(organization)],
      after: { mode, expiresAt: row.expiresAt },
    });
  });
  return { ...shown(row), link: `${services.config.baseUrl}/setup/${token}` };
}

/** @throws {ApiError} not found: the organization has no link */
export async function getSetup(services: Services, orgId: string, request: RequestContext): Promise<Setup> {
  checkReadable(orgId, request, 'MANAGE_PROVIDERS');
  const row = requireFound(await findSetup(services.database.knex, { orgId }, present()), orgId, 'OrganizationSetup');
  return shown(row);
}

/** @throws {ApiError} not found: the organization has no link */
export async function revokeSetup(services: Services, orgId: string, request: RequestContext): Promise<void> {
  await services.database.transaction(async (trx) => {
    const organization = await lockForChange(trx, orgId, request, 'MANAGE_PROVIDERS');
    const row = await findSetup(trx, { orgId }, present());
    if (row === undefined || !(await deleteSetup(trx, orgId))) throw notFound(orgId, 'OrganizationSetup');
    await recordEvent(trx, {
      eventType: 'org.setup.revoke',
      displayMessage: 'Revoke link to set up sign-in of organization',
      request,
      targets: [organizationTarget(organization)],
      before: { mode: row.mode, domain: row.domain ?? '', expiresAt: row.expiresAt },
    });
  });
}
