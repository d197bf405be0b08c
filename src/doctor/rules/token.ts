/** "POST {oauth_base}/token". */

import { CALLBACK, OTHER_CALLBACK, type TestApplication } from '../fixtures.ts';
import { jsonOf } from '../http-client.ts';
import { mustBeError } from '../responses.ts';
import { must, mustEqual, mustMatch, type Rule, section } from '../rule.ts';
import { challengeOf, type RuleContext, SCOPE } from '../rule-context.ts';

/** A form without one of its fields, or with an empty one, is refused. */
const requires = (field: string, form: (visit: RuleContext) => Promise<Record<string, string>>) => async (visit: RuleContext) => {
  for (const value of [undefined, '']) {
    const reply = await visit.post('token', { ...(await form(visit)), [field]: value });
    mustBeError(reply, 'invalid_request', `${value === undefined ? 'no' : 'an empty'} ${field}`);
  }
};

const byPassword = async (visit: RuleContext): Promise<Record<string, string>> => {
  const { login, password } = await visit.user();
  return { grant_type: 'password', username: login, password, scope: 'openid email' };
};

const byCode = async (visit: RuleContext): Promise<Record<string, string>> => {
  const { code, verifier } = await visit.code();
  return { grant_type: 'authorization_code', code, redirect_uri: CALLBACK, code_verifier: verifier };
};

const scopesOf = (json: Readonly<Record<string, unknown>>): string => String(json.scope).split(' ').sort().join(' ');

