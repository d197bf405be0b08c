/**
 * Removes audit events at the end of their retention (settings/audit), and erases the data of deleted users from the others. Retention removes whole
 * batches, oldest first, so that the remaining log has no gaps. Their seals stay, and the last removed seal gets a signature: if events are missing
 * without it, they were not removed by the service.
 */
import { present } from '../../platform/clock/clock.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { readSettings } from '../settings/settings.service.ts';
import { recordEvent } from './audit.service.ts';
import { namesIn, personalParts, withoutParts } from './audit-chain.policy.ts';
import { AuditSigner, type Commitments, closeCommitments } from './audit-digests.service.ts';
import { SYSTEM } from './audit-event.policy.ts';
import {
  claimEventsNaming,
  endErasure,
  eventsOfSeals,
  findDueErasure,
  findLastRemoved,
  lockSealing,
  markRemoved,
  oldestKeptSeals,
  postponeErasure,
  removeEvents,
  rewriteEvents,
  type SealedEvent,
  signRemoval,
} from './audit-seals.store.ts';

/** Maximum events per transaction; a single larger batch is still removed whole. */
const MOST_EVENTS = 2000;
const MOST_SEALS = 200;
const DAY_MS = 86_400_000;

type Removing = Pick<Services, 'database' | 'log' | 'keyring'>;

/** One step. @returns whether there may be more */
export async function removeOldEvents(services: Removing): Promise<boolean> {
  const { database, keyring } = services;
  await renewSignature(services);
  const { retentionDays } = await readSettings(services, 'audit');
  if (retentionDays === null) return false;
  return database.transaction(async (trx) => {
    if (!(await lockSealing(trx))) return false;
    const now = present();
    const keptSince = new Date(now.getTime() - retentionDays * DAY_MS);
    const seals = await oldestKeptSeals(trx, MOST_SEALS);
    let events = 0;
    const firstKept = seals.findIndex(({ newest, sealed, count }, turn) => {
      events += count;
      return (newest ?? sealed) >= keptSince || (turn > 0 && events > MOST_EVENTS);
    });
    const old = firstKept === -1 ? seals : seals.slice(0, firstKept);
    const [first, last] = [old[0], old.at(-1)];
    if (first === undefined || last === undefined) return false;

    const removed = await removeEvents(trx, first.n, last.n, namesIn(await eventsOfSeals(trx, first.n - 1, last.n)));
    await markRemoved(trx, first.n, last.n, now);
    await signRemoval(trx, last.n, new AuditSigner(keyring).signRemoval({ n: last.n, hash: last.hash, removed: now }));
    if (removed > 0) {
      await recordEvent(trx, {
        eventType: 'system.audit.remove',
        displayMessage: 'Remove audit events that were kept long enough',
        request: SYSTEM,
        targets: [{ id: 'audit', type: 'Settings', displayName: 'audit' }],
        before: { firstSeal: first.n, lastSeal: last.n, events: removed, retentionDays },
      });
    }
    return true;
  });
}

/** After a change of SECRET_KEY, signs the removal record with the new key, as long as a previous key still verifies it. */
export async function renewSignature({ database, keyring, log }: Removing): Promise<void> {
  const signer = new AuditSigner(keyring);
  await database.transaction(async (trx) => {
    if (!(await lockSealing(trx))) return;
    const last = await findLastRemoved(trx);
    if (!last?.removed || last.removalKeyId === null || last.removalKeyId === signer.keyId) return;
    const removal = { n: last.n, hash: last.hash, removed: last.removed };
    if (signer.isRemovalRight(removal, { keyId: last.removalKeyId, mac: last.removalMac ?? '' })) {
      await signRemoval(trx, last.n, signer.signRemoval(removal));
    } else
      log.error({ seal: last.n }, 'audit events are missing, and no key in SECRET_KEY confirms their removal. Run gatehouse audit verify');
  });
}

// Erases the data of a deleted user from the audit log, in batches after the deletion: names, addresses, browsers, and the values of their
// account that events recorded. The ID stays as a pseudonym. The digests of the erased data stay, so that the seals remain valid.

/** Maximum events per transaction. */
const BATCH = 500;
/** Milliseconds after the deletion in which requests that began before it may still write events about the user. */
const LATE_EVENTS = 120_000;

/** Erases one batch. @returns whether there may be more to do at once */
export async function eraseDue({ database }: Pick<Services, 'database'>, batch = BATCH): Promise<boolean> {
  return database.transaction(async (trx) => {
    if (!(await lockSealing(trx))) return false;
    const now = present();
    const erasure = await findDueErasure(trx, now);
    if (erasure === undefined) return false;
    const { userId, requested } = erasure;
    const { notes, events } = await claimEventsNaming<Commitments>(trx, userId, batch);
    await rewriteEvents(
      trx,
      events.map((event) => withoutUser(event, userId)),
    );
    if (notes === batch) return true;
    const lastPass = new Date(requested.getTime() + LATE_EVENTS);
    if (now < lastPass) await postponeErasure(trx, userId, lastPass);
    else await endErasure(trx, userId);
    return true;
  });
}

function withoutUser(event: SealedEvent<Commitments>, userId: string): SealedEvent<Commitments> {
  const personal = personalParts(event).filter(({ of }) => of.includes(userId));
  // A part without a salt was erased before.
  const names = new Set(personal.map(({ name }) => name).filter((name) => 'salt' in (event.commitments[name] ?? {})));
  return { ...withoutParts(event, names), commitments: closeCommitments(event, event.commitments, names) };
}
