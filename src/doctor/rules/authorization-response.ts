/** "Authorization response": the fields that come back from the authorize endpoint. */
import { CALLBACK } from '../fixtures.ts';
import { must, mustEqual, mustMatch, type Rule, section } from '../rule.ts';
import type { RuleContext } from '../rule-context.ts';

/** The response has the field for response types that contain a word, and for no others. */
const comesWith = (field: string, word: string) => async (visit: RuleContext) => {
  const { fields } = await visit.hybrid();
  must(fields[field] !== undefined, `${field} must be present with response_type code id_token token`);
  const type = ['code', 'id_token'].find((one) => one !== word) ?? '';
  const without = await visit.authorize({ response_type: type });
  must(without.fields[field] === undefined, `${field} must be absent with response_type ${type}`);
};

export const authorizationResponse: readonly Rule<RuleContext>[] = section('Authorization response (from the authorize endpoint)', [
  {
    id: 'authorization-response.access_token',
    sentence: 'access_token | string | Present when response_type contains `token`',
    run: comesWith('access_token', 'token'),
  },
  {
    id: 'authorization-response.token_type',
    sentence: 'token_type | string | Usually `Bearer`; present only with access_token',
    async run(visit) {
      await comesWith('token_type', 'token')(visit);
      mustEqual((await visit.hybrid()).fields.token_type, 'Bearer', 'token_type');
    },
  },
  {
    id: 'authorization-response.expires_in',
    sentence: 'expires_in | string | Seconds; present only with access_token',
    async run(visit) {
      await comesWith('expires_in', 'token')(visit);
      mustMatch((await visit.hybrid()).fields.expires_in, /^[1-9]\d*$/, 'expires_in');
    },
  },
  {
    id: 'authorization-response.scope',
    sentence: 'scope | string | Scope of the access token; present only with access_token',
    async run(visit) {
      await comesWith('scope', 'token')(visit);
      mustEqual((await visit.hybrid()).fields.scope, 'openid email', 'scope');
    },
  },
  {
    id: 'authorization-response.id_token',
    sentence: 'id_token | string | Present when response_type contains `id_token`',
    run: comesWith('id_token', 'id_token'),
  },
  {
    id: 'authorization-response.code',
    sentence: 'code | string | Random authorization code; present when response_type contains `code`; valid 300 seconds',
    async run(visit) {
      await comesWith('code', 'code')(visit);
      const another = await visit.authorize();
      must(another.fields.code !== (await visit.hybrid()).fields.code, 'two codes must differ');
    },
  },
  {
    id: 'authorization-response.state',
    sentence: "state | string | Value of the request's state, unchanged",
    async run(visit) {
      const state = 'AZ,az.09_-';
      mustEqual((await visit.authorize({ state })).fields.state, state, 'state');
    },
  },
  {
    id: 'authorization-response.error',
    sentence: 'error | string | Error code, present on failure',
    async run(visit) {
      must((await visit.authorize({ scope: 'openid nonsense' })).fields.error !== undefined, 'error must be present on failure');
      must((await visit.authorize()).fields.error === undefined, 'error must be absent on success');
    },
  },
  {
    id: 'authorization-response.error_description',
    sentence: 'error_description | string | Error description, present on failure',
    async run(visit) {
      const { fields } = await visit.authorize({ prompt: 'nonsense' });
      must((fields.error_description ?? '') !== '', 'error_description must be present on failure');
    },
  },
]);

// "GET {oauth_base}/authorize", the response_mode rules: where the response parameters are.

const standsIn = (mode: 'fragment' | 'query') => async (visit: RuleContext) => {
  const { place, fields, reply } = await visit.authorize({ response_mode: mode });
  mustEqual(place, mode, 'the place of the answer');
  must(fields.code !== undefined, 'the response must have a code');
  must(
    (mode === 'query' ? reply.location?.hash : reply.location?.search) === '',
    'the parameters must be in either the query or the fragment',
  );
};

export const responseModes: readonly Omit<Rule<RuleContext>, 'section'>[] = [
  {
    id: 'response-mode.fragment',
    sentence: '`fragment`: parameters are encoded in the URL fragment of redirect_uri.',
    run: standsIn('fragment'),
  },
  { id: 'response-mode.query', sentence: '`query`: parameters are encoded in the query string of redirect_uri.', run: standsIn('query') },
  {
    id: 'response-mode.form_post',
    sentence:
      '`form_post`: parameters are sent as form values (`application/x-www-form-urlencoded`) by an HTTP POST that an auto-submitting HTML form performs to redirect_uri.',
    async run(visit) {
      const { place, fields, reply } = await visit.authorize({ response_mode: 'form_post' });
      mustEqual(place, 'form_post', 'the place of the answer');
      mustMatch(reply.text, new RegExp(`<form[^>]* method="post" action="${CALLBACK}"`), 'the page');
      must(/<script/.test(reply.text), 'the form must submit itself');
      must(fields.code !== undefined, 'the form must contain the code');
    },
  },
];
