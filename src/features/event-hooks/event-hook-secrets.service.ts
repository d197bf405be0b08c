/**
 * What of an event hook is secret: the values of its headers, and the keys by which a receiver knows that a message is the service's own (Standard
 * Webhooks 1.0, "Signature scheme": symmetric, `v1`). At rest all of them are sealed.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { present } from '../../platform/clock/clock.ts';
import type { Keyring } from '../../platform/crypto/secrets.ts';
import type { EventHook, SealedHeader } from './event-hooks.resource.ts';

const PREFIX = 'whsec_';

/** @returns 256 bits as the specification writes a key, `whsec_` and base64 */
export const newSigningSecret = (): string => PREFIX + randomBytes(32).toString('base64');

export const eventHookSecretContext = (hookId: string): string => `event_hook:${hookId}:signing_secret`;
export const headerContext = (hookId: string, key: string): string => `event_hook:${hookId}:header:${key.toLowerCase()}`;

export const sealSigningSecret = (keyring: Keyring, hookId: string, secret: string): string =>
  keyring.seal(secret, eventHookSecretContext(hookId));

export const sealHeader = (keyring: Keyring, hookId: string, key: string, value: string): SealedHeader => ({
  key,
  sealed: keyring.seal(value, headerContext(hookId, key)),
});

/** @returns the headers that the hook's owner wants to be sent */
export function openHeaders(keyring: Keyring, { id, channel: { headers, authScheme } }: EventHook): Record<string, string> {
  const all = authScheme === null ? headers : [...headers, authScheme];
  return Object.fromEntries(all.map(({ key, sealed }) => [key, keyring.open(sealed, headerContext(id, key))]));
}

/** @param timestamp in seconds since 1970 @returns `webhook-signature`: by the present secret and, as long as it is of use, by the one before */
export function signMessage(keyring: Keyring, hook: EventHook, messageId: string, timestamp: number, body: string): string {
  const { id, signingSecret, previousSecret, previousSecretUntil } = hook;
  const sealed = [signingSecret];
  if (previousSecret !== null && previousSecretUntil !== null && previousSecretUntil > present()) sealed.push(previousSecret);
  return sealed
    .map((one) => Buffer.from(keyring.open(one, eventHookSecretContext(id)).slice(PREFIX.length), 'base64'))
    .map((key) => `v1,${createHmac('sha256', key).update(`${messageId}.${timestamp}.${body}`).digest('base64')}`)
    .join(' ');
}
