/**
 * The canonical form of an audit event for sealing, and which parts are personal data that can be removed later without breaking the seal. Hashing is
 * in features/audit/audit-digests.service.ts.
 */

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

/** Stands for a name that was taken out. */
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

/** @param names of the parts that are taken out */
export const withoutParts = <E extends AuditRecord>(event: E, names: ReadonlySet<string>): E => withParts(event, names, PSEUDONYM, {});

/** The event without personal parts and without the other columns of its row; can be kept forever. */
export function publicForm(event: AuditRecord): AuditRecord {
  const { seq, uuid, published, eventType, severity, displayMessage, outcome, transactionId } = event;
  const names = new Set(personalParts(event).map(({ name }) => name));
  const { actor, client, target, debugContext } = withParts(event, names, '', {});
  return { seq, uuid, published, eventType, severity, displayMessage, actor, client, outcome, target, transactionId, debugContext };
}

/** One text for one value, however its members are ordered (as RFC 8785, but for the order of members that are called like numbers). */
export const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, member: unknown) => (isObject(member) ? ordered(member) : member));

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null && !Array.isArray(value);
const ordered = (value: object): object => Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));

/** Content of a seal about its batch. */
export interface SealedBatch {
  /** From 1 on, without a gap. */
  readonly n: number;
  /** Hash of the seal before; empty for the first. */
  readonly previous: string;
  /** Digest of the batch's entries. */
  readonly content: string;
  readonly count: number;
  /** The latest time of one of the events; null without events. */
  readonly newest: Date | null;
  /** Was nothing left that could have been sealed as well? */
  readonly complete: boolean;
  readonly sealed: Date;
}

/** The seal as it is hashed. */
export const sealForm = ({ n, previous, content, count, newest, complete, sealed }: SealedBatch): string =>
  canonical({ n, previous, content, count, newest, complete, sealed });

/** Milliseconds between an event and its commit, and between the clocks of two machines, at most: transactions end after a minute. */
const SLACK_MS = 15 * 60_000;

/** Does an event claim to have happened long before a moment at which it was not there yet? */
export const isBackdated = (published: Date, nothingElseThereAt: Date | undefined): boolean =>
  nothingElseThereAt !== undefined && published.getTime() < nothingElseThereAt.getTime() - SLACK_MS;

/** Did an event happen before a time, or so shortly after it that the two may have been written in reverse order? */
export const isNotMuchLater = (published: Date, moment: Date | undefined): boolean =>
  moment !== undefined && published.getTime() <= moment.getTime() + SLACK_MS;
