/** Two organizations of 10,000 departments each: one whose tree is wide, and one that is a single chain. */

import { createOrganization } from '../../pages/console/administrators.ts';
import { onServer } from '../../support/database.ts';
import type { Service } from '../../support/service.ts';

/** @returns the id of the second, and paths of their pages: below `/admin/organizations/` */
export async function insertDepartments(service: Service): Promise<{ chain: string; paths: readonly string[] }> {
  const [tree, chain] = [await createOrganization(service, 'Tree'), await createOrganization(service, 'Chain')];
  const insert = (orgId: string, parent: string) => `
    INSERT INTO departments (id, org_id, parent_id, name, created, last_updated)
    SELECT '${orgId}_' || n, '${orgId}', ${parent}, 'Department ' || n, now(), now() FROM generate_series(0, 9999) n`;
  await onServer(service.database.url, (client) => client.query(insert(tree, `CASE WHEN n >= 10 THEN '${tree}_' || (n / 10 - 1) END`)));
  await onServer(service.database.url, (client) => client.query(insert(chain, `CASE WHEN n > 0 THEN '${chain}_' || (n - 1) END`)));
  const paths = [tree, chain, `${tree}/departments/${tree}_7`, `${chain}/departments/${chain}_9990`, `${tree}/departments/${tree}_7/edit`];
  return { chain, paths };
}
