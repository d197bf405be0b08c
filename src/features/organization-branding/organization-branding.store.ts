/** The branding of organizations. The only SQL on that column. */
import type { Executor } from '../../platform/database/database.ts';
import type { OrganizationBranding, OrganizationDesign } from './organization-branding.resource.ts';

/** @returns null: none is set; undefined: there is no such organization */
export async function findBranding(executor: Executor, orgId: string): Promise<OrganizationBranding | null | undefined> {
  const row = await executor('organizations').where({ id: orgId }).first<{ branding: OrganizationBranding | null } | undefined>('branding');
  return row?.branding;
}

/** @param branding null: none */
export async function updateBranding(trx: Executor, orgId: string, branding: OrganizationBranding | null): Promise<void> {
  await trx('organizations')
    .where({ id: orgId })
    .update({ branding: branding === null ? null : JSON.stringify(branding) });
}

/**
 * Branding of an organization on the sign-in pages.
 * @param wanted an ID or a name; an ID is tried first, as at sign-in
 * @returns undefined: no branding, or no such organization
 */
export async function findOrganizationDesign(executor: Executor, wanted: string): Promise<OrganizationDesign | undefined> {
  const { rows } = await executor.raw<{ rows: { name: string; branding: OrganizationBranding | null }[] }>(
    'SELECT name, branding FROM organizations WHERE id = :wanted OR name = :wanted ORDER BY id = :wanted DESC LIMIT 1',
    { wanted },
  );
  const [found] = rows;
  return found?.branding ? { ...found.branding, name: found.branding.name ?? found.name } : undefined;
}
