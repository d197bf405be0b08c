/** The log of an organization: the events about it, for those whose roles there allow to read it. */
import type { Services } from '../../platform/database/dependencies.ts';
import type { Page, Window } from '../../platform/database/paging.ts';
import { notFound } from '../../platform/errors/errors.ts';
import { reachOf } from '../administrators/administration.policy.ts';
import { findMembersAmong } from '../organizations/members.service.ts';
import { checkReadable } from '../organizations/organizations.service.ts';
import { organizationExists } from '../organizations/organizations.store.ts';
import type { RequestContext } from './audit-event.policy.ts';
import { SYSTEM } from './audit-event.policy.ts';
import type { StoredEvent } from './events.resource.ts';
import { listObjectActivity } from './logs.service.ts';

/**
 * The newest first. IP address and browser of actors who are not its members, such as administrators of the service, are for those who administer the service.
 * @throws {ApiError} not found, forbidden
 */
export async function readOrganizationLog(
  services: Services,
  orgId: string,
  window: Window,
  request: RequestContext,
): Promise<Page<StoredEvent>> {
  checkReadable(orgId, request, 'READ_LOG');
  const page = await listObjectActivity(services, orgId, window);
  if (page.items.length === 0 && !(await organizationExists(services.database.knex, orgId))) throw notFound(orgId, 'Organization');
  if (reachOf(request.roles ?? [], 'read') === 'everything') return page;
  const actors = [...new Set(page.items.map(({ actor }) => actor.id))];
  const members = await findMembersAmong(services, orgId, actors, SYSTEM);
  return { ...page, items: page.items.map((event) => (members.has(event.actor.id) ? event : { ...event, client: {} })) };
}
