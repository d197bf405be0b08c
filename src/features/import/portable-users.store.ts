/** Users with their references by name, for import into another installation. */
import type { Executor } from '../../platform/database/database.ts';
import type { User } from '../users/users.resource.ts';
import { USER_COLUMNS } from '../users/users.store.ts';

export interface PortableUser extends User {
  readonly place: number;
  readonly groups: readonly string[];
  readonly organizations: readonly string[];
  readonly applications: readonly { readonly clientId: string; readonly roles: readonly string[] }[];
  readonly links: readonly { readonly provider: string; readonly subject: string; readonly knownAs?: string }[];
  readonly factors: readonly { readonly id: string; readonly name: string; readonly sealed: string }[];
}

const COLUMNS = Object.entries(USER_COLUMNS)
  .map(([field, column]) => `u.${column} AS "${field}"`)
  .join(', ');

const PORTABLE = `SELECT u.seq AS place, ${COLUMNS},
    ARRAY(SELECT g.name FROM group_members m JOIN groups g ON g.id = m.group_id WHERE m.user_id = u.id ORDER BY g.name) AS groups,
    ARRAY(SELECT o.name FROM memberships m JOIN organizations o ON o.id = m.org_id WHERE m.user_id = u.id ORDER BY o.name) AS organizations,
    (SELECT coalesce(jsonb_agg(jsonb_build_object('clientId', a.application_id, 'roles', ARRAY(
        SELECT r.name FROM application_user_roles x JOIN application_roles r ON r.id = x.role_id
        WHERE x.application_id = a.application_id AND x.user_id = u.id ORDER BY r.name)) ORDER BY a.application_id), '[]')
      FROM application_users a JOIN applications p ON p.id = a.application_id WHERE a.user_id = u.id AND NOT p.system) AS applications,
    (SELECT coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object('provider', p.name, 'subject', l.subject, 'knownAs', l.known_as)) ORDER BY p.name), '[]')
      FROM identity_provider_links l JOIN identity_providers p ON p.id = l.idp_id WHERE l.user_id = u.id) AS links,
    (SELECT coalesce(jsonb_agg(jsonb_build_object('id', f.id, 'name', f.name, 'sealed', f.sealed_secret) ORDER BY f.seq), '[]')
      FROM user_factors f WHERE f.user_id = u.id) AS factors
  FROM users u WHERE u.seq > ? ORDER BY u.seq LIMIT ?`;

/** Oldest first. @param after place of the last user before */
export async function readPortableUsers(executor: Executor, after: number, limit: number): Promise<PortableUser[]> {
  return (await executor.raw<{ rows: PortableUser[] }>(PORTABLE, [after, limit])).rows;
}
