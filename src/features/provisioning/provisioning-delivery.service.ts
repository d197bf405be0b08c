/**
 * Pushes users and groups to the SCIM targets of applications. While a target is unavailable, only a probe calls it, every 20 seconds or as the
 * target requests. When it responds, all waiting entries become due, removed users first. A resource that the target refuses is marked as failed and
 * delays no others.
 */

import { z } from 'zod';
import { present } from '../../platform/clock/clock.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import type { Outbound } from '../../platform/http/outbound.ts';
import { findGroup } from '../groups/groups.store.ts';
import { type Carrier, Postponed, Undeliverable } from '../outbox/outbox.service.ts';
import { endPausesOf } from '../outbox/outbox.store.ts';
import { findUserById } from '../users/users.store.ts';
import type { ProvisionedKind, ProvisioningTarget } from './provisioning.resource.ts';
import { findProvisioned, findProvisioningTarget, markAvailable, markUnavailable, saveProvisioned } from './provisioning.store.ts';
import { planUser, provisioningTargets, pushGroup, pushUser } from './provisioning-push.service.ts';
import { PROVISIONING, prioritizeRemovals, queueDifferences, queueOne } from './provisioning-queue.store.ts';
import { type ScimTarget, scimTarget, TargetRefusal, TargetUnavailable } from './scim-target.service.ts';

/** Maximum seconds of a delivery: several calls of up to five seconds each. */
const LONGEST_DELIVERY = 90;

/** Queues every user and group of an application that differs at the target, leaving users first. Ends pauses; deliveries in progress are left alone. */
export async function queueAll(trx: Executor, applicationId: string): Promise<void> {
  const now = present();
  await queueDifferences(trx, applicationId, now);
  await endPausesOf(trx, { kind: PROVISIONING, orderingKey: applicationId }, now, new Date(now.getTime() + LONGEST_DELIVERY * 1000));
  await prioritizeRemovals(trx, applicationId, now);
}

/** Seconds between two probes of an unavailable target. */
const PROBE_INTERVAL = 20;
/** Seconds for which an entry waits after a failed probe; it is due immediately when the target is back. */
const WHILE_AWAY = 600;
const entry = z.object({ applicationId: z.string(), kind: z.enum(['user', 'group', 'all', 'probe']), id: z.string() });

const secondsFromNow = (seconds: number): Date => new Date(present().getTime() + seconds * 1000);

/** Statuses that concern every resource: refused credentials, a wrong URL, too many requests. */
const TARGET_WIDE: readonly unknown[] = [401, 404, 429];

/**
 * Throws the error of a push again, as a refusal of this resource if the target is available otherwise.
 * @throws {TargetUnavailable} the target is unavailable for all
 * @throws {TargetRefusal} the target refuses this resource
 */
async function rethrow(scim: ScimTarget, error: unknown): Promise<never> {
  if (!(error instanceof TargetUnavailable) || TARGET_WIDE.includes(error.status)) throw error;
  await scim.check();
  throw new TargetRefusal(error.status ?? 503, error.message);
}

/** Attempts after which a push fails for good: about an hour. */
const MOST_ATTEMPTS = 62;
/** At most a minute: an entry of a user who is removed meanwhile waits behind this one. */
const pauseAfter = (failures: number): number | undefined => (failures < MOST_ATTEMPTS ? ([5, 30][failures - 1] ?? 60) : undefined);
/** Seconds to the next attempt of removing a user, after the first hour: it never fails for good. */
const LEAVER_PAUSE = 3600;
/** Stored as the digest if a user could not be removed: those failures are counted separately from earlier pushes. */
const LEAVING = 'leaving';

/** Temporary refusals are retried. Others wait for a change, or for a retry by an administrator. */
const isTemporary = ({ status }: TargetRefusal): boolean => status >= 500 || status === 403 || status === 408;

