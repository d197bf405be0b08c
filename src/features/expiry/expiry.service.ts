/** Deletes expired rows periodically, in limited batches; any number of processes can do so concurrently. */
import { setTimeout as wait } from 'node:timers/promises';
import { LIFETIMES } from '../../../config/defaults.ts';
import { epochSeconds, present } from '../../platform/clock/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { deleteOldNotices } from '../../platform/database/polled-notifications.ts';
import { deleteOldHeartbeats } from '../../platform/database/read-replica.ts';
import { deleteExpiredFailures } from '../../platform/rate-limits/failures-by-address.store.ts';
import { inTrace, type SpanFacts } from '../../platform/telemetry/tracing.ts';
import { deleteExpired } from '../../protocol/storage/protocol-state.store.ts';
import { deleteExpiredApplications } from '../applications/expired-applications.service.ts';
import { deleteRetiredKeys } from '../authorization-servers/signing-keys.store.ts';
import { deleteExpiredJobs } from '../bulk/bulk-jobs.store.ts';
import { deleteExpiredCodes } from '../email-codes/email-codes.store.ts';
import { deleteSurplusDeliveries } from '../event-hooks/event-hooks.store.ts';
import { foldGroupCounts } from '../groups/groups.store.ts';
import { deleteExpiredCalls } from '../idempotency/idempotent-calls.store.ts';
import { deleteExpiredMails } from '../mail/dev-inbox.store.ts';
import { deleteExpiredInvitations } from '../organization-invitations/organization-invitations.store.ts';
import { deleteExpiredSetups } from '../organization-setup/organization-setup.store.ts';
import { foldMemberCounts } from '../organizations/memberships.store.ts';
import { deleteExpiredRegistrationTokens } from '../registration/registration-tokens.store.ts';
import { deleteExpiredDevices } from '../sign-in/failed-sign-ins.store.ts';
import { deleteExpiredLinks } from '../sign-in/one-time-links.store.ts';
import { deleteExpiredStates } from '../sign-in/sign-in-states.store.ts';
import { deleteUnwantedSignals } from '../signals/signal-streams.service.ts';
import { deleteExpiredTrustedBrowsers } from '../trusted-browsers/trusted-browsers.store.ts';
import { eraseRemovedAttributes } from '../user-schema/attribute-definitions.service.ts';
import { USER_SCHEMA } from '../user-schema/user-schema.store.ts';
import { deleteExpiredVerifications } from '../users/email-verifications.store.ts';

const EVERY = 60_000;
const BATCH = 5000;
/** Milliseconds between batches, so that the database stays available for requests. */
const PAUSE = 100;
/** Milliseconds for which a retired signing key is kept. */
const RETIRED_KEY_KEPT = (LIFETIMES.retiredKeyPublished + LIFETIMES.retiredKeyKept) * 1000;

/** Deletes one batch of each kind. @returns the size of the largest batch; less than `limit` if nothing is left */
export async function removeExpired({ pool, knex }: Database, limit: number): Promise<number> {
  return Math.max(
    await deleteExpired(pool, epochSeconds(), limit),
    await deleteExpiredCalls(knex, present(), limit),
    await deleteExpiredLinks(knex, present(), limit),
    await deleteExpiredInvitations(knex, present(), limit),
    await deleteExpiredSetups(knex, present(), limit),
    await deleteExpiredCodes(knex, present(), limit),
    await deleteExpiredVerifications(knex, present(), limit),
    await deleteExpiredMails(knex, present(), limit),
    await deleteExpiredStates(knex, present(), limit),
    await deleteExpiredDevices(knex, present(), limit),
    await deleteExpiredTrustedBrowsers(knex, present(), limit),
    await deleteExpiredJobs(knex, present(), limit),
    await deleteExpiredFailures(knex, Date.now(), limit),
    await deleteOldNotices(knex, limit),
    await deleteOldHeartbeats(knex, limit),
    await deleteExpiredRegistrationTokens(knex, present(), limit),
    await deleteSurplusDeliveries(knex, limit),
    await deleteUnwantedSignals(knex, present(), limit),
    await deleteRetiredKeys(knex, new Date(present().getTime() - RETIRED_KEY_KEPT), limit),
  );
}

/** One batch of every clean-up: expired rows, expired applications, values of removed attributes, and counters. @returns as `removeExpired` */
export async function sweep(services: Services): Promise<number> {
  return Math.max(
    await removeExpired(services.database, BATCH),
    await deleteExpiredApplications(services),
    await eraseRemovedAttributes(services, BATCH),
    await foldMemberCounts(services.database.knex, BATCH),
    await foldGroupCounts(services.database.knex, BATCH),
  );
}

const SWEEP: SpanFacts = { name: 'remove expired rows', kind: 'internal' };

/** Starts the clean-up. Removed user attributes are processed immediately. @returns a handle that stops it */
export function sweepExpired(services: Services): { stop(): Promise<void> } {
  const { notifications, log } = services;
  let isStopping = false;
  let isCalled = false;
  let resting = new AbortController();
  const rest = async (milliseconds: number) => {
    resting = new AbortController();
    if (!isCalled && !isStopping) await wait(milliseconds, undefined, { signal: resting.signal, ref: false }).catch(() => undefined);
    isCalled = false;
  };
  notifications.subscribe((change) => {
    if (change === 'everything' || change.kind !== 'settings' || change.id !== USER_SCHEMA) return;
    isCalled = true;
    resting.abort();
  });
  const done = (async () => {
    while (!isStopping) {
      try {
        await rest((await inTrace(SWEEP, () => sweep(services))) < BATCH ? EVERY : PAUSE);
      } catch (error) {
        if (isStopping) return;
        log.warn({ err: error }, 'could not delete expired rows; trying again');
        await rest(EVERY);
      }
    }
  })();
  return {
    stop() {
      isStopping = true;
      resting.abort();
      return done;
    },
  };
}
