/** Decides whether a client can register itself at an authorization server, and with which settings (RFC 7591). */
import { isNamedHost } from '../client-documents/client-id.policy.ts';

/** TOKEN: with an initial access token. OPEN: everybody. */
export type RegistrationMode = 'OFF' | 'TOKEN' | 'OPEN';

export interface RegistrationSettings {
  readonly mode: RegistrationMode;
  /** Hosts, or `*.` and a domain. Empty: redirect URIs of every host. */
  readonly allowedRedirectHosts: readonly string[];
  /** Empty: all scopes of the server. */
  readonly allowedScopes: readonly string[];
  /** Days without a sign-in after which a registered client is removed; null: never. */
  readonly expiresAfterDays: number | null;
}

/** Default for servers without registration settings. */
export const NO_REGISTRATION: RegistrationSettings = { mode: 'OFF', allowedRedirectHosts: [], allowedScopes: [], expiresAfterDays: null };

/** @returns the first redirect URI whose host is not allowed; a custom scheme has no host */
export const foreignRedirect = ({ allowedRedirectHosts }: RegistrationSettings, uris: readonly string[]): string | undefined =>
  allowedRedirectHosts.length === 0 ? undefined : uris.find((uri) => !isNamedHost(new URL(uri).hostname, allowedRedirectHosts));

/** A client that registered at one authorization server is unknown to others: each decides on its own. */
export const isAcceptedAt = (serverId: string, { registeredAt }: { readonly registeredAt: string | null }): boolean =>
  registeredAt === null || registeredAt === serverId;

const DAY_MS = 86_400_000;

/** @returns when a client that is used now is removed; null: never */
export const registrationEnd = ({ expiresAfterDays }: RegistrationSettings, now: Date): Date | null =>
  expiresAfterDays === null ? null : new Date(now.getTime() + expiresAfterDays * DAY_MS);
