/** Search of the system log: form fields and the resulting query. */

import { type Field, type Option, typedValues } from '../../pages/console/form.ts';
import { chosenId } from '../../pages/console/picker.ts';
import { present } from '../../platform/clock/clock.ts';
import type { FieldProblem } from '../../platform/errors/errors.ts';
import { phrase, verbatim } from '../../platform/i18n/phrase.ts';
import { EVENT_GROUPS } from './event-types.policy.ts';
import type { LogQuery } from './logs.service.ts';

const DAY_MS = 86_400_000;
/** The same default as in the service. */
const LOOK_BACK_MS = 7 * DAY_MS;

const ALL_OF = 'all ';

const TYPES: readonly Option[] = [
  { value: '', label: 'Any' },
  ...Object.entries(EVENT_GROUPS).flatMap(([group, types]) => [
    { value: `${ALL_OF}${group}`, label: phrase(`All about ${group}`) },
    ...[...types].sort().map((type) => ({ value: type, label: verbatim(`– ${type}`) })),
  ]),
];

const OUTCOMES: readonly Option[] = [
  { value: '', label: 'Any' },
  { value: 'SUCCESS', label: 'Success' },
  { value: 'FAILURE', label: 'Failure' },
];

/** The fields with the values of the URL. */
export function searchFields(query: URLSearchParams): readonly Field[] {
  const value = (name: string) => ({ value: query.get(name) ?? '' });
  return [
    { name: 'type', label: 'Event', options: TYPES, ...value('type') },
    { name: 'outcome', label: 'Outcome', options: OUTCOMES, ...value('outcome') },
    { name: 'actor', label: 'Actor', suggest: 'users applications', ...value('actor') },
    { name: 'target', label: 'Target', suggest: 'users groups organizations applications api/servers', ...value('target') },
    { name: 'application', label: 'Application', suggest: 'applications', ...value('application') },
    { name: 'since', label: 'Since (UTC)', kind: 'date-time', ...value('since') },
    { name: 'until', label: 'Until (UTC)', kind: 'date-time', ...value('until') },
  ];
}

/** A string in a filter (RFC 7644 section 3.4.2.2: as in JSON). */
const quoted = (text: string): string => JSON.stringify(text);

/** Matches by the ID of a chosen object, or by an ID or part of the name. */
function party(name: string, words: string): string {
  const chosen = chosenId(words);
  const typed = `${name}.id eq ${quoted(words)} or ${name}.displayName co ${quoted(words)}`;
  return chosen === undefined || chosen === words ? `(${typed})` : `(${name}.id eq ${quoted(chosen)} or ${typed})`;
}

/** An ID as the service makes them, or the address of a client's document. */
const PLAINLY_ID = /^(?:app_[0-9A-Za-z]+|https?:.*)$/;

/** Like `party`. The ID alone is looked up in an index, so the name is not compared, too, if the ID looks like one. */
function applicationFilter(words: string): string {
  const chosen = chosenId(words);
  return chosen !== undefined && PLAINLY_ID.test(chosen) ? `application.id eq ${quoted(chosen)}` : party('application', words);
}

function typeFilter(type: string): string {
  if (!type.startsWith(ALL_OF)) return `eventType eq ${quoted(type)}`;
  const types: readonly string[] = EVENT_GROUPS[type.slice(ALL_OF.length) as keyof typeof EVENT_GROUPS] ?? [];
  return types.length === 0 ? `eventType eq ${quoted(type)}` : `(${types.map((one) => `eventType eq ${quoted(one)}`).join(' or ')})`;
}

export interface LogSearch {
  readonly question: LogQuery;
  /** Does it have any condition? */
  readonly isNarrowed: boolean;
  /** Default start of a search in the system log; undefined: the search has its own start. */
  readonly lookedBackTo: Date | undefined;
  /** Invalid search fields. */
  readonly problems: readonly FieldProblem[];
}

const NO_MOMENT = 'must be a date with a time, such as 2026-11-21T09:30';
const isMoment = (typed: unknown): typed is Date => typed instanceof Date && !Number.isNaN(typed.getTime());

/** Parses the search from the address. */
export function searchIn(query: URLSearchParams): LogSearch {
  const { since, until } = typedValues(searchFields(query), query);
  const typed = { since, until };
  const word = (name: string): string => (query.get(name) ?? '').trim();
  const [q, type, outcome] = [word('q'), word('type'), word('outcome')];
  const [actor, target, application] = [word('actor'), word('target'), word('application')];
  const filters = [
    ...(type === '' ? [] : [typeFilter(type)]),
    ...(outcome === '' ? [] : [`outcome.result eq ${quoted(outcome)}`]),
    ...(actor === '' ? [] : [party('actor', actor)]),
    ...(target === '' ? [] : [party('target', target)]),
    ...(application === '' ? [] : [applicationFilter(application)]),
  ];
  const [from, to] = [since, until].map((moment) => (isMoment(moment) ? moment : undefined));
  const lookedBackTo = from === undefined ? new Date((to ?? present()).getTime() - LOOK_BACK_MS) : undefined;
  return {
    question: {
      since: from,
      until: to,
      q: q === '' ? undefined : q,
      filter: filters.length === 0 ? undefined : filters.join(' and '),
      newestFirst: true,
    },
    isNarrowed: [q, type, outcome, actor, target, application].some((one) => one !== '') || since !== undefined || until !== undefined,
    lookedBackTo,
    problems: Object.entries(typed).flatMap(([field, moment]) =>
      moment === undefined || isMoment(moment) ? [] : [{ field, message: NO_MOMENT }],
    ),
  };
}
