/** Targets for the browser on its way back to an application, for `form-action` (Content Security Policy level 3, section 6.4.1). */
import type { Client } from '../library/oidc-provider.ts';
import { clientSettings } from './client-settings.ts';

/** The origin of an address; for a native application's own scheme, the scheme. */
export function originOf(uri: string): string {
  const url = new URL(uri);
  return url.protocol === 'https:' || url.protocol === 'http:' ? url.origin : url.protocol;
}

/**
 * The origin of the validated redirect URI, which the request of a device does not have, then the application's others. Chromium holds `form-action` against every hop of the redirects
 * after a form, those of the application's own callback included: one that sends its users on to another host of its own must not be cut off.
 */
export function applicationOrigins(client: Client, redirectUri: string | undefined): string[] {
  const { redirectUris = [], postLogoutRedirectUris = [], clientUri, initiateLoginUri } = client;
  const addresses = [redirectUri, ...redirectUris, ...postLogoutRedirectUris, clientUri, initiateLoginUri];
  const origins = addresses.flatMap((address) => (address === undefined ? [] : [originOf(address)]));
  return [...new Set([...origins, ...clientSettings(client).allowedOrigins])];
}
