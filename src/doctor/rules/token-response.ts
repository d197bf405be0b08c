/** "Token response": the fields that come back from the token endpoint. */
import { must, mustEqual, mustMatch, type Rule, section } from '../rule.ts';
import type { RuleContext } from '../rule-context.ts';

export const tokenResponse: readonly Rule<RuleContext>[] = section('Token response (from the token endpoint)', [
  {
    id: 'token-response.access_token',
    sentence: 'access_token | string | Access token',
    async run(visit) {
      mustMatch((await visit.tokens()).access_token, /^[\w\-.~+/]{20,}=*$/, 'access_token');
    },
  },
  {
    id: 'token-response.token_type',
    sentence: 'token_type | string | Token type (`Bearer`)',
    async run(visit) {
      mustEqual((await visit.tokens()).token_type, 'Bearer', 'token_type');
    },
  },
  {
    id: 'token-response.expires_in',
    sentence: 'expires_in | integer | Access token lifetime in seconds',
    async run(visit) {
      const { expires_in: seconds } = await visit.tokens();
      must(Number.isInteger(seconds) && Number(seconds) > 0, 'expires_in must be a whole number of seconds');
    },
  },
  {
    id: 'token-response.scope',
    sentence: 'scope | string | Space-separated scopes contained in the access token',
    async run(visit) {
      const { scope } = await visit.tokens();
      mustEqual(String(scope).split(' ').sort().join(' '), 'email offline_access openid profile', 'scope');
    },
  },
  {
    id: 'token-response.refresh_token',
    sentence:
      'refresh_token | string | Opaque; returned only if `offline_access` was granted (for the authorization-code flow it must have been requested in the scope at the authorize endpoint)',
    async run(visit) {
      mustMatch((await visit.tokens()).refresh_token, /^[\w-]{32,}$/, 'refresh_token');
      must((await visit.tokens('openid email')).refresh_token === undefined, 'refresh_token must be absent without offline_access');
    },
  },
  {
    id: 'token-response.id_token',
    sentence: 'id_token | string | Returned when the scope includes `openid`',
    async run(visit) {
      must((await visit.tokens('openid email')).id_token !== undefined, 'id_token must be present with openid');
      must((await visit.tokens('email')).id_token === undefined, 'id_token must be absent without openid');
    },
  },
]);
