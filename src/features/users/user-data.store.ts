/** Reads all data about a user for that user: without secrets and hashes, plus audit events. Reads only. */

import type { Executor } from '../../platform/database/database.ts';
import { EVENT } from '../audit/audit.store.ts';
import type { StoredEvent } from '../audit/events.resource.ts';
import { type BrowserSession, listBrowserSessions } from '../sessions/browser-sessions.store.ts';

export interface UserData {
  readonly memberships: readonly { orgId: string; orgName: string; depId: string | null; depName: string | null; created: Date }[];
  readonly groups: readonly { id: string; name: string; created: Date }[];
  readonly applications: readonly { id: string; label: string; assignedBy: 'USER' | 'GROUP'; created: Date }[];
  readonly identityProviders: readonly {
    id: string;
    name: string;
    subject: string;
    knownAs: string | null;
    created: Date;
    lastUsed: Date | null;
  }[];
  readonly apiTokens: readonly { id: string; name: string; created: Date; expiresAt: Date | null; lastUsed: Date | null }[];
  /** Countries from which the user has signed in, if they are recorded. */
  readonly countries: readonly { country: string; lastUsed: Date }[];
  readonly sessions: readonly Omit<BrowserSession, 'uid'>[];
}

const MEMBERSHIPS = `SELECT m.org_id AS "orgId", o.name AS "orgName", m.dep_id AS "depId", d.name AS "depName", m.created
  FROM memberships m JOIN organizations o ON o.id = m.org_id LEFT JOIN departments d ON d.org_id = m.org_id AND d.id = m.dep_id
  WHERE m.user_id = :userId ORDER BY m.seq`;
const GROUPS =
  'SELECT g.id, g.name, m.created FROM group_members m JOIN groups g ON g.id = m.group_id WHERE m.user_id = :userId ORDER BY m.created, g.seq';
const APPLICATIONS = `SELECT a.id, a.label, 'USER' AS "assignedBy", u.created FROM application_users u JOIN applications a ON a.id = u.application_id
    WHERE u.user_id = :userId
  UNION ALL SELECT a.id, a.label, 'GROUP', min(g.created) FROM group_members m JOIN application_groups g ON g.group_id = m.group_id
    JOIN applications a ON a.id = g.application_id WHERE m.user_id = :userId GROUP BY a.id
  ORDER BY 4, 1, 3`;
const IDENTITY_PROVIDERS = `SELECT p.id, p.name, l.subject, l.known_as AS "knownAs", l.created, l.last_used AS "lastUsed"
  FROM identity_provider_links l JOIN identity_providers p ON p.id = l.idp_id
  WHERE l.user_id = :userId ORDER BY l.seq`;
const COUNTRIES = 'SELECT country, last_used AS "lastUsed" FROM sign_in_countries WHERE user_id = :userId ORDER BY country';
const API_TOKENS =
  'SELECT id, name, created, expires_at AS "expiresAt", last_used AS "lastUsed" FROM api_tokens WHERE user_id = :userId ORDER BY seq';

/** @param now sessions that have ended by then are omitted */
export async function readUserData(executor: Executor, userId: string, now: Date): Promise<UserData> {
  const rows = async <T>(sql: string): Promise<T[]> => (await executor.raw<{ rows: T[] }>(sql, { userId, now })).rows;
  return {
    memberships: await rows(MEMBERSHIPS),
    groups: await rows(GROUPS),
    applications: await rows(APPLICATIONS),
    identityProviders: await rows(IDENTITY_PROVIDERS),
    apiTokens: await rows(API_TOKENS),
    countries: await rows(COUNTRIES),
    sessions: (await listBrowserSessions(executor, userId, now)).map(({ uid: _, ...session }) => session),
  };
}

export interface NumberedEvent extends StoredEvent {
  readonly seq: string;
}

export interface ActivityQuery {
  readonly userId: string;
  readonly eventTypes: readonly string[];
  readonly limit: number;
  /** Only those with a smaller number. */
  readonly before?: string | undefined;
}

/** Events about the user, and their consents, newest first. Sealed batches are found by `audit_people`; the newest events are in no batch yet. */
export async function listActivity(executor: Executor, { userId, eventTypes, limit, before }: ActivityQuery): Promise<NumberedEvent[]> {
  const asTarget = JSON.stringify([{ id: userId }]);
  const about = executor('audit_events')
    .whereIn('event_type', [...eventTypes])
    .whereRaw("(target @> ?::jsonb OR (actor->>'id' = ? AND event_type = 'app.oauth2.as.consent.grant'))", [asTarget, userId])
    .andWhere((either) => either.whereNull('seal').orWhereIn('seq', executor('audit_people').where({ user_id: userId }).select('seq')));
  if (before !== undefined) about.where('seq', '<', before);
  return about
    .select<NumberedEvent[]>({ ...EVENT, seq: 'seq' })
    .orderBy('seq', 'desc')
    .limit(limit);
}
