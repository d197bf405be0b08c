/** "Errors", all of them: bodies, codes, and the table by endpoint. */

import { ASKED_SCOPE, CALLBACK } from '../fixtures.ts';
import { jsonOf, type Reply } from '../http-client.ts';
import { mustBeError, type ResponseParameters } from '../responses.ts';
import { must, mustEqual, mustMatch, type Rule, section, unseen } from '../rule.ts';
import { basic, type RuleContext, requestBySecret } from '../rule-context.ts';

const NOBODY = { authorization: 'Basic bm9ib2R5Om5vYm9keQ==' };

const errorOf = (reply: Reply): unknown => jsonOf(reply).error;

/** The authorize endpoint responds with this error code. */
const answers = (error: string, parameters: ResponseParameters) => async (visit: RuleContext) =>
  mustEqual((await visit.authorize(parameters)).fields.error, error, 'error');

export const errorRules: readonly Rule<RuleContext>[] = section('Errors', [
  {
    id: 'errors.body',
    sentence:
      'Error body for token, introspect and revoke: JSON with `error` and `error_description`, content type `application/json;charset=UTF-8`; an invalid_client case is shown with HTTP 401.',
    async run(visit) {
      for (const [endpoint, form, error] of [
        ['token', {}, 'invalid_request'],
        ['token', { grant_type: 'client_credentials', scope: 'nonsense' }, 'invalid_scope'],
        ['token', { grant_type: 'refresh_token', refresh_token: 'nonsense' }, 'invalid_grant'],
        ['introspect', {}, 'invalid_request'],
        ['revoke', {}, 'invalid_request'],
      ] as const) {
        const reply = await visit.post(endpoint, form);
        mustEqual(reply.headers.get('content-type'), 'application/json;charset=UTF-8', `content-type of ${endpoint}`);
        mustBeError(reply, error, `${endpoint} with ${JSON.stringify(form)}`);
      }
    },
  },
  {
    id: 'errors.authorize',
    sentence: 'Errors at the authorize endpoint return in the redirect as `error`, `error_description` parameters.',
    async run(visit) {
      const { place, fields } = await visit.authorize({ response_type: 'token', scope: 'nonsense' });
      mustEqual(place, 'fragment', 'the place of the error');
      must(fields.error !== undefined && fields.error_description !== undefined, 'the response must have error and error_description');
    },
  },
]);

