/** The fields of a hook's channel on the forms of event hooks and inline hooks, and what was typed into them. */

import type { Field } from '../../pages/console/form.ts';
import type { Text } from '../../platform/i18n/phrase.ts';
import type { HookChannel } from './event-hooks.resource.ts';

/** @param channel absent: of a new hook @param uriHint what is sent to the address */
export const channelFields = (channel: HookChannel | undefined, uriHint: Text): readonly Field[] => [
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

/** `Name: value`, or the name alone. */
function headerIn(line: string): { key: string; value?: string } {
  const colon = line.indexOf(':');
  return colon < 0 ? { key: line } : { key: line.slice(0, colon).trim(), value: line.slice(colon + 1).trim() };
}

/** @returns the channel as a body of the API has it */
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