export const token: readonly Rule<RuleContext>[] = section('POST {oauth_base}/token', [
  {
    id: 'token.grant_type',
    sentence: 'grant_type | string | `authorization_code`, `password`, `client_credentials`, `refresh_token`',
    async run(visit) {
      const { refresh_token: refreshToken } = await visit.freshTokens();
      const forms = [
        await byCode(visit),
        await byPassword(visit),
        { grant_type: 'client_credentials', scope: 'profile' },
        { grant_type: 'refresh_token', refresh_token: String(refreshToken) },
      ];
      for (const form of forms) mustEqual((await visit.post('token', form)).status, 200, `status of ${form.grant_type}`);
    },
  },
  {
    id: 'token.code',
    sentence: 'code | string | Required (non-empty) for authorization_code; valid 300 seconds',
    async run(visit) {
      await requires('code', byCode)(visit);
      mustBeError(await visit.exchange({ code: 'unknown', verifier: 'v'.repeat(43) }), 'invalid_grant', 'an unknown code');
      const { refresh_token: refreshToken } = await visit.tokens();
      mustBeError(await visit.exchange({ code: String(refreshToken) }), 'invalid_grant', 'a refresh token for a code');
    },
  },
  {
    id: 'token.redirect_uri',
    sentence: 'redirect_uri | string | Required for authorization_code; must equal the one used at authorize',
    async run(visit) {
      const form = await byCode(visit);
      await requires('redirect_uri', async () => form)(visit);
      for (const other of [OTHER_CALLBACK, `${CALLBACK}/`, 'https://elsewhere.invalid/callback']) {
        mustBeError(await visit.post('token', { ...form, redirect_uri: other }), 'invalid_grant', `redirect_uri ${other}`);
      }
      mustEqual((await visit.post('token', form)).status, 200, 'status with the right redirect_uri, after these mistakes');
    },
  },
  {
    id: 'token.code_verifier',
    sentence:
      'code_verifier | string | Required for authorization_code if code_challenge was sent at authorize; 43 to 128 characters inclusive, letters, digits, hyphen, period, tilde (further allowed symbols: not shown)',
    async run(visit) {
      const form = await byCode(visit);
      mustBeError(await visit.post('token', { ...form, code_verifier: undefined }), 'invalid_grant', 'no code_verifier');
      mustEqual((await visit.post('token', form)).status, 200, 'status with the right code_verifier, after this mistake');
      for (const verifier of [`${'v'.repeat(43)} `, `${'v'.repeat(43)}+`, 'ä'.repeat(43)]) {
        const { code } = await visit.code({ code_challenge: challengeOf(verifier) });
        mustBeError(await visit.exchange({ code, verifier }), 'invalid_request', `code_verifier ${verifier}`);
      }
    },
  },
  { id: 'token.username', sentence: 'username | string | Required for password', run: requires('username', byPassword) },
  { id: 'token.password', sentence: 'password | string | Required for password', run: requires('password', byPassword) },
  {
    id: 'token.refresh_token',
    sentence: 'refresh_token | string | Required for refresh_token; a valid refresh token previously issued by this endpoint',
    async run(visit) {
      await requires('refresh_token', async () => ({ grant_type: 'refresh_token' }))(visit);
      const refresh = (value: unknown, at = visit, by?: TestApplication) =>
        at.post('token', { grant_type: 'refresh_token', refresh_token: String(value) }, by);
      const tokens = await visit.freshTokens();
      const code = await visit.code();
      const { access_token: accessToken, id_token: idToken } = tokens;
      for (const value of ['unknown', 'a\u0000b', code.code, accessToken, idToken]) {
        mustBeError(await refresh(value), 'invalid_grant', 'what is no refresh token');
      }
      mustEqual((await visit.exchange(code)).status, 200, 'status of the code that was no refresh token');
      for (const other of [await visit.other(), await visit.publicOne()]) {
        mustBeError(await refresh(tokens.refresh_token, visit, other), 'invalid_grant', 'the refresh token of another application');
      }
      mustBeError(await refresh(tokens.refresh_token, visit.elsewhere), 'invalid_grant', 'the refresh token of another server');
      mustEqual((await refresh(tokens.refresh_token)).status, 200, 'status of a valid refresh token, after these mistakes');
    },
  },
  {
    id: 'token.scope',
    sentence:
      'scope | string | For password: scopes wanted in the access token. For refresh_token: must be a subset of the scopes of the original grant',
    async run(visit) {
      mustEqual(scopesOf(jsonOf(await visit.post('token', await byPassword(visit)))), 'email openid', 'scope of password');
      const { refresh_token: refreshToken } = await visit.freshTokens();
      const form = { grant_type: 'refresh_token', refresh_token: String(refreshToken) };
      mustEqual((await visit.post('token', { ...form, scope: 'openid phone' })).status, 400, 'status of a wider scope');
      mustEqual(scopesOf(jsonOf(await visit.post('token', { ...form, scope: 'openid' }))), 'openid', 'scope of a refresh');
    },
  },
  {
    id: 'token.authentication',
    sentence: 'Client authentication is required (see Authentication).',
    async run(visit) {
      const { id } = await visit.everything();
      const form = await byCode(visit);
      mustEqual((await visit.send('token', { ...form, client_id: id })).status, 401, 'status of a code without the secret');
      mustBeError(await visit.post('token', form, await visit.other()), 'invalid_grant', 'the code of another application');
      mustEqual((await visit.post('token', form)).status, 200, 'status of the code by its own application, after these mistakes');
    },
  },
  {
    id: 'token.one-step',
    sentence:
      'For password, client_credentials and refresh_token flows this call is the only step; for the code flow it is the second step.',
    async run(visit) {
      const { refresh_token: refreshToken } = await visit.freshTokens();
      const machine = await visit.post('token', { grant_type: 'client_credentials', scope: 'email' });
      const person = await visit.post('token', await byPassword(visit));
      const refreshed = await visit.post('token', { grant_type: 'refresh_token', refresh_token: String(refreshToken) });
      for (const reply of [machine, person, refreshed])
        must(jsonOf(reply).access_token !== undefined, 'one call must return an access token');
    },
  },
  {
    id: 'token.offline_access',
    sentence: 'A refresh token for the code flow is obtained only when `offline_access` was in the scope of the authorize request.',
    async run(visit) {
      must((await visit.tokens(SCOPE)).refresh_token !== undefined, 'refresh_token must be present with offline_access');
      must((await visit.freshTokens('openid')).refresh_token === undefined, 'refresh_token must be absent without it');
    },
  },
  {
    id: 'token.success',
    sentence: 'Success: 200 with the token response (JSON).',
    async run(visit) {
      const reply = await visit.exchange(await visit.code());
      mustEqual(reply.status, 200, 'status');
      mustMatch(reply.headers.get('content-type'), /^application\/json\b/, 'content-type');
    },
  },
  {
    id: 'token.errors',
    sentence: 'Errors: see Errors.',
    async run(visit) {
      const { error } = jsonOf(await visit.post('token', { grant_type: 'password', username: 'x' }));
      must(typeof error === 'string' && error !== '', 'the response must have an error');
    },
  },
]);

/** "Token response": the fields that come back from the token endpoint. */
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
