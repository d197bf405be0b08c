/** One event of the system log: its data, its changes, and the other events of the request. */
import { type Content, detailPage, type Fact, type Part, type Piece } from '../../pages/console/detail-page.ts';
import type { Action, ConsolePage, Crumb } from '../../pages/console/page.ts';
import { phrase } from '../../platform/i18n/phrase.ts';
import { momentOf } from '../../platform/i18n/times.ts';
import { describeDecision } from './decision-text.console.ts';
import { addressOfEntry, LOG, partyPiece, targetKindOf } from './event-links.console.ts';
import type { StoredEvent } from './events.resource.ts';
import { describeEvent } from './log-events.service.ts';
import { LOG_COLUMNS, outcomePieces, rowOf } from './log-rows.console.ts';
import { readLogEvent } from './logs.service.ts';

// Difference of two JSON values, field by field and recursively for objects; lists are compared as one value.

interface ChangedField {
  /** Path of the field, e.g. `profile.email`; empty for a value without fields. */
  readonly field: string;
  /** undefined: the field did not exist before, or does not exist afterwards. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

/** A value for display: text unchanged, everything else as JSON. */
const written = (value: unknown): string | undefined =>
  value === undefined ? undefined : typeof value === 'string' ? value : JSON.stringify(value);

/** The changed fields, in the order of `before`, then the added ones. If one of the two is missing, all fields of the other. */
export function changedFields(before: unknown, after: unknown, path = ''): ChangedField[] {
  if (isObject(before) || isObject(after)) {
    if ((before === undefined || isObject(before)) && (after === undefined || isObject(after))) {
      const [was, is]: readonly [Fields, Fields] = [before ?? {}, after ?? {}];
      const names = [...new Set([...Object.keys(was), ...Object.keys(is)])];
      return names.flatMap((name) => changedFields(was[name], is[name], path === '' ? name : `${path}.${name}`));
    }
  }
  const [was, is] = [written(before), written(after)];
  return was === is ? [] : [{ field: path, before: was, after: is }];
}

export const LOG_CRUMBS: readonly Crumb[] = [{ label: 'Reports' }, { label: 'System log', href: LOG }];

/** The pages about one event. */
export function logTabs(event: StoredEvent): readonly Action[] {
  if (describeDecision(event) === undefined) return [];
  const address = addressOfEntry(event.uuid);
  return [
    { label: 'Event', href: address },
    { label: 'Explain', href: `${address}/explain` },
  ];
}

const withKind = (party: StoredEvent['actor'], beside: readonly StoredEvent['actor'][]): readonly Piece[] => [
  partyPiece(party, beside),
  { text: targetKindOf(party), soft: true },
];

function factsOf(event: StoredEvent): readonly Fact[] {
  const { published, eventType, actor, target, client, transactionId, uuid } = event;
  const parties = [actor, ...target];
  const none = (words: string): Piece => ({ text: words, soft: true });
  return [
    { label: 'When', value: { moment: momentOf(published) } },
    { label: 'Event', value: { text: eventType, code: true } },
    { label: 'Outcome', value: outcomePieces(event) },
    { label: 'Who', value: actor.id === 'unknown' ? none('Unknown user') : withKind(actor, parties) },
    ...target.map((one, at) => ({ label: at === 0 ? 'Target' : 'Further target', value: withKind(one, parties) })),
    { label: 'From', value: client.ipAddress ?? none('Not known') },
    { label: 'Browser or tool', value: client.userAgent || none('Not known') },
    { label: 'Request', value: transactionId ?? none('None. The service did this itself.') },
    { label: 'ID', value: uuid, copy: true },
  ];
}

const value = (text: string | undefined): Content => (text === undefined ? { text: 'Not there', soft: true } : text);

function changesOf({ debugContext }: StoredEvent): readonly Part[] {
  const { before, after } = debugContext;
  if (before === undefined && after === undefined) return [];
  const changed = changedFields(before, after);
  const lead = before === undefined ? 'The new values.' : after === undefined ? 'The former values.' : 'Only the differences are listed.';
  return [
    {
      kind: 'table',
      title: 'What it changed',
      lead,
      name: 'Changed fields',
      columns: ['Field', 'Before', 'After'],
      rows: changed.map(({ field, before: was, after: is }) => ({
        cells: [{ text: field || phrase('Value'), code: true }, value(was), value(is)],
      })),
      empty: 'No field has another value than before.',
    },
  ];
}

export const entry: ConsolePage = {
  path: '/reports/log/:uuid',
  access: 'service',
  async show({ services, params }) {
    const { event, others } = await readLogEvent(services, params.uuid ?? '');
    const together: Part = {
      kind: 'table',
      title: 'In the same request',
      name: 'Events of the same request',
      isDense: true,
      columns: LOG_COLUMNS,
      rows: others.map((one) => rowOf(one)),
      empty: 'Nothing else happened in the same request.',
    };
    return detailPage({
      title: phrase(event.displayMessage),
      crumbs: LOG_CRUMBS,
      tabs: logTabs(event),
      parts: [
        { kind: 'facts', facts: factsOf(event) },
        ...changesOf(event),
        ...(event.transactionId === null ? [] : [together]),
        {
          kind: 'text',
          title: 'As JSON',
          lead: 'As the API returns it.',
          id: 'event-json',
          name: 'event as JSON',
          text: JSON.stringify(describeEvent(event), null, 2),
        },
      ],
    });
  },
};
