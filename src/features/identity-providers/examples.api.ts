/** One body for each kind of identity provider. Where Google, GitHub and Microsoft are is known; the redirect URI to register there is in the answer. */
const client = { client_id: 'the client ID that the provider gave', client_secret: 'the secret that it gave' };
const policy = { provisioning: { action: 'AUTO' } };

export const IDP_EXAMPLES: Readonly<Record<string, object>> = {
  OIDC: {
    name: 'Example Login',
    type: 'OIDC',
    protocol: { issuer: { url: 'https://login.example.com' }, credentials: { client } },
    policy,
  },
  GOOGLE: { name: 'Google', type: 'GOOGLE', protocol: { credentials: { client } }, policy },
  GITHUB: { name: 'GitHub', type: 'GITHUB', protocol: { credentials: { client } }, policy },
  MICROSOFT: {
    name: 'Microsoft',
    type: 'MICROSOFT',
    protocol: { issuer: { url: 'https://login.microsoftonline.com/00000000-0000-0000-0000-000000000000/v2.0' }, credentials: { client } },
    policy,
  },
};
