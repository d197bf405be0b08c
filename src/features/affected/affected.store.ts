/** Counts objects that a deletion removes or affects, with one statement per confirmation page. Reads tables of all features and writes none. */
import type { Executor } from '../../platform/database/database.ts';
import { MODELS } from '../../protocol/storage/protocol-state.store.ts';

/** Maximum rows counted for each number. A higher number means “more than this”. */
export const MOST_COUNTED = 10_000;

const assigned = (kind: 'user' | 'group'): string => `application_${kind}_roles WHERE application_id = :id AND role_id = :roleId`;
/** Applications that a user has neither by another group nor by a direct assignment. */
const ONLY_BY_GROUP = `application_groups a WHERE a.group_id = :id
  AND NOT EXISTS (SELECT FROM application_users own WHERE own.application_id = a.application_id AND own.user_id = :userId)
  AND NOT EXISTS (SELECT FROM group_members m JOIN application_groups other ON other.group_id = m.group_id AND other.application_id = a.application_id
    WHERE m.user_id = :userId AND m.group_id <> :id)`;

/** Queries for the numbers of each kind of deleted object, with its key as named bindings. */
const PARTS = {
  signIns: {
    sessions: `oidc_payload WHERE account_id = :id AND model = ${MODELS.Session} AND expires_at > CAST(:now AS timestamptz)`,
    tokens: 'api_tokens WHERE user_id = :id',
  },
  application: {
    users: 'application_users WHERE application_id = :id',
    groups: 'application_groups WHERE application_id = :id',
    consents: 'consents WHERE application_id = :id',
  },
  applicationRole: { users: assigned('user'), groups: assigned('group') },
  attribute: { users: `users WHERE attribute_terms(profile) @@ attribute_query(:id, '', true)` },
  authorizationServer: {
    scopes: 'scopes WHERE server_id = :id',
    claims: 'claims WHERE server_id = :id',
    policies: 'policies WHERE server_id = :id',
    consents: 'consents WHERE server_id = :id',
  },
  department: {
    departments: 'departments WHERE org_id = :orgId AND parent_id = :id',
    members: 'memberships WHERE dep_id = :id',
  },
  detailType: { consents: `consents WHERE server_id = :serverId AND detail->>'type' = :id` },
  domain: { providers: 'organization_provider_domains WHERE org_id = :orgId AND domain = :id' },
  eventHook: { events: `outbox WHERE kind = 'event-hook' AND ordering_key = :id` },
  groupMember: { applications: ONLY_BY_GROUP },
  identityProvider: {
    users: 'identity_provider_links WHERE idp_id = :id',
    stranded: `(SELECT user_id FROM identity_provider_links WHERE idp_id = :id LIMIT ${MOST_COUNTED}) l
      JOIN users u ON u.id = l.user_id WHERE u.password_hash IS NULL`,
  },
  inlineHook: { rules: `policy_rules WHERE actions #>> '{token,inlineHook,id}' = :id` },
  member: {
    roles: `(SELECT FROM member_roles WHERE org_id = :orgId AND user_id = :id
      UNION ALL SELECT FROM roles WHERE org_id = :orgId AND user_id = :id
      UNION ALL SELECT FROM memberships WHERE org_id = :orgId AND user_id = :id AND is_owner) held`,
    invitations: 'organization_invitations WHERE org_id = :orgId AND created_by = :id',
    joined: 'memberships WHERE org_id = :orgId AND user_id = :id AND is_joined',
  },
  organization: {
    roles: 'organization_roles WHERE org_id = :id',
    administrators: 'roles WHERE org_id = :id',
    domains: 'organization_domains WHERE org_id = :id',
    providers: 'organization_providers WHERE org_id = :id',
    invitations: 'organization_invitations WHERE org_id = :id',
  },
  organizationProvider: { domains: 'organization_provider_domains WHERE org_id = :orgId AND idp_id = :id' },
  organizationRole: {
    members: 'member_roles WHERE org_id = :orgId AND role_id = :id',
    invitations: 'organization_invitations WHERE org_id = :orgId AND role_id = :id',
  },
  provisioning: {
    users: `provisioned_resources WHERE application_id = :id AND kind = 'user' AND state = 'PROVISIONED'`,
    groups: `provisioned_resources WHERE application_id = :id AND kind = 'group' AND state = 'PROVISIONED'`,
  },
  scope: {
    consents: 'consents WHERE server_id = :serverId AND scope = (SELECT name FROM scopes WHERE server_id = :serverId AND id = :id)',
  },
  signalStream: {
    events: `(SELECT FROM outbox WHERE kind = 'signal' AND ordering_key = :id UNION ALL SELECT FROM signal_sets WHERE stream_id = :id) waiting`,
  },
  user: {
    organizations: 'memberships WHERE user_id = :id',
    groups: 'group_members WHERE user_id = :id',
    applications: 'application_users WHERE user_id = :id',
    consents: 'consents WHERE user_id = :id',
    links: 'identity_provider_links WHERE user_id = :id',
  },
} as const;

type Parts = typeof PARTS;
export type AffectedBy = keyof Parts;
/** Numbers of affected objects; a number above `MOST_COUNTED` means “more”. */
export type Affected<Kind extends AffectedBy> = Readonly<Record<keyof Parts[Kind], number>>;

/** @param key the ID of the deleted object, and of its parent */
export async function countAffected<Kind extends AffectedBy>(
  executor: Executor,
  kind: Kind,
  key: Readonly<Record<string, string | Date>>,
): Promise<Affected<Kind>> {
  const counts = Object.entries<string>(PARTS[kind]).map(
    ([name, rows]) => `(SELECT count(*) FROM (SELECT FROM ${rows} LIMIT ${MOST_COUNTED + 1}) counted)::int AS "${name}"`,
  );
  const { rows } = await executor.raw<{ rows: Affected<Kind>[] }>(`SELECT ${counts.join(', ')}`, key);
  const [numbers] = rows;
  if (numbers === undefined) throw new Error('a statement of counts has no row');
  return numbers;
}
