/**
 * Takes the data of a deleted user out of the audit log, in batches behind their deletion: names, addresses, browsers, and what changes to them changed.
 * Their id stays as a pseudonym, the digests of what was taken out stay, so that the seals hold.
 */
import { present } from '../../platform/clock/clock.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { personalParts, withoutParts } from './audit-chain.policy.ts';
import { type Commitments, closeCommitments } from './audit-digests.service.ts';
import {
  beTheSealer,
  endErasure,
  findDueErasure,
  postponeErasure,
  rewriteEvents,
  type SealedEvent,
  takeEventsNaming,
} from './audit-seals.store.ts';

/** Events of one transaction at most. */
const BATCH = 500;
/** Milliseconds after which no request is under way any more that could still write of them. */
const LAST_LOOK = 120_000;

/** One batch. @returns whether there may be more to do at once */
export async function eraseDue({ database }: Pick<Services, 'database'>, batch = BATCH): Promise<boolean> {
  return database.transaction(async (trx) => {
    if (!(await beTheSealer(trx))) return false;
    const now = present();
    const erasure = await findDueErasure(trx, now);
    if (erasure === undefined) return false;
    const { userId, requested } = erasure;
    const { notes, events } = await takeEventsNaming<Commitments>(trx, userId, batch);
    await rewriteEvents(
      trx,
      events.map((event) => withoutUser(event, userId)),
    );
    if (notes === batch) return true;
    const lastLook = new Date(requested.getTime() + LAST_LOOK);
    if (now < lastLook) await postponeErasure(trx, userId, lastLook);
    else await endErasure(trx, userId);
    return true;
  });
}

function withoutUser(event: SealedEvent<Commitments>, userId: string): SealedEvent<Commitments> {
  const his = personalParts(event).filter(({ of }) => of.includes(userId));
  const open = his.map(({ name }) => name).filter((name) => 'salt' in (event.commitments[name] ?? {}));
  const names = new Set(open);
  return { ...withoutParts(event, names), commitments: closeCommitments(event, event.commitments, names) };
}
