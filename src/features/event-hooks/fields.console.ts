/** Form of an event hook: fields and conversion to service input (features/event-hooks/event-hooks.service.ts). */

import { z } from 'zod';
import { type Field, typedValues } from '../../pages/console/form.ts';
import { type Text, verbatim } from '../../platform/i18n/phrase.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { HOOK_EVENT_AREAS } from '../audit/event-types.policy.ts';
import { EVENT_WORDS } from '../audit/event-words.console.ts';
import type { EventHook, HookChannel } from './event-hooks.resource.ts';
import { type EventHookInput, eventHookFields, eventHookInput } from './event-hooks.service.ts';

// Form fields of a hook's channel, for event hooks and inline hooks, and their submitted values.

/** @param channel absent: a new hook @param uriHint describes the requests to the URL @returns the required URL, and the optional fields */
export const channelFields = (channel: HookChannel | undefined, uriHint: Text): readonly [uri: Field, ...headers: Field[]] => [
  {
    name: 'uri',
    label: 'Address',
    kind: 'url',
    required: true,
    value: channel?.uri,
    alias: 'channel.config.uri',
    hint: uriHint,
  },
  {
    name: 'headers',
    advanced: true,
    label: 'Headers',
    kind: 'lines',
    rows: 3,
    value: channel?.headers.map(({ key }) => key).join('\n'),
    alias: 'channel.config.headers',
    hint:
      channel === undefined
        ? 'Sent with each request: “Name: value”, one per line. Values are stored encrypted and never shown again.'
        : '“Name: value”, one per line. A name alone keeps the value that it has; no value is ever shown.',
  },
  {
    name: 'authKey',
    advanced: true,
    label: 'Authentication header',
    value: channel?.authScheme?.key,
    alias: 'channel.config.authScheme.key',
    hint: 'The name of the header that proves to the receiver who calls, e.g. Authorization. Empty: none; every request is signed in any case.',
  },
  {
    name: 'authValue',
    advanced: true,
    label: 'Authentication value',
    kind: 'secret',
    alias: ['channel.config.authScheme.value', 'channel.config.authScheme'],
    hint: channel?.authScheme ? 'Empty: the stored one is kept.' : 'E.g. “Bearer …”. Stored encrypted and never shown again.',
  },
];

/** Parses `Name: value`, or only the name. */
function headerIn(line: string): { key: string; value?: string } {
  const colon = line.indexOf(':');
  return colon < 0 ? { key: line } : { key: line.slice(0, colon).trim(), value: line.slice(colon + 1).trim() };
}

/** @returns the channel in the form of the API body */
export function channelIn(typed: Readonly<Record<string, unknown>>, form: URLSearchParams): object {
  const key = (form.get('authKey') ?? '').trim();
  const value = form.get('authValue') ?? '';
  return {
    type: 'HTTP',
    version: '1.0.0',
    config: {
      uri: typed.uri,
      headers: ((typed.headers ?? []) as readonly string[]).map(headerIn),
      authScheme: key === '' ? null : { type: 'HEADER', key, ...(value !== '' && { value }) },
    },
  };
}

const POSTED =
  'Events are posted to it. It must be https, or http on this machine. Addresses of this machine and of private networks are called only if the service runs with ALLOW_PRIVATE_NETWORK=true.';
const MOVED = 'If the address changes, it must be verified again. If the host changes, enter every header value again.';

type Area = keyof typeof HOOK_EVENT_AREAS;

const AREAS: Readonly<Record<Area, string>> = {
  users: 'Users, their sign-ins and accounts',
  organizations: 'Organizations and groups',
  applications: 'Applications',
  servers: 'Authorization servers and their policies',
  service: 'The service itself',
};

const areas = Object.keys(AREAS) as readonly Area[];

/** The check box for all current types of a group. */
const ALL = 'all';

const valuesOf = (area: Area, types: readonly string[]): readonly string[] =>
  HOOK_EVENT_AREAS[area].every((type) => types.includes(type)) ? [ALL] : types;

const typesIn = (area: Area, values: readonly string[]): readonly string[] => (values.includes(ALL) ? HOOK_EVENT_AREAS[area] : values);

/** @param hook absent: a new one */
export function hookFields(hook?: EventHook): readonly Field[] {
  const channel = hook?.channel;
  const [uri, ...headers] = channelFields(channel, channel === undefined ? POSTED : MOVED);
  return [
    { name: 'name', label: 'Name', required: true, value: hook?.name },
    uri,
    ...areas.map(
      (area): Field => ({
        name: `events-${area}`,
        label: AREAS[area],
        kind: 'checks',
        group: 'Events',
        isFolded: true,
        values: hook && valuesOf(area, hook.eventTypes),
        options: [
          { value: ALL, label: 'All of this group' },
          ...HOOK_EVENT_AREAS[area].map((type) => ({ value: type, label: EVENT_WORDS[type], hint: verbatim(type) })),
        ],
        alias: ['events', 'events.items'],
      }),
    ),
    {
      name: 'description',
      label: 'Description',
      kind: 'description',
      value: hook?.description,
      hint: 'The receiver, and the contact for questions.',
    },
    ...headers,
  ];
}

const hookBody = z.strictObject(eventHookFields);

/** Parses the form. @throws {ApiError} validation */
export function hookInput(form: URLSearchParams): EventHookInput {
  const typed = typedValues(hookFields(), form);
  const body = {
    name: typed.name,
    description: typed.description,
    events: { type: 'EVENT_TYPE', items: areas.flatMap((area) => typesIn(area, form.getAll(`events-${area}`))) },
    channel: channelIn(typed, form),
  };
  return eventHookInput(parse(hookBody, body));
}
