/**
 * Verifies the audit log against its seals in one snapshot of the database: every event is unchanged and in one batch, the chain of hashes is intact,
 * its end is signed with a key of SECRET_KEY, and missing data was removed or erased by the service.
 */

import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { isBackdated, isNotMuchLater, PSEUDONYM, personalParts } from './audit-chain.policy.ts';
import { AuditSigner, type Commitments, contentDigest, eventDigest, sealHash } from './audit-digests.service.ts';
import {
  type AuditSeal,
  countUnsealed,
  deletedUserIds,
  eventsOfSeals,
  findLastRemoved,
  findUnbatchedEvent,
  findUserIds,
  listSeals,
  type SealedEvent,
} from './audit-seals.store.ts';

/** Number of seals read at a time. */
const PAGE = 20;

type Event = SealedEvent<Commitments>;

export interface AuditVerification {
  readonly events: number;
  readonly batches: number;
  /** Number of events that are in no batch yet. */
  readonly unsealed: number;
  /** Number of events without their personal data. */
  readonly pseudonymised: number;
  /** The last seal; undefined: there is none yet. */
  readonly head: { readonly n: number; readonly hash: string; readonly sealed: Date } | undefined;
  /** Batches that retention removed, from the first one on. */
  readonly removed: { readonly last: number; readonly events: number } | undefined;
  /** The first problem; undefined: the log is unchanged. */
  readonly mistake: string | undefined;
}

class Mistake extends Error {
  override readonly name = 'Mistake';
}

/** A seal copied to another place. */
export interface ExternalSeal {
  readonly n: number;
  readonly hash: string;
}

/** @param noted a seal that was copied elsewhere; it must be in the chain, because a truncated end leaves no trace in the database */
export async function verifyAuditLog(
  { database, keyring }: Pick<Services, 'database' | 'keyring'>,
  noted?: ExternalSeal,
): Promise<AuditVerification> {
  return database.knex.transaction(
    async (trx) => {
      const lastRemoved = await findLastRemoved(trx);
      const walk = new Walk(trx, new AuditSigner(keyring), lastRemoved, await deletedUserIds(trx), noted);
      const mistake = await walk.toTheEnd().then(
        () => undefined,
        (error: unknown) => {
          if (error instanceof Mistake) return error.message;
          throw error;
        },
      );
      const { events, batches, pseudonymised, removedEvents, last } = walk;
      return {
        events,
        batches,
        unsealed: await countUnsealed(trx),
        pseudonymised,
        head: last && { n: last.n, hash: last.hash, sealed: last.sealed },
        removed: lastRemoved && { last: lastRemoved.n, events: removedEvents },
        mistake,
      };
    },
    { isolationLevel: 'repeatable read', readOnly: true },
  );
}

/** Checks one seal after another, from the first to the last. Every step throws the mistake that it finds. */
class Walk {
  events = 0;
  batches = 0;
  pseudonymised = 0;
  removedEvents = 0;
  last: AuditSeal | undefined;
  /** When the last complete batch was sealed: no event was unsealed then. */
  #allSealedAt: Date | undefined;
  /** The last seal whose key is not in SECRET_KEY, until a later seal with a known key confirms it. */
  #unproven: AuditSeal | undefined;

  constructor(
    readonly trx: Executor,
    readonly signer: AuditSigner,
    readonly lastRemoved: Omit<AuditSeal, 'entries'> | undefined,
    readonly deleted: ReadonlySet<string>,
    readonly noted: ExternalSeal | undefined,
  ) {}

  async toTheEnd(): Promise<void> {
    this.#checkRemoval();
    for (;;) {
      const page = await listSeals(this.trx, this.last?.n ?? 0, PAGE);
      if (page.length === 0) break;
      await this.#checkPage(page);
    }
    if (this.#unproven !== undefined) {
      throw new Mistake(`Seal ${this.#unproven.n} is signed with a key that SECRET_KEY does not hold, and nothing after it proves it.`);
    }
    const end = this.last?.n ?? 0;
    if (this.noted !== undefined && this.noted.n > end) throw new Mistake(`Seal ${this.noted.n}, which was noted, is missing.`);
    const stray = await findUnbatchedEvent(this.trx, end);
    if (stray !== undefined) throw new Mistake(`The seal of event ${stray.seq}, ${stray.seal}, is missing.`);
  }

