/** Data of the console dashboard: activity, expiries, health, totals and remaining set-up steps. */
import { LIFETIMES } from '../../../config/defaults.ts';
import { present } from '../../platform/clock/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { isWithin, reachOf } from '../administrators/administration.policy.ts';
import { hasApiTokens, listExpiringTokens } from '../api-tokens/api-tokens.store.ts';
import { countApplications } from '../applications/applications.store.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { findHead } from '../audit/audit-seals.store.ts';
import { listAuthorizationServers } from '../authorization-servers/authorization-servers.service.ts';
import { nextRotation } from '../authorization-servers/signing-keys.policy.ts';
import { listKeysInUse, listKeysRetiredAfter } from '../authorization-servers/signing-keys.store.ts';
import { readMailState } from '../mail/mail-delivery.service.ts';
import { mailRoute } from '../mail/mail-route.service.ts';
import { acceptsUnknownClients } from '../mcp-servers/protected-resource.policy.ts';
import { countOrganizations, findOrganization } from '../organizations/organizations.store.ts';
import { outboxLoad } from '../outbox/outbox.store.ts';
import { findSettings } from '../settings/settings.store.ts';
import { countUsers, countWaitingSignUps } from '../users/users.store.ts';

const DAY_MS = 86_400_000;
const SOON_MS = 30 * DAY_MS;
const MOST_OF_A_KIND = 10;
/** Larger numbers are shown as “at least”. */
const MOST_WAITING = 10_000;
/** Cache time of counts, which read many rows. */
const FRESH_MS = 60_000;

export interface Totals {
  readonly users: number;
  readonly applications: number;
  readonly organizations: number;
}

async function countAll({ knex }: Database): Promise<Totals> {
  return {
    users: await countUsers(knex),
    applications: await countApplications(knex),
    organizations: await countOrganizations(knex),
  };
}

const totals = new WeakMap<Database, { readonly at: number; readonly counted: Promise<Totals> }>();

/** Counts at most once a minute in each process, regardless of the number of readers. */
export async function readTotals(database: Database): Promise<Totals> {
  const now = present().getTime();
  const kept = totals.get(database);
  const isFresh = kept !== undefined && Math.abs(now - kept.at) < FRESH_MS;
  const counted = isFresh ? kept.counted : countAll(database);
  if (!isFresh) totals.set(database, { at: now, counted });
  try {
    return await counted;
  } catch (error) {
    totals.delete(database);
    throw error;
  }
}

export interface Expiry {
  readonly what: 'token' | 'key-rotation' | 'retired-key';
  /** ID of the token or server. */
  readonly id: string;
  readonly name: string;
  readonly at: Date;
}

/** Tokens and keys that expire or rotate within 30 days, soonest first. Administrators of organizations see their own tokens only. */
export async function listExpiries(services: Services, userId: string, request: RequestContext): Promise<readonly Expiry[]> {
  const { knex } = services.database;
  const now = present();
  const until = new Date(now.getTime() + SOON_MS);
  const seesAll = reachOf(request.roles ?? [], 'read') === 'everything';
  const tokens = await listExpiringTokens(knex, { from: now, until, userId: seesAll ? undefined : userId }, MOST_OF_A_KIND);
  const expiries = tokens.flatMap(({ id, name, expiresAt }): Expiry[] =>
    expiresAt === null ? [] : [{ what: 'token', id, name, at: expiresAt }],
  );
  if (!seesAll) return expiries;
  const servers = new Map((await listAuthorizationServers(services)).map((server) => [server.id, server]));
  const rotations = (await listKeysInUse(knex)).flatMap(({ serverId, activated, nextCreated }): Expiry[] => {
    const server = servers.get(serverId);
    const at = server && nextRotation(server.rotationMode, { activated, nextCreated: nextCreated ?? undefined }, LIFETIMES);
    return server === undefined || at === undefined || at > until ? [] : [{ what: 'key-rotation', id: serverId, name: server.name, at }];
  });
  const published = LIFETIMES.retiredKeyPublished * 1000;
  const retired = (await listKeysRetiredAfter(knex, new Date(now.getTime() - published), MOST_OF_A_KIND)).map(
    ({ serverId, retired: since }): Expiry => ({
      what: 'retired-key',
      id: serverId,
      name: servers.get(serverId)?.name ?? serverId,
      at: new Date(since.getTime() + published),
    }),
  );
  return [...expiries, ...rotations.slice(0, MOST_OF_A_KIND), ...retired].sort((a, b) => a.at.getTime() - b.at.getTime());
}

export interface Health {
  /** Response time of the database in milliseconds. */
  readonly databaseMs: number;
  readonly outbox: { readonly count: number; readonly isMore: boolean; readonly oldest: Date | null };
  /** undefined: nothing was sealed yet. */
  readonly sealed: Date | undefined;
  /** Current delivery of e-mail. */
  readonly mail: 'server' | 'inbox' | 'nowhere';
  /** Number of e-mails that failed for good in the last seven days. */
  readonly mailsFailed: number;
  /** Sign-ups that wait for approval. */
  readonly waitingSignUps: number;
}

/** @throws the database does not respond; an error page then replaces the dashboard */
export async function readHealth(services: Services, request: RequestContext): Promise<Health> {
  const { database } = services;
  const begun = performance.now();
  await database.ping();
  const databaseMs = performance.now() - begun;
  const { kind: mail } = await mailRoute(services, request);
  const { count, oldest } = await outboxLoad(database.knex, MOST_WAITING + 1);
  return {
    databaseMs,
    outbox: { count: Math.min(count, MOST_WAITING), isMore: count > MOST_WAITING, oldest },
    sealed: (await findHead(database.knex))?.sealed,
    mail: mail === 'server' || mail === 'inbox' ? mail : 'nowhere',
    mailsFailed: (await readMailState(services)).failed.count,
    waitingSignUps: await countWaitingSignUps(database.knex),
  };
}

export type NextStep = 'application' | 'token' | 'branding' | 'mail' | 'mcp';

interface Step {
  readonly step: NextStep;
  readonly isDone: boolean;
  /** Is the step optional? Absent: it is required. */
  readonly isOptional?: boolean;
}

/** Set-up steps of a new installation, in order, with their state. */
export async function listNextSteps(services: Services): Promise<readonly Step[]> {
  const { knex } = services.database;
  const branding = (await findSettings(knex, 'branding')) ?? {};
  return [
    { step: 'application', isDone: (await countApplications(knex)) > 0 },
    { step: 'token', isDone: await hasApiTokens(knex) },
    { step: 'branding', isDone: Object.keys(branding).length > 0 },
    { step: 'mail', isDone: (await mailRoute(services)).kind === 'server' },
    { step: 'mcp', isDone: (await listAuthorizationServers(services)).some(acceptsUnknownClients), isOptional: true },
  ];
}

export interface OwnOrganization {
  readonly id: string;
  readonly name: string;
  readonly memberCount: number;
}

/** Organizations of an administrator with limited access. */
export async function listOwnOrganizations({ database: { knex } }: Services, request: RequestContext): Promise<readonly OwnOrganization[]> {
  const reach = reachOf(request.roles ?? [], 'read', 'ANY');
  if (reach === 'everything') return [];
  const found = await Promise.all([...reach].slice(0, MOST_OF_A_KIND).map((id) => findOrganization(knex, id)));
  return found.flatMap((one) =>
    one === undefined || !isWithin(reach, one.id) ? [] : [{ id: one.id, name: one.name, memberCount: one.memberCount }],
  );
}