export const oauthCodes: readonly Rule<RuleContext>[] = section('OAuth 2.0 codes', [
  {
    id: 'code.access_denied',
    sentence: 'access_denied | Server denied the request',
    async run(visit) {
      if (visit.isBuiltIn) return;
      const { id } = await visit.asking();
      const browser = await visit.newSession();
      const dialog = await visit.authorize({ client_id: id, scope: `openid ${ASKED_SCOPE}`, prompt: 'consent' }, browser);
      const answer = await browser.submit(visit.wire, dialog.reply, 'consent', { decision: 'deny' });
      mustEqual(answer.location?.searchParams.get('error'), 'access_denied', 'error');
    },
  },
  {
    id: 'code.invalid_client',
    sentence: 'invalid_client | Invalid or unknown client id (or no client credentials found)',
    async run(visit) {
      mustBeError(await visit.send('token', { grant_type: 'client_credentials' }, NOBODY), 'invalid_client');
      const { id } = await visit.everything();
      const alone = await visit.send('token', { grant_type: 'client_credentials', client_id: id });
      mustBeError(alone, 'invalid_client', 'a request without credentials');
    },
  },
  {
    id: 'code.invalid_grant',
    sentence:
      'invalid_grant | Grant invalid, expired or revoked, or does not match the redirect URI; at the token endpoint also a bad combination of code, refresh_token, username+password or client_credentials',
    async run(visit) {
      mustBeError(await visit.exchange({ code: 'unknown' }), 'invalid_grant', 'an unknown code');
      const { code, verifier } = await visit.code();
      const form = { grant_type: 'authorization_code', code, redirect_uri: `${CALLBACK}/other`, code_verifier: verifier };
      mustBeError(await visit.post('token', form), 'invalid_grant', 'another redirect_uri');
      const { login: username } = await visit.user();
      const wrong = await visit.post('token', { grant_type: 'password', username, password: 'a-wrong-password' });
      mustBeError(wrong, 'invalid_grant', 'a wrong password');
    },
  },
  {
    id: 'code.invalid_request',
    sentence:
      'invalid_request | Missing required parameter, invalid value, duplicate parameter; at introspect/revoke/token also a malformed Basic header, both header and form authentication, or no authentication',
    async run(visit) {
      mustBeError(await visit.post('token', {}), 'invalid_request', 'a request without grant_type');
      const malformed = await visit.send('token', { grant_type: 'client_credentials' }, { authorization: 'Basic %%%%' });
      mustBeError(malformed, 'invalid_request', 'a malformed Basic header');
      const twice = await visit.requestUrl();
      twice.searchParams.append('scope', 'openid');
      const { location } = await (await visit.signedIn()).copy().visit(visit.wire, twice);
      mustEqual(location?.searchParams.get('error'), 'invalid_request', 'error of a duplicate parameter');
    },
  },
  {
    id: 'code.invalid_scope',
    sentence:
      'invalid_scope | Requested scope invalid, unknown, unsupported; at token endpoint also a refresh request that exceeds the earlier granted scopes',
    async run(visit) {
      await answers('invalid_scope', { scope: 'openid unknown' })(visit);
      const { refresh_token: token } = await visit.freshTokens();
      const wider = { grant_type: 'refresh_token', refresh_token: String(token), scope: 'openid address' };
      mustBeError(await visit.post('token', wider), 'invalid_scope', 'a refresh that exceeds the scopes');
    },
  },
  {
    id: 'code.invalid_token',
    sentence: 'invalid_token | Access token invalid',
    async run(visit) {
      mustEqual(errorOf(await visit.userinfo('unknown')), 'invalid_token', 'error');
    },
  },
  {
    id: 'code.server_error',
    sentence: 'server_error | Internal server error',
    run: unseen('a service that is all right has no such failure'),
  },
  {
    id: 'code.temporarily_unavailable',
    sentence: 'temporarily_unavailable | Server temporarily unavailable; may work later',
    run: unseen('a service that is all right is available'),
  },
  {
    id: 'code.unsupported_response_type',
    sentence: 'unsupported_response_type | response_type invalid or unsupported',
    run: answers('unsupported_response_type', { response_type: 'nonsense' }),
  },
  {
    id: 'code.unsupported_response_mode',
    sentence:
      'unsupported_response_mode | response_mode invalid, unsupported or not allowed (for example query together with a response_type containing id_token)',
    async run(visit) {
      await answers('unsupported_response_mode', { response_type: 'id_token token', response_mode: 'query' })(visit);
      await answers('unsupported_response_mode', { response_mode: 'nonsense' })(visit);
    },
  },
  {
    id: 'code.unsupported_grant_type',
    sentence: 'unsupported_grant_type | grant_type not one of the four supported',
    async run(visit) {
      mustBeError(await visit.post('token', { grant_type: 'nonsense' }), 'unsupported_grant_type');
    },
  },
  {
    id: 'code.invalid_request_object',
    sentence: 'invalid_request_object | request JWT expired or invalid',
    async run(visit) {
      await answers('invalid_request_object', { request: 'nonsense' })(visit);
      const exp = Math.floor(Date.now() / 1000) - 60;
      const request = await requestBySecret(visit, { iat: exp - 60, exp });
      await answers('invalid_request_object', { request })(visit);
    },
  },
]);

