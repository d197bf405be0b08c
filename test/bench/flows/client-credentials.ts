/** The client credentials grant (RFC 6749 section 4.4) at a server with opaque access tokens, and at one with JWTs. */
import { basic, flow } from '../flow.ts';
import { send } from '../http.ts';

const clientCredentials = (format: 'opaque' | 'jwt') =>
  flow({
    name: `client_credentials, ${format}`,
    ...(format === 'opaque' && { lackedBy: ['keycloak'] }),
    prepare: ({ clientId, clientSecret, jwtClientId = clientId }, { server }) => ({
      url: new URL(server[format].token),
      authorization: basic({ clientId: format === 'jwt' ? jwtClientId : clientId, clientSecret }),
    }),
    async request(context) {
      const { access_token: token } = await send(context, 'grant_type=client_credentials');
      if (typeof token !== 'string' || (token.split('.').length === 3) !== (format === 'jwt'))
        throw new Error(`not an access token that is ${format}`);
    },
  });

export const clientCredentialsOpaque = clientCredentials('opaque');
export const clientCredentialsJwt = clientCredentials('jwt');
