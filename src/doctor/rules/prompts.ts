/** "GET {oauth_base}/authorize", the prompt rules: when the user must sign in or consent. */

import { formOf, type TestBrowser } from '../browser.ts';
import { ASKED_SCOPE } from '../fixtures.ts';
import type { Arrival, ResponseParameters } from '../responses.ts';
import { must, mustEqual, type Rule } from '../rule.ts';
import type { RuleContext } from '../rule-context.ts';
import { mustAskToSignIn } from './arrivals.ts';

const asksForConsent = ({ reply }: Arrival): boolean => formOf(reply.text, 'consent') !== undefined;

/** Requests a scope that requires a dialog. The built-in server has no such scope. */
async function ask(visit: RuleContext, parameters: ResponseParameters, browser?: TestBrowser): Promise<Arrival> {
  const { id } = await visit.asking();
  return visit.authorize({ client_id: id, scope: `openid ${ASKED_SCOPE}`, ...parameters }, browser);
}

export const prompts: readonly Omit<Rule<RuleContext>, 'section'>[] = [
  {
    id: 'prompt.absent',
    sentence:
      'No prompt: an existing session authenticates silently, otherwise the user is prompted; consent is asked if required by the requested scopes and not yet given.',
    async run(visit) {
      mustAskToSignIn(await visit.authorize({}, visit.stranger()));
      must((await visit.authorize()).fields.code !== undefined, 'an existing session must authenticate silently');
      if (visit.isBuiltIn) return;
      const { id } = await visit.fixtures.makeApplication('asking-once', { consent_method: 'REQUIRED' });
      const browser = await visit.newSession();
      const dialog = await ask(visit, { client_id: id }, browser);
      must(asksForConsent(dialog), 'a scope that requires consent must lead to the consent page');
      await browser.submit(visit.wire, dialog.reply, 'consent', { decision: 'allow' });
      must((await ask(visit, { client_id: id }, browser)).fields.code !== undefined, 'consent must be remembered');
    },
  },
  {
    id: 'prompt.none',
    sentence:
      '`none`: no authentication or consent prompt; silent authentication if a session exists, otherwise an error (`login_required`).',
    async run(visit) {
      must((await visit.authorize({ prompt: 'none' })).fields.code !== undefined, 'a session must authenticate silently');
      const nobody = await visit.authorize({ prompt: 'none' }, visit.stranger());
      must(nobody.place !== 'page' && nobody.fields.error !== undefined, 'without a session the response must be an error');
      if (visit.isBuiltIn) return;
      const { id } = await visit.fixtures.makeApplication('asking-never', { consent_method: 'REQUIRED' });
      const { place, fields } = await ask(visit, { client_id: id, prompt: 'none' });
      must(place !== 'page' && fields.error !== undefined, 'missing consent must lead to an error');
    },
  },
  {
    id: 'prompt.login',
    sentence: '`login`: always prompt for authentication, even with an existing session.',
    async run(visit) {
      mustAskToSignIn(await visit.authorize({ prompt: 'login' }));
    },
  },
  {
    id: 'prompt.consent',
    sentence:
      "`consent`: whether a consent dialog appears depends on the application's consent-method setting together with the scope's consent attribute; also applies to custom authorization servers.",
    async run(visit) {
      if (visit.isBuiltIn) return;
      must(asksForConsent(await ask(visit, { prompt: 'consent' })), 'a scope that requires consent must lead to the consent page');
      const implicit = await ask(visit, { prompt: 'consent', scope: 'openid' });
      must(implicit.fields.code !== undefined, 'a scope with implicit consent must not lead to the consent page');
    },
  },
  {
    id: 'prompt.login-consent',
    sentence:
      '`login consent` / `consent login`: always authenticate, and show the consent dialog according to the same settings even if the user already consented.',
    async run(visit) {
      mustAskToSignIn(await ask(visit, { prompt: 'login consent', ...(visit.isBuiltIn && { scope: 'openid' }) }));
      if (visit.isBuiltIn) return;
      const browser = await visit.newSession();
      const dialog = await ask(visit, { prompt: 'consent' }, browser);
      const given = await browser.submit(visit.wire, dialog.reply, 'consent', { decision: 'allow' });
      mustEqual(given.location?.searchParams.has('code'), true, 'an answer with a code');
      const again = await ask(visit, { prompt: 'consent login', sessionToken: await visit.sessionToken() }, browser);
      must(asksForConsent(again), 'the consent page must be shown again');
    },
  },
];