export const oidcCodes: readonly Rule<RuleContext>[] = section('OIDC codes', [
  {
    id: 'code.insufficient_scope',
    sentence: 'insufficient_scope | Access token lacks the scope needed',
    async run(visit) {
      mustEqual(errorOf(await visit.userinfo((await visit.tokens('openid')).access_token)), 'insufficient_scope', 'error');
    },
  },
  {
    id: 'code.login_required',
    sentence: 'login_required | prompt=none was requested but the user is not authenticated',
    async run(visit) {
      const { fields } = await visit.authorize({ prompt: 'none', response_type: 'id_token' }, visit.stranger());
      mustEqual(fields.error, 'login_required', 'error');
    },
  },
]);

const refusesNobody = (endpoint: string, form: Record<string, string>, status?: number) => async (visit: RuleContext) => {
  const reply = await visit.send(endpoint, form, basic(`${visit.fixtures.name}-nobody`, 'nobodys-secret'));
  if (status !== undefined) mustEqual(reply.status, status, 'status');
  mustEqual(errorOf(reply), 'invalid_client', 'error');
};

/** The challenge of a refusal (RFC 6750 section 3), whose values may be quoted. */
function mustChallenge(reply: Reply, status: number, error: string): void {
  mustEqual(reply.status, status, 'status');
  const challenge = new RegExp(`^Bearer error="?${error}"?, ?error_description=".+"`);
  mustMatch(reply.headers.get('www-authenticate'), challenge, 'WWW-Authenticate');
}

export const byEndpoint: readonly Rule<RuleContext>[] = section('Per endpoint', [
  {
    id: 'error.token.client',
    sentence: 'token | unknown client_id | invalid_client (HTTP 401 shown for missing credentials)',
    run: refusesNobody('token', { grant_type: 'authorization_code', code: 'unknown', redirect_uri: CALLBACK }, 401),
  },
  {
    id: 'error.introspect.client',
    sentence: 'introspect | invalid client id | invalid_client',
    run: refusesNobody('introspect', { token: 'unknown' }),
  },
  {
    id: 'error.revoke.client',
    sentence: 'revoke | invalid client id | invalid_client, HTTP 401',
    run: refusesNobody('revoke', { token: 'unknown' }, 401),
  },
  {
    id: 'error.revoke.token',
    sentence: 'revoke | invalid, expired or revoked token | HTTP 200 (success)',
    async run(visit) {
      mustEqual((await visit.post('revoke', { token: 'unknown' })).status, 200, 'status of an unknown token');
    },
  },
  {
    id: 'error.introspect.token',
    sentence: 'introspect | token invalid, expired or revoked | HTTP 200 with active=false',
    async run(visit) {
      const reply = await visit.post('introspect', { token: 'a.b.c' });
      mustEqual(reply.status, 200, 'status');
      mustEqual(jsonOf(reply).active, false, 'active of what is no token');
    },
  },
  {
    id: 'error.userinfo.invalid',
    sentence:
      'userinfo | invalid access token | HTTP 401 with header `WWW-Authenticate: Bearer error=invalid_token` and an error_description',
    async run(visit) {
      mustChallenge(await visit.userinfo('nonsense'), 401, 'invalid_token');
    },
  },
  {
    id: 'error.userinfo.scope',
    sentence:
      'userinfo | token lacks all of the scopes profile, email, address, phone | HTTP 403 with `Expires: 0` and `WWW-Authenticate: Bearer error=insufficient_scope` and an error_description',
    async run(visit) {
      const reply = await visit.userinfo((await visit.tokens('openid offline_access')).access_token);
      mustChallenge(reply, 403, 'insufficient_scope');
      mustEqual(reply.headers.get('expires'), '0', 'Expires');
    },
  },
  {
    id: 'error.logout',
    sentence: 'logout | see Endpoints | redirect rules',
    async run(visit) {
      const hint = String((await visit.elsewhere.tokens()).id_token);
      const reply = await visit.logout({ id_token_hint: hint }, visit.stranger());
      must(reply.status >= 400, 'the ID token of another server must lead to an error page');
    },
  },
]);
