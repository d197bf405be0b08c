/** Userinfo (OpenID Connect Core section 5.3) with an opaque access token, or a JWT where there is no other. */
import { flow } from '../flow.ts';
import { send } from '../http.ts';

export const userinfo = flow({
  name: 'userinfo',
  prepare: (_target, { server, tokens }) => ({
    url: new URL(server.opaque.userinfo),
    authorization: `Bearer ${tokens.accessToken}`,
  }),
  async request(context) {
    const { email } = await send(context);
    if (typeof email !== 'string') throw new Error('there are no claims');
  },
});
