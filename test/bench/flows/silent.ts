/** What a returning user costs: a silent authorization (`prompt=none`, OpenID Connect Core section 3.1.2.1) and the exchange of its code. */
import { authorize, codeIn, exchangeForm, signedIn } from '../authorization.ts';
import { basic, flow } from '../flow.ts';
import { send } from '../http.ts';

export const silent = flow({
  name: 'silent authorize + exchange',
  prepare: async (target, seat) => ({
    browser: await signedIn(target, seat),
    target,
    seat,
    token: { url: new URL(seat.server.opaque.token), authorization: basic(target) },
  }),
  async request({ browser, target, seat, token }) {
    const { url } = await authorize(browser, target, seat, { prompt: 'none' });
    const { id_token } = await send(token, exchangeForm(codeIn(url)));
    if (typeof id_token !== 'string') throw new Error('no ID token');
  },
});
