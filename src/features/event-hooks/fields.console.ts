/** Form of an event hook: fields and conversion to service input (features/event-hooks/event-hooks.service.ts). */

import { z } from 'zod';
import { type Field, typedValues } from '../../pages/console/form.ts';
import { verbatim } from '../../platform/i18n/phrase.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { HOOK_EVENT_AREAS } from '../audit/event-types.policy.ts';
import { EVENT_WORDS } from '../audit/event-words.console.ts';
import type { EventHook } from './event-hooks.resource.ts';
import { type EventHookInput, eventHookFields, eventHookInput } from './event-hooks.service.ts';
import { channelFields, channelIn } from './hook-channel.console.ts';

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

/** The box for all types of a group: those that there are when the form is saved. */
const ALL = 'all';

const valuesOf = (area: Area, types: readonly string[]): readonly string[] =>
  HOOK_EVENT_AREAS[area].every((type) => types.includes(type)) ? [ALL] : types;

const typesIn = (area: Area, values: readonly string[]): readonly string[] => (values.includes(ALL) ? HOOK_EVENT_AREAS[area] : values);

/** @param hook absent: a new one */
export function hookFields(hook?: EventHook): readonly Field[] {
  const channel = hook?.channel;
  return [
    { name: 'name', label: 'Name', required: true, value: hook?.name },
    {
      name: 'description',
      label: 'Description',
      kind: 'description',
      value: hook?.description,
      hint: 'The receiver, and the contact for questions.',
    },
    ...channelFields(channel, channel === undefined ? POSTED : MOVED),
    ...areas.map(
      (area, index): Field => ({
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
        ...(index === 0 && { alias: ['events', 'events.items'] }),
      }),
    ),
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
