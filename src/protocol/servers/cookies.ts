/** Names and attributes of the cookies that oidc-provider sets (RFC 6265bis): prefixed and Secure on https, the session shared by all servers. */

import type { Config } from '../../platform/config/config.ts';
import type { Keyring } from '../../platform/crypto/secrets.ts';
import { cookieSignatures } from '../library/cookie-signatures.ts';
import type { Configuration } from '../library/oidc-provider.ts';

export function cookies(config: Config, keyring: Keyring): NonNullable<Configuration['cookies']> {
  const { secure } = config;
  return {
    keys: cookieSignatures(keyring.cookieKeys),
    names: {
      session: secure ? '__Host-gatehouse-session' : 'gatehouse-session',
      // These two have their own path, which the prefix __Host- forbids.
      interaction: secure ? '__Secure-gatehouse-interaction' : 'gatehouse-interaction',
      resume: secure ? '__Secure-gatehouse-resume' : 'gatehouse-resume',
    },
    // Silent renewal in an iframe and form_post need the session cookie cross-site; browsers allow that on https only.
    long: { signed: true, httpOnly: true, path: '/', secure, sameSite: secure ? 'none' : 'lax' },
    short: { signed: true, httpOnly: true, secure, sameSite: 'lax' },
  };
}
