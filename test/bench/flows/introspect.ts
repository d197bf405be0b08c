/** Introspection (RFC 7662) of a user's access token, opaque where there are such, with and without a hint of what it is. */
import { basic, flow } from '../flow.ts';
import { send } from '../http.ts';

const introspect = (name: string, hint: string) =>
  flow({
    name,
    prepare: (target, { server, tokens }) => ({
      url: new URL(server.opaque.introspect),
      authorization: basic(target),
      form: `token=${tokens.accessToken}${hint}`,
    }),
    async request(context) {
      const { active } = await send(context, context.form);
      if (active !== true) throw new Error('the token is not active');
    },
  });

export const introspectHinted = introspect('introspect, hint', '&token_type_hint=access_token');
export const introspectUnhinted = introspect('introspect, no hint', '');
