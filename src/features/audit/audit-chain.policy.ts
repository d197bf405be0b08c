/**
 * The canonical form of an audit event for sealing, and which parts are personal data that can be removed later without breaking the seal. Hashing is
 * in features/audit/audit-digests.service.ts.
 */
import { canonicalJson } from '../../platform/validation/canonical-json.policy.ts';

interface Party {
  readonly id: string;
  readonly type: string;
  readonly displayName: string;
}

/** Event as stored in the log. */
export interface AuditRecord {
  readonly seq: number;
  readonly uuid: string;
  readonly published: Date;
  readonly eventType: string;
  readonly severity: string;
  readonly displayMessage: string;
  readonly actor: Party;
  readonly client: Readonly<Record<string, unknown>>;
  readonly outcome: Readonly<Record<string, unknown>>;
  readonly target: readonly Party[];
  readonly transactionId: string | null;
  readonly debugContext: Readonly<Record<string, unknown>>;
}

/** Personal data in an event. */
export interface PersonalPart {
  /** `actor`, `client`, `change`, or `target.0` and so on. */
  readonly name: string;
  readonly value: unknown;
  /** IDs of the users whose deletion erases it. */
  readonly of: readonly string[];
}

/** Replaces an erased name. */
export const PSEUDONYM = 'deleted user';

const isPerson = ({ id, type }: Party): boolean => type === 'User' && id !== 'unknown';
const idOf = ({ id }: Party): string => id;

/**
 * Personal data of users in an event: names of actor and targets, the origin of the actor (also for failed sign-ins), and changed values of a user.
 * The set of parts does not depend on their content.
 */
export function personalParts({ actor, client, target, debugContext }: AuditRecord): PersonalPart[] {
  const actors = isPerson(actor) ? [actor.id] : [];
  const targets = target.filter(isPerson).map(idOf);
  const present = actor.type === 'User' && actors.length === 0 ? targets : actors;
  const parts: PersonalPart[] = [
    { name: 'actor', value: actor.displayName, of: actors },
    { name: 'client', value: client, of: present },
    { name: 'change', value: debugContext, of: targets },
    ...target.map((one, n) => ({ name: `target.${n}`, value: one.displayName, of: isPerson(one) ? [one.id] : [] })),
  ];
  return parts.filter(({ of }) => of.length > 0);
}

/** The users with data in events, once per event. */
export const namesIn = (events: readonly AuditRecord[]): { readonly userId: string; readonly seq: number }[] =>
  events.flatMap((event) => [...new Set(personalParts(event).flatMap(({ of }) => of))].map((userId) => ({ userId, seq: event.seq })));

/** The event with new values in some of its personal parts. */
function withParts<E extends AuditRecord>(
  event: E,
  names: ReadonlySet<string>,
  name: string,
  things: Readonly<Record<string, unknown>>,
): E {
  return {
    ...event,
    actor: names.has('actor') ? { ...event.actor, displayName: name } : event.actor,
    client: names.has('client') ? things : event.client,
    debugContext: names.has('change') ? things : event.debugContext,
    target: event.target.map((one, n) => (names.has(`target.${n}`) ? { ...one, displayName: name } : one)),
  };
}

/** @param names of the parts to erase */
export const withoutParts = <E extends AuditRecord>(event: E, names: ReadonlySet<string>): E => withParts(event, names, PSEUDONYM, {});

/** The event without personal parts and without the other columns of its row; can be kept forever. */
export function publicForm(event: AuditRecord): AuditRecord {
  const { seq, uuid, published, eventType, severity, displayMessage, outcome, transactionId } = event;
  const names = new Set(personalParts(event).map(({ name }) => name));
  const { actor, client, target, debugContext } = withParts(event, names, '', {});
  return { seq, uuid, published, eventType, severity, displayMessage, actor, client, outcome, target, transactionId, debugContext };
}

/** The fields of a seal that its hash covers. */
export interface SealedBatch {
  /** Sequence number; starts at 1, without gaps. */
  readonly n: number;
  /** Hash of the previous seal; empty for the first. */
  readonly previous: string;
  /** Digest of the batch's entries. */
  readonly content: string;
  readonly count: number;
  /** Time of the latest event in the batch; null for an empty batch. */
  readonly newest: Date | null;
  /** Does the batch contain all events that were unsealed at that time? */
  readonly complete: boolean;
  readonly sealed: Date;
}

/** The text that is hashed for a seal. */
export const sealForm = ({ n, previous, content, count, newest, complete, sealed }: SealedBatch): string =>
  canonicalJson({ n, previous, content, count, newest, complete, sealed });

/**
 * Milliseconds. Upper limit for the time between an event and its commit (transactions end after a minute), plus the difference between two machines'
 * clocks.
 */
const SLACK_MS = 15 * 60_000;

/**
 * Is an event dated long before a time at which every event was sealed, so that it was inserted later?
 * @param allSealedAt undefined: no such time is known
 */
export const isBackdated = (published: Date, allSealedAt: Date | undefined): boolean =>
  allSealedAt !== undefined && published.getTime() < allSealedAt.getTime() - SLACK_MS;

/** Did an event happen before the time, or so shortly after it that the two may have been written in reverse order? */
export const isNotMuchLater = (published: Date, moment: Date | undefined): boolean =>
  moment !== undefined && published.getTime() <= moment.getTime() + SLACK_MS;
