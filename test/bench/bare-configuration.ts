/**
 * oidc-provider as the baselines run it: token formats, key, lifetimes and rotation as Gatehouse has them; what a client is stands in the store, for
 * that is what the library's cost is counted by. Consent is implied; who a user is it has in memory, which spares it a read that Gatehouse has.
 */
import { generateKeyPairSync } from 'node:crypto';
import type { Configuration } from 'oidc-provider';
import { ROUTES } from '../../src/protocol/servers/endpoints.ts';
import type { Store } from './bare-adapters.ts';
import { CALLBACK, CLIENT, PERSON, SCOPE } from './target.ts';

const LIFETIME = 3600;
const AUDIENCE = 'api://default';

export const CLIENT_METADATA = {
  client_id: CLIENT.id,
  client_secret: CLIENT.secret,
  redirect_uris: [CALLBACK],
  grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
};

/** A private key as JWK, which all processes of a baseline share. */
export function newKey(): object {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { ...privateKey.export({ format: 'jwk' }), kid: 'bench', alg: 'RS256', use: 'sig' };
}

export const bareConfiguration = ({ adapter }: Store, key: object, accessTokenFormat: 'opaque' | 'jwt'): Configuration => ({
  adapter,
  jwks: { keys: [key] as NonNullable<Configuration['jwks']>['keys'] },
  cookies: { keys: ['the key of the baselines'] },
  routes: ROUTES,
  scopes: SCOPE.split(' '),
  claims: { openid: ['sub', 'name', 'given_name', 'family_name', 'email', 'email_verified'] },
  conformIdTokenClaims: false,
  rotateRefreshToken: true,
  // Gatehouse gives one as soon as the client may have it.
  issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
  expiresWithSession: async () => false,
  pkce: { required: () => false },
  ttl: {
    AccessToken: LIFETIME,
    AuthorizationCode: 60,
    ClientCredentials: LIFETIME,
    Grant: 90 * 86_400,
    IdToken: LIFETIME,
    Interaction: LIFETIME,
    RefreshToken: 30 * 86_400,
    Session: 14 * 86_400,
  },
  findAccount: async (_ctx, sub) => ({
    accountId: sub,
    claims: async () => ({
      sub,
      name: `${PERSON.firstName} ${PERSON.lastName}`,
      given_name: PERSON.firstName,
      family_name: PERSON.lastName,
      email: sub,
      email_verified: true,
    }),
  }),
  async loadExistingGrant({ oidc }) {
    const { client, session, provider } = oidc;
    if (client === undefined || session?.accountId === undefined) return undefined;
    const known = session.grantIdFor(client.clientId);
    if (known !== undefined) return provider.Grant.find(known);
    const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
    grant.addOIDCScope(SCOPE);
    await grant.save();
    return grant;
  },
  interactions: { url: (_ctx, { uid }) => `/sign-in/${uid}` },
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    introspection: { enabled: true },
    userinfo: { enabled: true },
    resourceIndicators: {
      enabled: accessTokenFormat === 'jwt',
      defaultResource: () => AUDIENCE,
      useGrantedResource: () => true,
      getResourceServerInfo: () => ({ scope: '', audience: AUDIENCE, accessTokenFormat: 'jwt', jwt: { sign: { alg: 'RS256' } } }),
    },
  },
});
