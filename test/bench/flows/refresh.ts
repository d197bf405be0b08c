/** A refresh (RFC 6749 section 6) that rotates its token and brings an ID token; each seat has a family of its own. */
import { basic, flow } from '../flow.ts';
import { send } from '../http.ts';

export const refresh = flow({
  name: 'refresh, rotating, ID token',
  prepare: (target, { server, tokens }) => ({
    url: new URL(server.opaque.token),
    authorization: basic(target),
    refreshToken: tokens.refreshToken,
  }),
  async request(context) {
    const { id_token, refresh_token: next } = await send(context, `grant_type=refresh_token&refresh_token=${context.refreshToken}`);
    if (typeof id_token !== 'string' || typeof next !== 'string' || next === context.refreshToken) throw new Error('not rotated');
    context.refreshToken = next;
  },
});
