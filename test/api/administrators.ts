/** Steps that the tests of the management API's resources share: callers with other roles, the next page, and what the audit log holds. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { RoleType } from '../../src/features/administrators/administration.policy.ts';
import { createApiToken } from '../../src/features/api-tokens/api-tokens.service.ts';
import { SYSTEM } from '../../src/features/audit/audit-event.policy.ts';
import { createUser } from '../../src/features/users/users.service.ts';
import type { ManagementApi } from '../support/management-api.ts';

export interface Named {
  readonly id: string;
}

/** @returns the header of a new administrator's calls; an ORG_ADMIN has an organization of his own */
export async function tokenWith({ services }: ManagementApi, type: RoleType): Promise<{ authorization: string }> {
  const suffix = randomBytes(6).toString('hex');
  const orgId = type === 'ORG_ADMIN' ? `org_${suffix}` : undefined;
  const now = new Date();
  if (orgId !== undefined)
    await services.database.knex('organizations').insert({ id: orgId, name: orgId, created: now, last_updated: now });
  const { id } = await createUser(services, { profile: { login: suffix }, activate: true, roles: [{ type, orgId }] }, SYSTEM);
  const { value } = await createApiToken(services, { name: suffix, userId: id }, SYSTEM);
  return { authorization: `SSWS ${value}` };
}

/** @returns the path of the next page, as the answer's Link says (RFC 8288) */
export function nextPage({ headers }: { readonly headers: Headers }): string {
  const [, path] = /<[^>]*\/api\/v1([^>]*)>; rel="next"/.exec(headers.get('link') ?? '') ?? [];
  assert(path !== undefined, 'there is a next page');
  return path;
}

/** @returns what was recorded about a resource, in order: type, before, after */
export async function eventsOf({ services }: ManagementApi, targetId: string): Promise<[type: string, before: unknown, after: unknown][]> {
  const rows: { event_type: string; debug_context: { before?: unknown; after?: unknown } }[] = await services.database
    .knex('audit_events')
    .whereRaw('target @> ?::jsonb', [JSON.stringify([{ id: targetId }])])
    .orderBy('seq')
    .select('event_type', 'debug_context');
  return rows.map(({ event_type, debug_context: { before, after } }) => [event_type, before, after]);
}
