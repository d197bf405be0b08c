/** Counts objects that deletions remove or affect, with one statement per kind of object. Reads tables of all features and writes none. */
import type { Executor } from '../../platform/database/database.ts';
import { MODELS } from '../../protocol/storage/protocol-state.store.ts';

/** Maximum rows counted for each number. A higher number means “more than this”. */
export const MOST_COUNTED = 10_000;

const assigned = (kind: 'user' | 'group'): string => `application_${kind}_roles WHERE application_id = :applicationId AND role_id = :id`;
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
  administrator: { roles: 'roles WHERE user_id = :id', tokens: 'api_tokens WHERE user_id = :id' },
  application: {
    users: 'application_users WHERE application_id = :id',
    groups: 'application_groups WHERE application_id = :id',
    consents: 'consents WHERE application_id = :id',
  },
  applicationRole: { users: assigned('user'), groups: assigned('group') },
  assignment: { members: 'group_members WHERE group_id = :groupId' },
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
  group: { members: 'group_members WHERE group_id = :id', applications: 'application_groups WHERE group_id = :id' },
  groupMember: { applications: ONLY_BY_GROUP },
  identityProvider: {
    users: 'identity_provider_links WHERE idp_id = :id',
    stranded: `(SELECT user_id FROM identity_provider_links WHERE idp_id = :id LIMIT ${MOST_COUNTED}) l
      JOIN users u ON u.id = l.user_id WHERE u.password_hash IS NULL`,
  },
  inlineHook: { rules: `policy_rules WHERE actions #>> '{token,inlineHook,id}' = :id` },
  link: { stranded: 'users WHERE id = :userId AND password_hash IS NULL' },
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
  policy: { rules: 'policy_rules WHERE policy_id = :id' },
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

/** The ID of a deleted object and of its parents, as the queries name them. */
export type AffectedKey = Readonly<Record<string, string | undefined>> & { readonly id: string };

const PARAMETERS = ['id', ...new Set(Object.values(PARTS).flatMap((parts) => namesIn(Object.values(parts).join(' '))))];

function namesIn(rows: string): readonly string[] {
  return [...rows.matchAll(/:(\w+)/g)].map(([, name = '']) => name).filter((name) => name !== 'id' && name !== 'now');
}

/** Counts for all objects together. Each number of one object has the limit. */
export async function countAffected<Kind extends AffectedBy>(
  executor: Executor,
  kind: Kind,
  keys: readonly AffectedKey[],
  now: Date,
): Promise<Affected<Kind>> {
  const parts = Object.entries<string>(PARTS[kind]);
  const each = parts.map(([name, rows]) => {
    const ofOne = rows.replace(/:(?!now\b)(\w+)/g, 'deleted."$1"');
    return `(SELECT count(*) FROM (SELECT FROM ${ofOne} LIMIT ${MOST_COUNTED + 1}) counted) AS "${name}"`;
  });
  const { rows } = await executor.raw<{ rows: Affected<Kind>[] }>(
    `SELECT ${parts.map(([name]) => `coalesce(sum("${name}"), 0)::int AS "${name}"`).join(', ')}
     FROM jsonb_to_recordset(CAST(:keys AS jsonb)) AS deleted (${PARAMETERS.map((name) => `"${name}" text`).join(', ')})
     CROSS JOIN LATERAL (SELECT ${each.join(', ')}) counts`,
    { keys: JSON.stringify(keys), now },
  );
  const [numbers] = rows;
  if (numbers === undefined) throw new Error('a statement of counts has no row');
  return numbers;
}
