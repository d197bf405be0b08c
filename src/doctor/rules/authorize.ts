/** "GET {oauth_base}/authorize": parameters and responses. Prompts, response modes and request JWTs have their own files. */

import { fieldOf } from '../browser.ts';
import { CALLBACK } from '../fixtures.ts';
import { jsonOf } from '../http-client.ts';
import { claimsOf, mustBeError } from '../responses.ts';
import { must, mustEqual, mustMatch, type Rule, section } from '../rule.ts';
import { challengeOf, type RuleContext, requestBySecret } from '../rule-context.ts';
import { mustAskToSignIn, mustBePage } from './arrivals.ts';
import { responseModes } from './authorization-response.ts';
import { prompts } from './prompts.ts';
import { requestObjectRules } from './request-objects.ts';

const TYPES = ['code', 'token', 'id_token', 'code token', 'id_token code', 'token id_token', 'token code id_token'];
const FIELD_OF = { code: 'code', token: 'access_token', id_token: 'id_token' } as const;

export const authorizeRules: readonly Rule<RuleContext>[] = section('GET {oauth_base}/authorize', [
  {
    id: 'authorize.flows',
    sentence: 'Start of browser-based flows (implicit, authorization code, hybrid).',
    async run(visit) {
      for (const type of ['id_token token', 'code', 'code id_token']) {
        const { fields } = await visit.authorize({ response_type: type });
        must(fields.error === undefined && Object.keys(fields).length > 0, `the flow of response_type ${type} must return a response`);
      }
    },
  },
  {
    id: 'authorize.no-ajax',
    sentence: 'The browser must be redirected to it; AJAX must not be used.',
    async run(visit) {
      const browser = (await visit.signedIn()).copy();
      const init = { headers: { origin: new URL(CALLBACK).origin } };
      const { headers } = await browser.visit(visit.wire, await visit.requestUrl(), init);
      must(!headers.has('access-control-allow-origin'), 'the response must not be readable by a script of another origin');
    },
  },
  {
    id: 'authorize.by-redirect',
    sentence: 'The result is delivered by redirect to `redirect_uri`.',
    async run(visit) {
      const { reply } = await visit.authorize();
      must(reply.status === 302 || reply.status === 303, `the status must be that of a redirect, is ${reply.status}`);
      mustEqual(`${reply.location?.origin}${reply.location?.pathname}`, CALLBACK, 'the address');
    },
  },
  {
    id: 'authorize.client_id',
    sentence: 'client_id | string | Id of the application',
    async run(visit) {
      mustBePage(await visit.authorize({ client_id: `${visit.fixtures.name}-nobody` }), 'the application is unknown');
    },
  },
  {
    id: 'authorize.redirect_uri',
    sentence: 'redirect_uri | string | Must match a callback address configured for the application',
    async run(visit) {
      for (const redirectUri of ['https://elsewhere.invalid/callback', `${CALLBACK}/more`]) {
        mustBePage(await visit.authorize({ redirect_uri: redirectUri }), 'redirect_uri is not registered');
      }
    },
  },
  {
    id: 'authorize.response_type',
    sentence: 'response_type | string | Any combination of `code`, `token`, `id_token`; the combination selects the flow',
    async run(visit) {
      for (const type of TYPES) {
        const { fields } = await visit.authorize({ response_type: type });
        for (const [word, field] of Object.entries(FIELD_OF)) {
          const isAsked = type.split(' ').includes(word);
          must((fields[field] !== undefined) === isAsked, `${field} must be ${isAsked ? 'present' : 'absent'} with response_type ${type}`);
        }
      }
    },
  },
  {
    id: 'authorize.scope',
    sentence: 'scope | string | Must include `openid` for authentication; other scopes allowed',
    async run(visit) {
      const without = await visit.authorize({ response_type: 'id_token', scope: 'email' });
      must(without.fields.id_token === undefined, 'there must be no ID token without openid');
      must((await visit.authorize({ scope: 'openid email phone' })).fields.code !== undefined, 'other scopes must be allowed');
    },
  },
  {
    id: 'authorize.state',
    sentence:
      'state | string | Required on every request (CSRF protection); may contain letters, digits, comma, period, underscore, hyphen',
    async run(visit) {
      for (const state of [undefined, '']) {
        const { fields } = await visit.authorize({ state });
        mustEqual(fields.error, 'invalid_request', 'error without state');
        mustMatch(fields.error_description, /\bstate\b/, 'error_description without state');
      }
    },
  },
  {
    id: 'authorize.nonce',
    sentence:
      'nonce | string | Returned in the ID token (replay protection). Required for implicit and hybrid flows, optional for the code flow',
    async run(visit) {
      const { fields } = await visit.authorize({ response_type: 'id_token', nonce: 'a-nonce' });
      mustEqual(claimsOf(fields.id_token).nonce, 'a-nonce', 'nonce of the ID token');
      for (const type of ['id_token', 'token', 'code id_token']) {
        const answer = await visit.authorize({ response_type: type, nonce: undefined });
        mustEqual(answer.fields.error, 'invalid_request', `error of response_type ${type} without nonce`);
      }
      must((await visit.authorize({ nonce: undefined })).fields.code !== undefined, 'nonce must be optional in the code flow');
    },
  },
  {
    id: 'authorize.response_mode',
    sentence:
      'response_mode | string | `fragment`, `form_post` or `query`. Must not be `query` when response_type contains `id_token` or `token`. Default `fragment` in implicit and hybrid flows',
    async run(visit) {
      for (const type of ['token', 'id_token', 'code id_token']) {
        const { place, fields } = await visit.authorize({ response_type: type, response_mode: 'query' });
        must(place === 'fragment' && fields.error !== undefined, `query must be refused with response_type ${type}`);
        mustEqual((await visit.authorize({ response_type: type })).place, 'fragment', `the place of response_type ${type}`);
      }
    },
  },
  {
    id: 'authorize.code_challenge',
    sentence: 'code_challenge | string | PKCE challenge, verified at the token endpoint',
    async run(visit) {
      const code = await visit.code();
      for (const verifier of ['w'.repeat(43), challengeOf(code.verifier)]) {
        mustBeError(await visit.exchange({ ...code, verifier }), 'invalid_grant', 'another verifier');
      }
      mustEqual((await visit.exchange(code)).status, 200, 'status with the verifier, after these mistakes');
      const { code: without, verifier } = await visit.code({ code_challenge: undefined, code_challenge_method: undefined });
      mustBeError(await visit.exchange({ code: without, verifier }), 'invalid_grant', 'a verifier to no challenge');
      mustEqual((await visit.exchange({ code: without })).status, 200, 'status with neither');
    },
  },
  {
    id: 'authorize.code_challenge_method',
    sentence: 'code_challenge_method | string | Default `S256`',
    async run(visit) {
      const verifier = 'v'.repeat(43);
      const parameters = { code_challenge: challengeOf(verifier), code_challenge_method: undefined };
      const { code } = await visit.code(parameters);
      mustEqual((await visit.exchange({ code, verifier })).status, 200, 'status without a method');
    },
  },
  {
    id: 'authorize.display',
    sentence: 'display | string | `page` (default), `popup`, `touch`, `wap`; passed to the IdP on social login',
    async run(visit) {
      for (const display of ['page', 'popup', 'touch', 'wap']) mustAskToSignIn(await visit.authorize({ display }, visit.stranger()));
    },
  },
  {
    id: 'authorize.login_hint',
    sentence: 'login_hint | string | User name pre-filled on the sign-in page; the user may change it',
    async run(visit) {
      const { reply } = await visit.authorize({ login_hint: 'somebody@doctor.invalid' }, visit.stranger());
      mustEqual(fieldOf(reply.text, 'username'), 'somebody@doctor.invalid', 'the user name on the sign-in page');
    },
  },
  {
    id: 'authorize.prompt',
    sentence: 'prompt | string | `none`, `login`, `consent`, or `login consent` / `consent login` (equivalent)',
    async run(visit) {
      for (const prompt of ['login consent', 'consent login', 'login']) mustAskToSignIn(await visit.authorize({ prompt }));
      for (const prompt of ['none', 'consent']) {
        must((await visit.authorize({ prompt })).fields.error === undefined, `prompt ${prompt} must be accepted`);
      }
      mustEqual((await visit.authorize({ prompt: 'nonsense' })).fields.error, 'invalid_request', 'error of prompt nonsense');
    },
  },
  {
    id: 'authorize.sessionToken',
    sentence: 'sessionToken | string | One-time session token for API-based sign-in instead of the sign-in UI',
    async run(visit) {
      const sessionToken = await visit.sessionToken();
      const first = await visit.authorize({ sessionToken }, visit.stranger());
      must(first.fields.code !== undefined, 'a sessionToken must sign in without a page');
      const second = await visit.authorize({ sessionToken, prompt: 'none' }, visit.stranger());
      must(second.fields.code === undefined, 'a sessionToken must not work a second time');
    },
  },
  {
    id: 'authorize.request',
    sentence: 'request | string | Signed JWT carrying request parameters (rules below)',
    async run(visit) {
      const request = await requestBySecret(visit, { scope: 'openid email', prompt: 'none' });
      const { fields } = await visit.authorize({ request, scope: undefined });
      must(fields.code !== undefined, 'the request must use the parameters of the JWT');
    },
  },
  ...prompts,
  ...responseModes,
  ...requestObjectRules,
  {
    id: 'authorize.answer',
    sentence: 'Response: redirect to redirect_uri carrying the fields of the authorization response.',
    async run(visit) {
      const { fields, reply } = await visit.authorize();
      mustEqual(reply.location?.pathname, new URL(CALLBACK).pathname, 'the path');
      must(fields.code !== undefined && fields.state !== undefined, 'the response must have code and state');
    },
  },
  {
    id: 'authorize.failure',
    sentence: 'On failure the redirect carries `error` and `error_description` (and state).',
    async run(visit) {
      const { fields } = await visit.authorize({ prompt: 'none login' });
      must(fields.error !== undefined && (fields.error_description ?? '') !== '', 'the response must have error and error_description');
      mustEqual(fields.state, 'some-state', 'state');
    },
  },
]);

export const endpoints: readonly Rule<RuleContext>[] = section('Endpoints', [
  {
    id: 'endpoints.forms',
    sentence:
      'All OAuth endpoints take their parameters as described; token, introspect and revoke take URL-encoded form bodies (`application/x-www-form-urlencoded`).',
    async run(visit) {
      const { id, secret } = await visit.everything();
      for (const endpoint of ['token', 'introspect', 'revoke']) {
        const body = JSON.stringify({ client_id: id, client_secret: secret, token: 'unknown', grant_type: 'client_credentials' });
        const headers = { 'content-type': 'application/json' };
        const reply = await visit.wire.send(`${visit.issuer}/${endpoint}`, { method: 'POST', headers, body });
        mustEqual(reply.status, 400, `status of JSON at ${endpoint}`);
        mustEqual(jsonOf(reply).error, 'invalid_request', `error of JSON at ${endpoint}`);
      }
    },
  },
]);
