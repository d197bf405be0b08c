/** Targets for `form-action` on the way back to an application (Content Security Policy level 3, section 6.4.1). */
import type { Client } from '../library/oidc-provider.ts';
import { clientSettings } from './client-settings.ts';

/** The origin of a URL; for a native application's custom scheme, the scheme. */
export function originOf(uri: string): string {
  const url = new URL(uri);
  return url.protocol === 'https:' || url.protocol === 'http:' ? url.origin : url.protocol;
}

/**
 * The origin of the validated redirect URI (device requests have none), then the application's others. Chromium checks `form-action`
 * against every redirect after a form, including those of the application's callback, which may lead to another host of the application.
 */
export function applicationOrigins(client: Client, redirectUri: string | undefined): string[] {
  const { redirectUris = [], postLogoutRedirectUris = [], clientUri, initiateLoginUri } = client;
  const addresses = [redirectUri, ...redirectUris, ...postLogoutRedirectUris, clientUri, initiateLoginUri];
  const origins = addresses.flatMap((address) => (address === undefined ? [] : [originOf(address)]));
  return [...new Set([...origins, ...clientSettings(client).allowedOrigins])];
}
