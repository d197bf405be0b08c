/**
 * What is known of each kind of identity provider, so that its administrator need not look it up: addresses, scopes, and which of its claims fill
 * which attribute of a user. The addresses of an OpenID provider beside its issuer are left to its discovery document (OpenID Connect Discovery 1.0),
 * whose place the issuer gives; GitHub has none, so its addresses stand here.
 */
import type { IdentityProviderType, Protocol } from './identity-provider.ts';

type Preset = Pick<Protocol, 'type' | 'issuer' | 'endpoints' | 'scopes'> & {
  /** Attribute of the profile → claim that it is taken from. */
  readonly attributeMap: Readonly<Record<string, string>>;
};

const OIDC: Preset = {
  type: 'OIDC',
  scopes: ['openid', 'email', 'profile'],
  attributeMap: { email: 'email', firstName: 'given_name', lastName: 'family_name', displayName: 'name' },
};

export const PRESETS: Readonly<Record<IdentityProviderType, Preset>> = {
  OIDC,
  GOOGLE: { ...OIDC, issuer: { url: 'https://accounts.google.com' } },
  /** Accounts of every tenant, and personal ones; an issuer with a tenant's id in the place of `common` admits that tenant's alone. */
  MICROSOFT: { ...OIDC, issuer: { url: 'https://login.microsoftonline.com/common/v2.0' } },
  /** "Authorizing OAuth apps" of GitHub's documentation. `user:email` opens the list of addresses, where it says which are verified. */
  GITHUB: {
    type: 'OAUTH2',
    endpoints: {
      authorization: { url: 'https://github.com/login/oauth/authorize' },
      token: { url: 'https://github.com/login/oauth/access_token' },
      userInfo: { url: 'https://api.github.com/user' },
    },
    scopes: ['read:user', 'user:email'],
    attributeMap: { email: 'email', displayName: 'name', nickName: 'login', profileUrl: 'html_url' },
  },
};