  #checkRemoval(): void {
    if (!this.lastRemoved?.removed) return;
    const { n, hash, removed, removalKeyId: keyId, removalMac: mac } = this.lastRemoved;
    if (this.signer.isRemovalRight({ n, hash, removed }, { keyId: keyId ?? '', mac: mac ?? '' })) return;
    throw new Mistake(`The events up to seal ${n} are missing, and no key of SECRET_KEY vouches for their removal.`);
  }

  async #checkPage(seals: readonly AuditSeal[]): Promise<void> {
    const events = await eventsOfSeals<Commitments>(this.trx, this.last?.n ?? 0, seals.at(-1)?.n ?? 0);
    for (const seal of seals) {
      this.#checkSeal(seal);
      const its = events.filter((event) => event.seal === seal.n);
      if (seal.entries === null) this.#checkRemoved(seal, its);
      else this.#checkEvents(seal, its);
      await this.#checkPseudonyms(its);
      this.batches += 1;
      if (seal.complete) this.#allSealedAt = seal.sealed;
      this.last = seal;
    }
  }

  #checkSeal(seal: AuditSeal): void {
    const expected = (this.last?.n ?? 0) + 1;
    if (seal.n !== expected) throw new Mistake(`Seal ${expected} is missing.`);
    if (seal.previous !== (this.last?.hash ?? '')) throw new Mistake(`Seal ${seal.n} does not follow from the seal before.`);
    if (seal.hash !== sealHash(seal)) throw new Mistake(`Seal ${seal.n} was changed.`);
    const signed = this.signer.isSealRight(seal.hash, seal);
    if (signed === false) throw new Mistake(`Seal ${seal.n} is not signed by this service.`);
    this.#unproven = signed ? undefined : seal;
    if (this.noted?.n === seal.n && this.noted.hash !== seal.hash) throw new Mistake(`Seal ${seal.n} is not the one that was noted.`);
    if (seal.entries !== null && contentDigest(seal.entries) !== seal.content) {
      throw new Mistake(`The list of events of seal ${seal.n} was changed.`);
    }
  }

  #checkRemoved(seal: AuditSeal, [event]: readonly Event[]): void {
    if (event !== undefined) throw new Mistake(`${describe(event)} stands in batch ${seal.n}, whose events were removed.`);
    const isExplained = this.lastRemoved !== undefined && seal.n <= this.lastRemoved.n;
    if (!isExplained) throw new Mistake(`The events of seal ${seal.n} are missing, and not by retention.`);
    this.removedEvents += seal.count;
  }

  #checkEvents({ n, entries }: AuditSeal, events: readonly Event[]): void {
    const there = new Map(events.map((event) => [event.seq, event]));
    for (const [seq, digest] of entries ?? []) {
      const event = there.get(seq);
      if (event === undefined) throw new Mistake(`Event ${seq} is missing in the batch of seal ${n}.`);
      if (eventDigest(event, event.commitments ?? {}) !== digest) throw new Mistake(`${describe(event)} of seal ${n} was changed.`);
      if (isBackdated(event.published, this.#allSealedAt)) {
        throw new Mistake(`${describe(event)} of seal ${n} was inserted later: it was not there when seal ${n - 1} was made.`);
      }
      there.delete(seq);
    }
    const [event] = there.values();
    if (event !== undefined) throw new Mistake(`${describe(event)} was not there when seal ${n} was made.`);
    this.events += events.length;
  }

  /** Removed personal data must belong to deleted users. */
  async #checkPseudonyms(events: readonly Event[]): Promise<void> {
    const gone = events.flatMap((event) => takenOut(event).map((of) => ({ event, of })));
    if (gone.length === 0) return;
    const there = await findUserIds(this.trx, new Set(gone.flatMap(({ of }) => of)));
    // Retention may have removed the event about the deletion.
    const removedUntil = this.lastRemoved?.newest ?? undefined;
    for (const { event, of } of gone) {
      const isExplained = (id: string) => !there.has(id) && (this.deleted.has(id) || isNotMuchLater(event.published, removedUntil));
      if (!of.some(isExplained)) {
        throw new Mistake(`${describe(event)} was pseudonymised, but no deletion of ${of.join(' or ')} explains it.`);
      }
    }
    this.pseudonymised += new Set(gone.map(({ event }) => event.seq)).size;
  }
}

const describe = ({ seq, eventType, published }: Event): string => `Event ${seq} (${eventType}, ${published.toISOString()})`;

/** @returns the user IDs of each erased part @throws {Mistake} the part contains something else */
function takenOut(event: Event): (readonly string[])[] {
  return personalParts(event)
    .filter(({ name }) => 'digest' in (event.commitments[name] ?? {}))
    .map(({ value, of }) => {
      if (value !== PSEUDONYM && JSON.stringify(value) !== '{}')
        throw new Mistake(`${describe(event)} was pseudonymised and changed afterwards.`);
      return of;
    });
}
