/** The client credentials grant (RFC 6749 section 4.4) at a server with opaque access tokens, and at one with JWTs. */
import { basic, flow } from '../flow.ts';
import { send } from '../http.ts';

const clientCredentials = (format: 'opaque' | 'jwt') =>
  flow({
    name: `client_credentials, ${format}`,
    prepare: (target, { server }) => ({ url: new URL(`${server[format]}/token`), authorization: basic(target) }),
    async request(context) {
      const { access_token: token } = await send(context, 'grant_type=client_credentials');
      const parts = format === 'jwt' ? 3 : 1;
      if (typeof token !== 'string' || token.split('.').length !== parts) throw new Error(`not an access token that is ${format}`);
    },
  });

export const clientCredentialsOpaque = clientCredentials('opaque');
export const clientCredentialsJwt = clientCredentials('jwt');
