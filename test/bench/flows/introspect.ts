/** Introspection (RFC 7662) of a user's opaque access token, without a hint of what it is. */
import { basic, flow, send } from '../flow.ts';

export const introspect = flow({
  name: 'introspect, no hint',
  prepare: (target, { accessToken }) => ({
    url: new URL(`${target.opaque}/introspect`),
    authorization: basic(target),
    form: `token=${accessToken}`,
  }),
  async request(context) {
    const { active } = await send(context, context.form);
    if (active !== true) throw new Error('the token is not active');
  },
});
