/** An event as one line of a list. In the system log, each value is a link that filters by it. */
import type { Content, Piece, TableRow } from '../../pages/console/detail-page.ts';
import { phrase, verbatim } from '../../platform/i18n/phrase.ts';
import { exactMomentOf } from '../../platform/i18n/times.ts';
import { describeDecision } from './decision-text.console.ts';
import { addressOfEntry, LOG, partyPiece } from './event-links.console.ts';
import type { StoredEvent } from './events.resource.ts';

export const MINUTE_MS = 60_000;

/** A code of the service, or the error code before a description. */
const REASON_CODE = /^(?:[A-Z_]+$|[a-z_]+(?=: ))/;

/** @param narrowed adds a filter to those of the list */
export const outcomePieces = ({ outcome: { result, reason } }: StoredEvent, narrowed: Narrowed = filteredBy()): readonly Piece[] => {
  const href = narrowed({ outcome: result });
  const [code] = REASON_CODE.exec(reason ?? '') ?? [];
  return [
    result === 'SUCCESS' ? { text: 'Success', tone: 'good', href } : { text: 'Failure', tone: 'bad', href },
    ...(reason === undefined || reason === null
      ? []
      : [{ text: verbatim(reason), soft: true, ...(code !== undefined && { href: narrowed({ q: code }) }) }]),
  ];
};

/** @returns the address of the log with these filters, too */
type Narrowed = (fields: Readonly<Record<string, string>>) => string;

/** @param kept the filters of the list; words are added, other values replaced */
function filteredBy(kept: URLSearchParams = new URLSearchParams()): Narrowed {
  return ({ q, ...fields }) => {
    const query = new URLSearchParams(kept);
    const words = (kept.get('q') ?? '').split(/\s+/).filter((word) => word !== '');
    if (q !== undefined) query.set('q', [...words.filter((word) => word !== q), q].join(' '));
    for (const [name, value] of Object.entries(fields)) query.set(name, value);
    // What is past does not change.
    if (fields.until !== undefined) query.delete('live');
    return `${LOG}?${query}`;
  };
}

/** A party as the filter fields name it: like the picker, so that the ID decides and the name is readable. */
const namedParty = ({ id, displayName }: StoredEvent['actor']): string =>
  !displayName || displayName === id || !/^[^\s()]+$/.test(id) ? id : `${displayName.slice(0, LONGEST_NAME)} (${id})`;

/** Characters of a name in a filter; the field has 255, with the ID. */
const LONGEST_NAME = 150;

/** A failed sign-in names an account, but its user is not authenticated: the account is the target. */
function actorPieces({ actor, target }: StoredEvent, drawn: DrawnParty): readonly Piece[] {
  const named = actor.id === 'unknown' ? target.find(({ type }) => type === 'User') : undefined;
  return named === undefined ? [drawn('actor', actor)] : [drawn('target', named), { text: 'not proven', soft: true }];
}

/** A party of an event with its link: to its own page, or in the log to the events with it. */
type DrawnParty = (place: 'actor' | 'target' | 'application', party: StoredEvent['actor']) => Piece;

/** The minute of an event as the fields write it, in UTC. */
function minuteOf(moment: Date): { readonly since: string; readonly until: string } {
  const start = Math.floor(moment.getTime() / MINUTE_MS) * MINUTE_MS;
  return { since: writtenMinute(start), until: writtenMinute(start + MINUTE_MS) };
}

export const writtenMinute = (moment: number): string => new Date(moment).toISOString().slice(0, 16);

export const applicationTargetOf = ({ target }: StoredEvent) =>
  target.find(({ type }) => type === 'AppInstance' || type === 'PublicClientApp');

/**
 * An event as a row of a list: one line.
 * @param kept the filters of the system log, whose values are links that add a filter. Absent: another list, where parties lead to their own pages
 */
export function rowOf(event: StoredEvent, kept?: URLSearchParams): TableRow {
  const { uuid, published, displayMessage, eventType, actor, target, client } = event;
  const narrowed = filteredBy(kept);
  const drawn: DrawnParty = (place, party) => {
    const own = partyPiece(party, [actor, ...target]);
    return kept === undefined ? own : { ...own, href: narrowed({ [place]: namedParty(party) }) };
  };
  const application = applicationTargetOf(event);
  const [first, ...rest] = target.filter((one) => one !== application);
  const others: Piece = { text: verbatim(`+${rest.length}`), soft: true };
  const address = addressOfEntry(uuid);
  return {
    cells: [
      { moment: exactMomentOf(published), ...(kept !== undefined && { href: narrowed(minuteOf(published)) }) },
      [
        { text: phrase(displayMessage), href: address },
        { text: verbatim(eventType), href: narrowed({ type: eventType }), icon: 'filter' },
      ],
      actorPieces(event, drawn),
      first === undefined ? '' : [drawn('target', first), ...(rest.length === 0 ? [] : [others])],
      application === undefined ? '' : drawn('application', application),
      client.ipAddress === undefined ? '' : { text: client.ipAddress, href: narrowed({ q: client.ipAddress }) },
      outcomePieces(event, narrowed),
    ],
    actions: describeDecision(event) === undefined ? [] : [{ label: 'Explain', href: `${address}/explain` }],
  };
}

/** Without links into the system log, for users who cannot open it. */
export function plainRowOf(event: StoredEvent): TableRow {
  const { cells } = rowOf(event);
  const bare = (content: Content): Content => {
    if (Array.isArray(content)) return content.map((piece) => bare(piece)) as readonly Piece[];
    if (typeof content !== 'object' || !('href' in content)) return content;
    const { icon, href, ...piece } = content;
    return icon === undefined ? piece : { ...piece, soft: true };
  };
  return { cells: cells.map(bare), actions: [] };
}

export const LOG_COLUMNS = ['Time', 'Event', 'Actor', 'Target', 'Application', 'IP address', 'Outcome'] as const;
