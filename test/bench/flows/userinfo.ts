/** Userinfo (OpenID Connect Core section 5.3) with an opaque access token. */
import { flow, send } from '../flow.ts';

export const userinfo = flow({
  name: 'userinfo',
  prepare: (target, { accessToken }) => ({ url: new URL(`${target.opaque}/userinfo`), authorization: `Bearer ${accessToken}` }),
  async request(context) {
    const { email } = await send(context);
    if (typeof email !== 'string') throw new Error('there are no claims');
  },
});
