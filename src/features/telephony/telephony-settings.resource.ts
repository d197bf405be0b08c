/** `settings/telephony`: the operator's webhook, which sends text messages and makes calls. */
import { z } from 'zod';
import { isHttpsAddress, isLocalAddress } from '../../platform/validation/addresses.ts';
import { text } from '../../platform/validation/text.ts';

export interface TelephonySettings {
  /** null: no webhook; nothing is sent. */
  readonly url: string | null;
  /** Signs requests. Encrypted under SECRET_KEY, in the context of a signing secret of the kind `telephony`. */
  readonly secret: { readonly sealed: string } | null;
  /** Prefixes of allowed numbers. */
  readonly prefixes: readonly string[];
  /** Messages and calls of the whole service in 24 hours. */
  readonly mostPerDay: number;
}

export const NO_TELEPHONY: TelephonySettings = { url: null, secret: null, prefixes: [], mostPerDay: 500 };

/** Kind and id of the signing secret. */
export const TELEPHONY = 'telephony';

const MOST_PREFIXES = 300;

/** The body of `PUT settings/telephony`. Absent fields return to their defaults, except the secret, which is unchanged. */
export const telephonySettingsBody = z.strictObject({
  url: text({ least: 1, most: 2048 })
    .refine(
      (value) => isHttpsAddress(value) || isLocalAddress(value),
      'must be a URL that begins with https:// (or http:// on this machine)',
    )
    .nullable()
    .exactOptional()
    .meta({ description: 'Your webhook, which sends the messages; null: there is none, and nothing is sent' }),
  secret: z
    .string()
    .regex(/^whsec_[A-Za-z0-9+/]{32,128}={0,2}$/, 'must be whsec_ followed by at least 24 bytes in base64')
    .exactOptional()
    .meta({ description: 'Signs the requests (Standard Webhooks). Never returned. Absent: it stays as it is, for the same host' }),
  prefixes: z
    .array(z.string().regex(/^\+[1-9]\d{0,6}$/, 'must be + followed by the first digits of numbers, such as +49'))
    .max(MOST_PREFIXES)
    .exactOptional()
    .meta({ description: 'Numbers that begin so may get messages; at least one with a url. Name only countries in which you have users' }),
  mostPerDay: z
    .int()
    .min(1)
    .max(1_000_000)
    .exactOptional()
    .meta({ description: 'Messages and calls of the whole service in 24 hours; 500 unless given' }),
});
export type TelephonySettingsBody = z.output<typeof telephonySettingsBody>;

const originOf = (url: string): string => new URL(url).origin;

/** @param before the previous settings @returns the problems of the body */
export function telephonyProblems(
  before: TelephonySettings,
  { url = null, secret, prefixes = [] }: TelephonySettingsBody,
): readonly { readonly field: string; readonly message: string }[] {
  if (url === null) return [];
  const keeps = before.secret !== null && before.url !== null && originOf(before.url) === originOf(url);
  return [
    ...(prefixes.length === 0 ? [{ field: 'prefixes', message: 'must contain at least one country code, such as +49' }] : []),
    ...(secret === undefined && !keeps
      ? [{ field: 'secret', message: before.secret === null ? 'is required with a url' : 'must be entered again: the host has changed' }]
      : []),
  ];
}
