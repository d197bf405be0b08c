/** "GET {oauth_base}/logout". */
import type { TestBrowser } from '../browser.ts';
import { SIGNED_OUT } from '../fixtures.ts';
import { must, mustEqual, type Rule, section, unseen } from '../rule.ts';
import type { RuleContext } from '../rule-context.ts';

/** A browser with a session, and an ID token of it. */
async function session(visit: RuleContext): Promise<{ browser: TestBrowser; id_token_hint: string }> {
  const browser = await visit.newSession();
  const { id_token: hint } = await visit.freshTokens('openid', undefined, browser);
  return { browser, id_token_hint: String(hint) };
}

/** An ID token of the shared session: a hint without a session. */
const hintOf = async (visit: RuleContext): Promise<string> => String((await visit.tokens()).id_token);

const back = { post_logout_redirect_uri: SIGNED_OUT };

export const logoutRules: readonly Rule<RuleContext>[] = section('GET {oauth_base}/logout', [
  {
    id: 'logout.ends',
    sentence: "Ends the user's browser session.",
    async run(visit) {
      const { browser, id_token_hint } = await session(visit);
      await visit.logout({ id_token_hint, ...back }, browser);
      must(!(await visit.elsewhere.hasSession(browser)), 'the session must end at every server');
    },
  },
  {
    id: 'logout.id_token_hint',
    sentence: 'id_token_hint | string | A valid ID token pointing at the current session',
    async run(visit) {
      const browser = (await visit.signedIn()).copy();
      const reply = await visit.logout(back, browser);
      must(reply.location === undefined, 'without a hint a signed-in user must be asked');
      must(await visit.hasSession(browser), 'without a hint the request alone must not end the session');
    },
  },
  {
    id: 'logout.post_logout_redirect_uri',
    sentence:
      'post_logout_redirect_uri | string | Where to redirect after logout; must be registered on the application. Without it the browser goes to the sign-in page',
    async run(visit) {
      const id_token_hint = await hintOf(visit);
      const away = await visit.logout({ id_token_hint, post_logout_redirect_uri: 'https://elsewhere.invalid/' }, visit.stranger());
      must(away.location === undefined, 'the browser must not be redirected to an unregistered address');
      const home = await visit.logout({ id_token_hint }, visit.stranger());
      must(home.text.includes('id="sign-in-form"'), 'without a redirect address the sign-in page must be shown');
    },
  },
  {
    id: 'logout.state',
    sentence: 'state | string | Optional; returned in the redirect',
    async run(visit) {
      const reply = await visit.logout({ id_token_hint: await hintOf(visit), ...back, state: 'a,b.c' }, visit.stranger());
      mustEqual(reply.location?.searchParams.get('state'), 'a,b.c', 'state');
    },
  },
  {
    id: 'logout.redirect',
    sentence: 'Response: HTTP 302 with a Location header (post_logout_redirect_uri, with state appended when given, or the sign-in page).',
    async run(visit) {
      const parameters = new URLSearchParams({ id_token_hint: await hintOf(visit), ...back });
      const reply = await visit.wire.send(`${visit.issuer}/logout?${parameters}`);
      mustEqual(reply.status, 302, 'status');
      mustEqual(reply.location?.href, SIGNED_OUT, 'Location');
    },
  },
  {
    id: 'logout.no-session',
    sentence: 'No session or expired session: no effect; immediate redirect to the sign-in page or to post_logout_redirect_uri if given.',
    async run(visit) {
      const reply = await visit.logout(back, visit.stranger());
      must(reply.location?.href === SIGNED_OUT, 'without a session the browser must be redirected at once');
      must(
        (await visit.logout({}, visit.stranger())).text.includes('id="sign-in-form"'),
        'without a redirect address the sign-in page must be shown',
      );
    },
  },
  {
    id: 'logout.invalid-hint',
    sentence: 'id_token_hint invalid: browser is redirected to an error page.',
    async run(visit) {
      const forged = (await hintOf(visit)).replace(/.{4}$/, (end) => (end === 'AAAA' ? 'BBBB' : 'AAAA'));
      for (const hint of ['nonsense', forged]) {
        const reply = await visit.logout({ id_token_hint: hint, ...back }, visit.stranger());
        must(reply.location === undefined && reply.status >= 400, 'an error page must be shown');
      }
    },
  },
  {
    id: 'logout.expired-hint',
    sentence:
      'id_token_hint valid but expired, and subject matches the current session: user is logged out and redirected to post_logout_redirect_uri.',
    run: unseen('the doctor does not wait until an ID token expires'),
  },
]);