export function provisioningDelivery(services: Services, call: Outbound): Carrier {
  const { database, keyring } = services;

  async function probe(scim: ScimTarget, { applicationId, awaySince }: ProvisioningTarget): Promise<'delivered' | 'dropped'> {
    if (awaySince === null) return 'dropped';
    try {
      await scim.check();
    } catch (error) {
      if (error instanceof TargetUnavailable) throw new Postponed(error.message, error.retryAfter ?? PROBE_INTERVAL);
      throw error;
    }
    await database.transaction(async (trx) => {
      await markAvailable(trx, applicationId, present());
      await queueAll(trx, applicationId);
      // A running delivery is postponed when it ends, then prioritized.
      await queueOne(trx, { applicationId, kind: 'all', id: '' }, secondsFromNow(PROBE_INTERVAL));
    });
    return 'delivered';
  }

  async function goAway({ applicationId }: ProvisioningTarget, { message, retryAfter = PROBE_INTERVAL }: TargetUnavailable): Promise<void> {
    await database.transaction(async (trx) => {
      // With a pause: a target that only answers the probe would be called without end.
      if (await markUnavailable(trx, applicationId, present(), message))
        await queueOne(trx, { applicationId, kind: 'probe', id: '' }, secondsFromNow(retryAfter));
    });
  }

  /** @returns seconds to the next attempt; undefined: none, an administrator must intervene */
  async function noteFailure(
    target: ProvisioningTarget,
    kind: ProvisionedKind,
    id: string,
    error: TargetRefusal,
  ): Promise<number | undefined> {
    const { applicationId } = target;
    const before = await findProvisioned(database.knex, applicationId, kind, id);
    const name = kind === 'user' ? (await findUserById(database.knex, id))?.login : (await findGroup(database.knex, id))?.name;
    const isLeaver = kind === 'user' && ['deactivate', 'delete'].includes((await planUser(services, target, id)).action);
    const isFurther = isLeaver === (before?.digest === LEAVING);
    const failures = (isFurther ? (before?.failures ?? 0) : 0) + 1;
    const failed = {
      ...{ kind, id, name: name ?? before?.name ?? id, remoteId: null, createdThere: false, lastSuccess: null, ...before },
      ...{ state: 'FAILED' as const, digest: isLeaver ? LEAVING : null, failures, error: error.message, lastAttempt: present() },
    };
    await database.transaction((trx) => saveProvisioned(trx, target, failed));
    return isTemporary(error) ? (pauseAfter(failures) ?? (isLeaver ? LEAVER_PAUSE : undefined)) : undefined;
  }

  async function carry(scim: ScimTarget, target: ProvisioningTarget, kind: ProvisionedKind, id: string): Promise<void> {
    try {
      await (kind === 'user' ? pushUser : pushGroup)(services, scim, target, id).catch((error: unknown) => rethrow(scim, error));
    } catch (error) {
      if (error instanceof TargetUnavailable) {
        await goAway(target, error);
        throw new Postponed(error.message, WHILE_AWAY);
      }
      if (!(error instanceof TargetRefusal)) throw error;
      const pause = await noteFailure(target, kind, id, error);
      throw pause === undefined ? new Undeliverable(error.message) : new Postponed(error.message, pause);
    }
  }

  return {
    takenFor: LONGEST_DELIVERY,
    async deliver(payload) {
      const { applicationId, kind, id } = entry.parse(payload);
      const target = await findProvisioningTarget(database.knex, applicationId);
      if (target?.status !== 'ACTIVE') return 'dropped';
      if (kind === 'all') {
        await database.transaction((trx) => queueAll(trx, applicationId));
        return 'delivered';
      }
      const scim = scimTarget(keyring, call, target);
      if (kind === 'probe') return probe(scim, target);
      if (target.awaySince !== null) throw new Postponed(`the target is away: ${target.awayReason ?? ''}`, WHILE_AWAY);
      await carry(scim, target, kind, id);
      return 'delivered';
    },
    givenUp(payload) {
      const { applicationId, kind, id } = entry.parse(payload);
      const of = kind === 'group' ? 'group' : 'user';
      return {
        eventType: `application.provision.${of}.push`,
        displayMessage: of === 'user' ? 'Push user to the target' : 'Push group to the target',
        targets: provisioningTargets({ applicationId }, of, id, id),
      };
    },
    // A failure of this service, e.g. while the database is down.
    pauseAfter: (attempts) => Math.min(5 * attempts, 60),
  };
}
