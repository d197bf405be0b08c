/**
 * Seals the audit log in batches, each bound to the one before by its hash and signed (docs/how-to/operate.md, "Audit log"), and runs the
 * erasure of deleted users and the retention. One process at a time does this, in the background.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { present } from '../../platform/clock/clock.ts';
import { timings } from '../../platform/clock/timings.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { inTrace } from '../../platform/telemetry/tracing.ts';
import { namesIn } from './audit-chain.policy.ts';
import { AuditSigner, contentDigest, eventDigest, newCommitments, sealHash } from './audit-digests.service.ts';
import { eraseDue, removeOldEvents } from './audit-retention.service.ts';
import { findHead, findSealNews, insertSeal, lockSealing, markSealed, nameInEvents, unsealedEvents } from './audit-seals.store.ts';

/** Milliseconds between two checks for events at the end of their retention. */
const RETENTION_EVERY = 60_000;
/** Maximum events per batch. Hashing them blocks the process for some hundredths of a second. */
const BATCH = 250;

type Sealing = Pick<Services, 'database' | 'log' | 'keyring'>;

/** A seal that this process has made or read. */
export interface SeenSeal {
  readonly n: number;
  readonly hash: string;
}

/**
 * Seals one batch of unsealed events, or an empty one if SECRET_KEY has a new key, so that the new key signs everything before.
 * @returns the seal and whether there is more; undefined if there was nothing to seal, or another process is sealing
 */
export async function sealBatch(
  { database, keyring }: Sealing,
  batch = BATCH,
): Promise<(SeenSeal & { readonly count: number; readonly complete: boolean }) | undefined> {
  const signer = new AuditSigner(keyring);
  return database.transaction(async (trx) => {
    if (!(await lockSealing(trx))) return undefined;
    const head = await findHead(trx);
    const events = (await unsealedEvents(trx, batch)).map((event) => ({ ...event, commitments: newCommitments(event) }));
    if (events.length === 0 && (head === undefined || head.keyId === signer.keyId)) return undefined;

    const entries = events.map((event) => [event.seq, eventDigest(event, event.commitments)] as const);
    const times = events.map(({ published }) => published.getTime());
    const seal = {
      n: (head?.n ?? 0) + 1,
      previous: head?.hash ?? '',
      content: contentDigest(entries),
      count: events.length,
      newest: times.length === 0 ? null : new Date(Math.max(...times)),
      complete: events.length < batch,
      sealed: present(),
    };
    const hash = sealHash(seal);
    await insertSeal(trx, { ...seal, hash, ...signer.signSeal(hash), entries });
    const marked = await markSealed(
      trx,
      seal.n,
      events.map(({ seq, commitments }) => ({ seq, commitments })),
    );
    if (marked !== events.length) throw new Error('audit events changed while they were being sealed');
    await nameInEvents(trx, namesIn(events));
    return { n: seal.n, hash, count: seal.count, complete: seal.complete };
  });
}

/** Starts sealing. @returns a handle that stops it after the current batch */
export function sealAuditLog(services: Sealing): { stop(): Promise<void> } {
  const { database, keyring, log } = services;
  const { keyId } = new AuditSigner(keyring);
  const stopping = new AbortController();
  let seen: SeenSeal | undefined;
  let retentionDue = performance.now() + RETENTION_EVERY;

  async function round(): Promise<void> {
    const news = await findSealNews(database.pool, seen?.n, present());
    // Detects a log that was restored to an earlier state or replaced: a change of the database does not change this process's memory.
    if (seen !== undefined && news.hash !== seen.hash)
      log.error(
        { seal: seen.n, hash: seen.hash },
        'the audit log was changed: a seal is missing or was replaced. Run gatehouse audit verify',
      );
    seen = news.head ?? undefined;
    for (let more = news.unsealed || (news.head !== null && news.head.keyId !== keyId); more && !stopping.signal.aborted; ) {
      const seal = await inTrace({ name: 'seal audit events', kind: 'internal' }, () => sealBatch(services));
      more = seal?.complete === false;
      seen = seal ?? seen;
      // If the service's log is kept elsewhere, nobody with access to the database alone can roll the audit log back unnoticed.
      if (seal !== undefined) log.info({ seal: seal.n, hash: seal.hash, events: seal.count }, 'audit events sealed');
    }
    while (news.erasureDue && !stopping.signal.aborted && (await eraseDue(services)));
    if (performance.now() < retentionDue) return;
    while (!stopping.signal.aborted && (await removeOldEvents(services)));
    retentionDue = performance.now() + RETENTION_EVERY;
  }

  const done = (async () => {
    while (!stopping.signal.aborted) {
      await round().catch((error: unknown) => log.warn({ err: error }, 'could not seal the audit log; trying again'));
      await wait(timings.sealPause, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
    }
  })();
  return {
    stop() {
      stopping.abort();
      return done;
    },
  };
}
