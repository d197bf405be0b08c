/** "Authentication": the client authentication methods and their endpoints. */

import { jsonOf, type Reply } from '../http-client.ts';
import { must, mustEqual, type Rule, section } from '../rule.ts';
import { basic, type RuleContext, requestByKey, requestBySecret } from '../rule-context.ts';

const ENDPOINTS = ['token', 'introspect', 'revoke'] as const;
const ASKED = {
  token: { grant_type: 'client_credentials', scope: 'email' },
  introspect: { token: 'unknown' },
  revoke: { token: 'unknown' },
};

function mustBeInvalidRequest(reply: Reply, what: string): void {
  mustEqual(reply.status, 400, `status of ${what}`);
  mustEqual(jsonOf(reply).error, 'invalid_request', `error of ${what}`);
}

export const authenticationRules: readonly Rule<RuleContext>[] = section('Authentication', [
  {
    id: 'authentication.header-or-form',
    sentence:
      'Token, introspect and revoke endpoints require client authentication. Most methods send client_id and client_secret base64-encoded in an HTTP Basic Authorization header; the token example also shows client_id and client_secret as form parameters.',
    async run(visit) {
      const { id, secret = '' } = await visit.everything();
      for (const endpoint of ENDPOINTS) {
        const byHeader = await visit.send(endpoint, ASKED[endpoint], basic(id, secret));
        mustEqual(byHeader.status, 200, `status of ${endpoint} by header`);
        const byForm = await visit.send(endpoint, { ...ASKED[endpoint], client_id: id, client_secret: secret });
        mustEqual(byForm.status, 200, `status of ${endpoint} by form`);
      }
      const wrong = await visit.send('token', ASKED.token, basic(id, 'a-wrong-secret'));
      mustEqual(wrong.status, 401, 'status with a wrong secret');
    },
  },
  {
    id: 'authentication.both-or-none',
    sentence:
      'Using both header and form parameters for authentication, or supplying no authentication, is an invalid_request (see Errors).',
    async run(visit) {
      const { id, secret = '' } = await visit.everything();
      for (const endpoint of ENDPOINTS) {
        const form = { ...ASKED[endpoint], client_id: id, client_secret: secret };
        mustBeInvalidRequest(await visit.send(endpoint, form, basic(id, secret)), `header and form at ${endpoint}`);
        mustBeInvalidRequest(await visit.send(endpoint, ASKED[endpoint]), `no authentication at ${endpoint}`);
      }
    },
  },
  {
    id: 'authentication.public',
    sentence:
      'Public clients (no client secret, such as single-page and mobile apps) call introspect with client_id as a query parameter and no Authorization header.',
    async run(visit) {
      const { id } = await visit.publicOne();
      mustEqual((await visit.send(`introspect?client_id=${id}`, { token: 'unknown' })).status, 200, 'status');
    },
  },
  {
    id: 'authentication.userinfo',
    sentence: 'The userinfo endpoint requires an access token in `Authorization: Bearer <ACCESS_TOKEN>`.',
    async run(visit) {
      const { access_token: token } = await visit.tokens();
      mustEqual((await visit.userinfo(token)).status, 200, 'status with an access token in the header');
      const query = await visit.wire.send(`${visit.issuer}/userinfo?access_token=${token}`);
      must(query.status >= 400, 'an access token in the query must be refused');
    },
  },
  {
    id: 'authentication.organizations',
    sentence:
      'Organization endpoints require `Authorization: SSWS <API_TOKEN>`. The token is created by an administrator in the console (menu API, then Token, then create token).',
    async run(visit) {
      const { access_token: token } = await visit.tokens();
      const headers = { authorization: `Bearer ${token}` };
      mustEqual((await visit.wire.send(`${visit.baseUrl}/api/v1/account/org`, { headers })).status, 401, 'status with another token');
    },
  },
  {
    id: 'authentication.user',
    sentence:
      'The authorize endpoint authenticates the end user through the sign-in UI, an existing session, an external IdP, or a sessionToken.',
    async run(visit) {
      const { login: username, password } = await visit.visitor();
      const browser = visit.stranger();
      let page = (await visit.authorize({}, browser)).reply;
      // If the page asks for the user name first, the password is on the next page.
      if (!page.text.includes('id="password"')) page = await browser.submit(visit.wire, page, 'sign-in-form', { username });
      const answer = await browser.submit(visit.wire, page, 'sign-in-form', { username, password });
      must(answer.location?.searchParams.has('code') === true, 'the correct password on the sign-in page must lead to a code');
    },
  },
  {
    id: 'authentication.request',
    sentence: 'For an authorize request using a signed request JWT, HMAC or RSA signatures are accepted.',
    async run(visit) {
      for (const alg of ['HS384', 'HS512'] as const) {
        const request = await requestBySecret(visit, {}, alg);
        must((await visit.authorize({ request })).fields.code !== undefined, `${alg} must be accepted`);
      }
      const { id } = await visit.signing();
      for (const alg of ['RS384', 'RS512'] as const) {
        const request = await requestByKey(visit, {}, alg);
        must((await visit.authorize({ client_id: id, request })).fields.code !== undefined, `${alg} must be accepted`);
      }
    },
  },
]);
