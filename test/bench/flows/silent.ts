/** What a returning user costs: a silent authorization (`prompt=none`, OpenID Connect Core section 3.1.2.1) and the exchange of its code. */
import { authorizationUrl, codeIn, exchangeForm, signedIn } from '../authorization.ts';
import { basic, flow } from '../flow.ts';
import { send } from '../http.ts';

export const silent = flow({
  name: 'silent authorize + exchange',
  prepare: async (target, seat) => ({
    browser: await signedIn(target, seat),
    server: seat.server.opaque,
    clientId: target.clientId,
    token: { url: new URL(`${seat.server.opaque}/token`), authorization: basic(target) },
  }),
  async request({ browser, server, clientId, token }) {
    const { headers, text } = await browser.send(authorizationUrl(server, clientId, { prompt: 'none' }));
    if (headers.location === undefined) throw new Error(`no redirect: ${text.slice(0, 500)}`);
    const { id_token } = await send(token, exchangeForm(codeIn(new URL(headers.location))));
    if (typeof id_token !== 'string') throw new Error('no ID token');
  },
});
