/**
 * Secrets of event and inline hooks: header values, and signing keys with which receivers verify messages (Standard Webhooks 1.0, "Signature scheme":
 * symmetric, `v1`). All are stored encrypted.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { present } from '../../platform/clock/clock.ts';
import type { Keyring } from '../../platform/crypto/secrets.ts';
import type { HookChannel, HookKind, SealedHeader } from './event-hooks.resource.ts';

/** Milliseconds for which requests are signed with the secret before as well, so that a receiver can change over. */
const PREVIOUS_SECRET_KEPT = 24 * 3600 * 1000;
const PREFIX = 'whsec_';

/** Signing secrets of a hook. */
export interface SigningSecrets {
  readonly id: string;
  /** Sealed. */
  readonly signingSecret: string;
  /** Sealed, the secret before; requests are signed with it as well until then. */
  readonly previousSecret: string | null;
  readonly previousSecretUntil: Date | null;
}

/** @returns 256 bits as the specification writes a key, `whsec_` and base64 */
export const newSigningSecret = (): string => PREFIX + randomBytes(32).toString('base64');

export const hookSecretContext = (kind: HookKind, hookId: string): string => `${kind}:${hookId}:signing_secret`;
export const headerContext = (kind: HookKind, hookId: string, key: string): string => `${kind}:${hookId}:header:${key.toLowerCase()}`;

export const sealSigningSecret = (keyring: Keyring, kind: HookKind, hookId: string, secret: string): string =>
  keyring.seal(secret, hookSecretContext(kind, hookId));

/** @returns the changes of a hook that gets another secret, and until when the one before signs too */
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

/** @returns the headers that the hook's owner wants to be sent */
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
