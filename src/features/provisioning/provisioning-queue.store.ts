/**
 * Queue of provisioning: outbox entries name a user or group, and their content is decided at delivery. A second entry for a change has nothing to
 * send. Queueing everyone adds no entry beside a waiting one and locks that one until the commit; claiming skips locked entries.
 */
import type { Executor } from '../../platform/database/database.ts';

/** `outbox.kind` of users and groups to push to a SCIM target. */
export const PROVISIONING = 'provisioning';

const NOTED = '(kind, ordering_key, object_key, payload, created, due)';
/** The longest due entries go first: leaving users before everything that has waited less than a day. */
const AHEAD = "interval '1 day'";

/** @param from rows of application_id, kind and id, with the time as `at` and when it is due as `due` */
const entriesFor = (from: string): string => `INSERT INTO outbox ${NOTED}
  SELECT '${PROVISIONING}', n.application_id, n.kind || ':' || n.id, jsonb_build_object('applicationId', n.application_id, 'kind', n.kind, 'id', n.id), n.at, n.due
  FROM (${from}) n`;

/** Like `entriesFor`, without those that are already waiting. */
const missingEntriesFor = (from: string): string => `${entriesFor(from)}
  WHERE NOT EXISTS (SELECT FROM outbox w WHERE w.kind = '${PROVISIONING}' AND w.ordering_key = n.application_id
    AND w.object_key = n.kind || ':' || n.id AND w.attempts = 0 FOR SHARE SKIP LOCKED)`;

/** Their first target is the user. */
const ABOUT_USERS = [
  'user.account.update_profile',
  'user.lifecycle.create',
  'user.lifecycle.activate',
  'user.lifecycle.deactivate',
  'user.lifecycle.delete.initiated',
  'user.lifecycle.reactivate',
  'user.lifecycle.suspend',
  'user.lifecycle.unsuspend',
  'group.user_membership.add',
  'group.user_membership.remove',
  'application.user_membership.add',
  'application.user_membership.remove',
];
/** A user may have lost access. */
const LEAVING = [
  'user.lifecycle.deactivate',
  'user.lifecycle.delete.initiated',
  'user.lifecycle.suspend',
  'group.user_membership.remove',
  'application.user_membership.remove',
];
const ABOUT_GROUPS = ['group.user_membership.add', 'group.user_membership.remove', 'group.profile.update'];
/** They concern all members of a group: the application is compared as a whole. */
const ABOUT_MANY = ['group.application_assignment.add', 'group.application_assignment.remove', 'group.lifecycle.delete'];

const PROVISIONED: ReadonlySet<string> = new Set([...ABOUT_USERS, ...ABOUT_GROUPS, ...ABOUT_MANY]);
/** Can an event of this type affect provisioning? */
export const isProvisioned = (eventType: string): boolean => PROVISIONED.has(eventType);

const list = (types: readonly string[]): string => types.map((type) => `'${type}'`).join(', ');

const USER = "e.target->0->>'id'";
const isAssignedTo = (
  user: string,
): string => `(EXISTS (SELECT FROM application_users a WHERE a.application_id = p.application_id AND a.user_id = ${user})
  OR EXISTS (SELECT FROM application_groups a JOIN group_members m ON m.group_id = a.group_id WHERE a.application_id = p.application_id AND m.user_id = ${user}))`;
const isKnown = (kind: string, id: string): string =>
  `EXISTS (SELECT FROM provisioned_resources r WHERE r.application_id = p.application_id AND r.kind = '${kind}' AND r.id = ${id})`;
/** An entry that is being processed may have been read before this change. */
const isQueued = (user: string): string =>
  `EXISTS (SELECT FROM outbox q WHERE q.kind = '${PROVISIONING}' AND q.ordering_key = p.application_id AND q.object_key = 'user:' || (${user}))`;
const TARGETS = `JOIN provisioning_targets p ON p.status = 'ACTIVE'`;

