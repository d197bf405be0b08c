/**
 * Address and headers of event and inline hooks. The address is restricted like every outbound address; headers follow RFC 9110 section 5, except
 * those that the service sets.
 */
import { z } from 'zod';
import type { Keyring } from '../../platform/crypto/secrets.ts';
import { type FieldProblem, validation } from '../../platform/errors/errors.ts';
import { calledUri } from '../applications/application-settings.service.ts';
import type { HookChannel, HookKind, SealedHeader } from './event-hooks.resource.ts';
import { sealHeader } from './hook-secrets.service.ts';

const OWN_HEADERS =
  /^(accept-encoding|connection|content-.*|expect|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|user-agent|webhook-.*|x-(gatehouse|okta)-verification-challenge)$/i;

const key = z
  .string()
  .regex(/^[\w!#$%&'*+.^`|~-]{1,100}$/, 'must be the name of a header')
  .refine((name) => !OWN_HEADERS.test(name), 'is set by the service. Remove it');

const value = z
  .string()
  .max(4096)
  .regex(/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/, 'must be printable ASCII without spaces at the start or end')
  .meta({ description: 'Never shown; absent in a change: stays as it is, as long as the host of the uri does' });

const header = z.strictObject({ key, value: value.exactOptional() });

export const hookChannel = z.strictObject({
  type: z.literal('HTTP'),
  version: z.literal('1.0.0'),
  config: z.strictObject({
    uri: calledUri,
    method: z.literal('POST').exactOptional(),
    headers: z
      .array(header)
      .max(20)
      .refine((headers) => new Set(headers.map((one) => one.key.toLowerCase())).size === headers.length, 'must not contain a header twice')
      .exactOptional(),
    authScheme: z
      .strictObject({ type: z.literal('HEADER'), key, value: value.exactOptional() })
      .nullable()
      .exactOptional(),
  }),
});

/** The channel in responses of the API. */
export const shownHookChannel = z.object({
  type: z.literal('HTTP'),
  version: z.literal('1.0.0'),
  config: z.object({
    uri: z.url(),
    method: z.literal('POST'),
    headers: z.array(z.object({ key: z.string() })),
    authScheme: z.object({ type: z.literal('HEADER'), key: z.string() }).nullable(),
  }),
});

export const presentChannel = ({ uri, headers, authScheme }: HookChannel): z.input<typeof shownHookChannel> => ({
  type: 'HTTP',
  version: '1.0.0',
  config: {
    uri,
    method: 'POST',
    headers: headers.map(({ key }) => ({ key })),
    authScheme: authScheme && { type: 'HEADER', key: authScheme.key },
  },
});

/** A header; without a value, the previous one is kept. */
type GivenHeader = z.output<typeof header>;

export interface GivenChannel {
  readonly uri: string;
  readonly headers: readonly GivenHeader[];
  readonly authScheme: GivenHeader | undefined;
}

/** Converts the channel of an API body to service input. */
export const givenChannel = ({ config }: z.output<typeof hookChannel>): GivenChannel => ({
  uri: config.uri,
  headers: config.headers ?? [],
  authScheme: config.authScheme ?? undefined,
});

/**
 * Seals the values of the headers. A header without a value keeps its current one; for another host it needs a new one, because callers who can
 * change the URL could otherwise read hidden values.
 * @param before the former channel, with the values that are kept
 * @throws {ApiError} validation: a header without a value, or a duplicate name
 */
export function sealChannel(
  keyring: Keyring,
  kind: HookKind,
  id: string,
  { uri, headers, authScheme }: GivenChannel,
  before: HookChannel | undefined,
): HookChannel {
  const isSameHost = before !== undefined && new URL(before.uri).origin === new URL(uri).origin;
  const problems: FieldProblem[] = [];
  const seal = ({ key, value }: GivenHeader, known: readonly SealedHeader[], field: string): SealedHeader => {
    if (value !== undefined) return sealHeader(keyring, kind, id, key, value);
    const kept = isSameHost ? known.find((one) => one.key.toLowerCase() === key.toLowerCase()) : undefined;
    if (kept === undefined) problems.push({ field: `channel.config.${field}.value`, message: 'is required' });
    return { key, sealed: kept?.sealed ?? '' };
  };
  const channel = {
    uri,
    headers: headers.map((header, index) => seal(header, before?.headers ?? [], `headers.${index}`)),
    authScheme: authScheme === undefined ? null : seal(authScheme, [before?.authScheme ?? []].flat(), 'authScheme'),
  };
  if (headers.some(({ key }) => key.toLowerCase() === authScheme?.key.toLowerCase()))
    problems.push({ field: 'channel.config.authScheme.key', message: 'is already the name of a header. Choose another name' });
  if (problems.length > 0) throw validation(problems);
  return channel;
}

/** The channel's data in audit events, without values of headers. */
export const describedChannel = ({ uri, headers, authScheme }: HookChannel) => ({
  uri,
  headers: headers.map(({ key }) => key),
  authScheme: authScheme?.key,
});
