/** "States and transitions". */
import { must, mustEqual, type Rule, section, unseen } from '../rule.ts';
import type { RuleContext } from '../rule-context.ts';

export const transitions: readonly Rule<RuleContext>[] = section('States and transitions', [
  {
    id: 'transitions.revoked',
    sentence:
      "Access token, refresh token | active | revoke endpoint | called by the client the token belongs to | inactive | introspection returns active=false; only the named token is revoked (revoking a refresh token leaves the user's access tokens active)",
    async run(visit) {
      const tokens = await visit.freshTokens();
      await visit.post('revoke', { token: String(tokens.refresh_token) });
      mustEqual((await visit.introspect(tokens.refresh_token)).active, false, 'active of the revoked refresh token');
      mustEqual((await visit.introspect(tokens.access_token)).active, true, 'active of the access token beside it');
    },
  },
  {
    id: 'transitions.expired',
    sentence: 'Access token, refresh token | active | time passes | token expires | inactive | introspection returns active=false',
    run: unseen('the doctor does not wait so long'),
  },
  {
    id: 'transitions.code-expired',
    sentence: 'Authorization code | valid | time passes | 300 seconds elapsed | expired | token endpoint answers invalid_grant',
    run: unseen('the doctor does not wait 300 seconds'),
  },
  {
    id: 'transitions.session-ended',
    sentence:
      'Browser session | exists | logout endpoint | subject of the ID token hint matches the current session | ended | browser is redirected (see Endpoints)',
    async run(visit) {
      const browser = await visit.newSession();
      const { id_token: hint } = await visit.freshTokens('openid', undefined, browser);
      const { status } = await visit.logout({ id_token_hint: String(hint) }, browser);
      must(status === 200 || status === 302, 'the browser must be redirected');
      must(!(await visit.hasSession(browser)), 'the session must end');
    },
  },
]);
