/**
 * Secrets of event and inline hooks: header values, and signing keys with which receivers verify messages (Standard Webhooks 1.0, "Signature scheme":
 * symmetric, `v1`). All are stored encrypted.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { present } from '../../platform/clock/clock.ts';
import type { Keyring } from '../../platform/crypto/secrets.ts';
import type { HookChannel, HookKind, SealedHeader, SigningSecrets } from './event-hooks.resource.ts';

/** Milliseconds in which requests are also signed with the previous secret, so that a receiver can switch. */
const PREVIOUS_SECRET_KEPT = 24 * 3600 * 1000;
const PREFIX = 'whsec_';

/** @returns a new key of 256 bits in the format of the specification: `whsec_` and base64 */
export const newSigningSecret = (): string => PREFIX + randomBytes(32).toString('base64');

export const hookSecretContext = (kind: HookKind, hookId: string): string => `${kind}:${hookId}:signing_secret`;
export const headerContext = (kind: HookKind, hookId: string, key: string): string => `${kind}:${hookId}:header:${key.toLowerCase()}`;

export const sealSigningSecret = (keyring: Keyring, kind: HookKind, hookId: string, secret: string): string =>
  keyring.seal(secret, hookSecretContext(kind, hookId));

/** @returns the changed fields of a hook with a new secret, and the time until which the previous one is also used */
export function replacedSecret(keyring: Keyring, kind: HookKind, { id, signingSecret }: SigningSecrets, secret: string) {
  const now = present();
  const previousSecretUntil = new Date(now.getTime() + PREVIOUS_SECRET_KEPT);
  return {
    signingSecret: sealSigningSecret(keyring, kind, id, secret),
    previousSecret: signingSecret,
    previousSecretUntil,
    lastUpdated: now,
  };
}

export const sealHeader = (keyring: Keyring, kind: HookKind, hookId: string, key: string, value: string): SealedHeader => ({
  key,
  sealed: keyring.seal(value, headerContext(kind, hookId, key)),
});

/** @returns the configured headers of a hook, with their values in clear text */
export function openHeaders(
  keyring: Keyring,
  kind: HookKind,
  { id, channel: { headers, authScheme } }: { readonly id: string; readonly channel: HookChannel },
): Record<string, string> {
  const all = authScheme === null ? headers : [...headers, authScheme];
  return Object.fromEntries(all.map(({ key, sealed }) => [key, keyring.open(sealed, headerContext(kind, id, key))]));
}

/** @param timestamp in seconds since 1970 @returns `webhook-signature`, with the current secret and, while it is valid, the previous one */
export function signMessage(
  keyring: Keyring,
  kind: HookKind,
  { id, signingSecret, previousSecret, previousSecretUntil }: SigningSecrets,
  messageId: string,
  timestamp: number,
  body: string,
): string {
  const sealed = [signingSecret];
  if (previousSecret !== null && previousSecretUntil !== null && previousSecretUntil > present()) sealed.push(previousSecret);
  return sealed
    .map((one) => Buffer.from(keyring.open(one, hookSecretContext(kind, id)).slice(PREFIX.length), 'base64'))
    .map((key) => `v1,${createHmac('sha256', key).update(`${messageId}.${timestamp}.${body}`).digest('base64')}`)
    .join(' ');
}