/** Part of the statement that writes an event (features/audit/audit.store.ts): queues the users and groups that the event affects. */
export const PROVISIONING_NEWS = `provisioning AS (${entriesFor(`
    SELECT p.application_id, 'user' AS kind, e.target->0->>'id' AS id, e.published AS at,
      CASE WHEN e.event_type IN (${list(LEAVING)}) THEN e.published - ${AHEAD} ELSE e.published END AS due FROM event e ${TARGETS}
      WHERE e.event_type IN (${list(ABOUT_USERS)}) AND (${isAssignedTo(USER)} OR ${isKnown('user', USER)} OR ${isQueued(USER)})
    UNION ALL
    SELECT p.application_id, 'group', g.id, e.published, e.published FROM event e ${TARGETS} AND p.push_groups
      CROSS JOIN LATERAL (SELECT t->>'id' AS id FROM jsonb_array_elements(e.target) t WHERE t->>'type' = 'UserGroup') g
      WHERE e.event_type IN (${list(ABOUT_GROUPS)}) AND (${isKnown('group', 'g.id')}
        OR EXISTS (SELECT FROM application_groups a WHERE a.application_id = p.application_id AND a.group_id = g.id))
    UNION ALL
    SELECT p.application_id, 'all', '', e.published, e.published - ${AHEAD} FROM event e ${TARGETS}
      WHERE e.event_type IN (${list(ABOUT_MANY)}) AND (e.event_type = 'group.lifecycle.delete' OR e.target->1->>'id' = p.application_id)`)})`;

const MAY_SIGN_IN = "u.status NOT IN ('STAGED', 'SUSPENDED', 'DEPROVISIONED')";
const WANTED = `SELECT u.id FROM users u, provisioning_targets p WHERE p.application_id = :applicationId AND ${MAY_SIGN_IN} AND u.id IN (
    SELECT user_id FROM application_users WHERE application_id = :applicationId
    UNION SELECT m.user_id FROM application_groups a JOIN group_members m ON m.group_id = a.group_id WHERE a.application_id = :applicationId)`;
const WANTED_GROUPS = `SELECT a.group_id FROM application_groups a JOIN provisioning_targets p USING (application_id)
    WHERE a.application_id = :applicationId AND p.push_groups`;

const both = (kind: string, wanted: string): string => `
  SELECT :applicationId::text AS application_id, '${kind}' AS kind, coalesce(w.id, r.id) AS id, :now::timestamptz AS at,
      CASE WHEN w.id IS NULL THEN :now::timestamptz - ${AHEAD} ELSE :now END AS due
    FROM (${wanted}) w (id)
    FULL JOIN (SELECT id, state, digest, remote_id FROM provisioned_resources WHERE application_id = :applicationId AND kind = '${kind}') r ON r.id = w.id
    WHERE CASE WHEN w.id IS NULL THEN r.state <> 'DEACTIVATED' AND r.remote_id IS NOT NULL ELSE r.state IS DISTINCT FROM 'PROVISIONED' OR r.digest IS NULL END`;

/** Queues all users and groups whose state differs from the target. */
export async function queueDifferences(executor: Executor, applicationId: string, now: Date): Promise<void> {
  await executor.raw(missingEntriesFor(`${both('user', WANTED)} UNION ALL ${both('group', WANTED_GROUPS)}`), { applicationId, now });
}

const LEAVERS_FIRST = `UPDATE outbox SET due = :now::timestamptz - ${AHEAD}
  WHERE kind = '${PROVISIONING}' AND ordering_key = :applicationId AND due <= :now AND object_key IN (
    SELECT 'user:' || r.id FROM provisioned_resources r WHERE r.application_id = :applicationId AND r.kind = 'user' AND r.state <> 'DEACTIVATED'
      AND r.remote_id IS NOT NULL AND r.id NOT IN (${WANTED}))`;

/** Gives priority to removing users from the target over everything else that is due. */
export async function prioritizeRemovals(executor: Executor, applicationId: string, now: Date): Promise<void> {
  await executor.raw(LEAVERS_FIRST, { applicationId, now });
}

export interface Queued {
  readonly applicationId: string;
  readonly kind: 'user' | 'group' | 'all' | 'probe';
  /** Empty for `all` and `probe`. */
  readonly id: string;
}

/** Queues one, unless it is already queued. */
export async function queueOne(executor: Executor, { applicationId, kind, id }: Queued, now: Date): Promise<void> {
  const one =
    'SELECT :applicationId::text AS application_id, :kind::text AS kind, :id::text AS id, :now::timestamptz AS at, :now::timestamptz AS due';
  await executor.raw(missingEntriesFor(one), { applicationId, kind, id, now });
}

/** Queues the pushed groups of a user. */
export async function queueGroupsOf(executor: Executor, applicationId: string, userId: string, now: Date): Promise<void> {
  const groups = `SELECT :applicationId::text AS application_id, 'group' AS kind, m.group_id AS id, :now::timestamptz AS at, :now::timestamptz AS due
    FROM group_members m WHERE m.user_id = :userId AND m.group_id IN (${WANTED_GROUPS})`;
  await executor.raw(missingEntriesFor(groups), { applicationId, userId, now });
}
