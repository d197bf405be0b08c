/** "POST {oauth_base}/introspect". */

import { jsonOf } from '../http-client.ts';
import { claimsOf } from '../responses.ts';
import { must, mustEqual, mustMatch, type Rule, section } from '../rule.ts';
import { type RuleContext, SCOPE } from '../rule-context.ts';

const KINDS = ['access_token', 'id_token', 'refresh_token'] as const;

export const introspect: readonly Rule<RuleContext>[] = section('POST {oauth_base}/introspect', [
  {
    id: 'introspect.token',
    sentence: 'token | string | Access token, ID token or refresh token',
    async run(visit) {
      const tokens = await visit.tokens();
      for (const kind of KINDS) mustEqual((await visit.introspect(tokens[kind])).active, true, `active of ${kind}`);
      mustEqual((await visit.post('introspect', {})).status, 400, 'status without a token');
    },
  },
  {
    id: 'introspect.token_type_hint',
    sentence: 'token_type_hint | string | `access_token`, `id_token`, `refresh_token`',
    async run(visit) {
      const tokens = await visit.tokens();
      for (const kind of KINDS) {
        const token = String(tokens[kind]);
        const { text } = await visit.post('introspect', { token });
        for (const hint of [...KINDS, 'nonsense', '']) {
          const introspection = await visit.post('introspect', { token, token_type_hint: hint });
          mustEqual(jsonOf(introspection).active, true, `active of ${kind} with token_type_hint ${hint}`);
          must(introspection.text === text, `token_type_hint ${hint} must not change the response for ${kind}`);
        }
      }
    },
  },
  {
    id: 'introspect.authentication',
    sentence: 'Client authentication required.',
    async run(visit) {
      const { access_token: token } = await visit.tokens();
      const reply = await visit.send('introspect', { token: String(token) });
      must(
        reply.status === 400 || reply.status === 401,
        `a caller without authentication must be refused, not answered with ${reply.status}`,
      );
    },
  },
  {
    id: 'introspect.public',
    sentence: 'Public clients without a client secret send `client_id` as a query parameter and no Authorization header.',
    async run(visit) {
      const { id } = await visit.publicOne();
      const { access_token: token } = await visit.freshTokens('openid', await visit.publicOne());
      const reply = await visit.send(`introspect?client_id=${id}`, { token: String(token) });
      mustEqual(jsonOf(reply).active, true, 'active of its own token');
    },
  },
  {
    id: 'introspect.json',
    sentence: 'Response: JSON introspection result.',
    async run(visit) {
      const reply = await visit.post('introspect', { token: String((await visit.tokens()).access_token) });
      mustMatch(reply.headers.get('content-type'), /^application\/json\b/, 'content-type');
      must(typeof jsonOf(reply).active === 'boolean', 'active must be true or false');
    },
  },
  {
    id: 'introspect.id-token',
    sentence: 'ID tokens are accepted but normally validated by the application itself.',
    async run(visit) {
      const introspection = await visit.introspect((await visit.tokens()).id_token);
      mustEqual(introspection.sub, (await visit.user()).id, 'sub of an ID token');
    },
  },
  {
    id: 'introspect.rfc-7662',
    sentence: 'Follows RFC 7662.',
    async run(visit) {
      const reply = await visit.wire.send(`${visit.issuer}/introspect`);
      must(reply.status === 404 || reply.status === 405, `GET must be refused (section 2.1), not answered with ${reply.status}`);
    },
  },
]);

// "Introspection result": fields of the introspection response.

/** A field of an access token's result that is a time, in seconds, near now. */
const isTime = (field: string, least: number, most: number) => async (visit: RuleContext) => {
  const value = (await visit.introspected('access_token'))[field];
  const now = Date.now() / 1000;
  const isSo = Number.isInteger(value) && Number(value) >= now + least && Number(value) <= now + most;
  must(isSo, `${field} must be Unix time in seconds near ${Math.floor(now)}, is ${JSON.stringify(value)}`);
};

const DAY = 86_400;
const EARLIER = -600;

export const introspectionResult: readonly Rule<RuleContext>[] = section('Introspection result', [
  {
    id: 'introspection-result.active',
    sentence: 'active | boolean | Whether the token is usable. Invalid, expired or revoked tokens give false',
    async run(visit) {
      mustEqual((await visit.introspected('access_token')).active, true, 'active');
      const { access_token: token } = await visit.freshTokens();
      await visit.post('revoke', { token: String(token) });
      mustEqual((await visit.introspect(token)).active, false, 'active of a revoked token');
    },
  },
  {
    id: 'introspection-result.token_type',
    sentence: 'token_type | string | Usually `Bearer`',
    async run(visit) {
      mustEqual((await visit.introspected('access_token')).token_type, 'Bearer', 'token_type');
    },
  },
  {
    id: 'introspection-result.scope',
    sentence: 'scope | string | Space-separated scopes',
    async run(visit) {
      const { scope } = await visit.introspected('access_token');
      mustEqual(String(scope).split(' ').sort().join(' '), SCOPE.split(' ').sort().join(' '), 'scope');
    },
  },
  {
    id: 'introspection-result.client_id',
    sentence: 'client_id | string | Client application the token belongs to',
    async run(visit) {
      mustEqual((await visit.introspected('access_token')).client_id, (await visit.everything()).id, 'client_id');
    },
  },
  {
    id: 'introspection-result.username',
    sentence: 'username | string | User name associated with the token',
    async run(visit) {
      mustEqual((await visit.introspected('access_token')).username, (await visit.user()).login, 'username');
    },
  },
  { id: 'introspection-result.exp', sentence: 'exp | integer | Expiry, Unix time in seconds', run: isTime('exp', 0, DAY) },
  { id: 'introspection-result.iat', sentence: 'iat | integer | Issue time, Unix time in seconds', run: isTime('iat', EARLIER, 5) },
  {
    id: 'introspection-result.nbf',
    sentence: 'nbf | integer | Time (seconds since 1970-01-01 UTC) before which the token must not be accepted',
    run: isTime('nbf', EARLIER, 5),
  },
  {
    id: 'introspection-result.sub',
    sentence: 'sub | string | Subject',
    async run(visit) {
      mustEqual((await visit.introspected('access_token')).sub, (await visit.user()).id, 'sub');
    },
  },
  {
    id: 'introspection-result.aud',
    sentence: 'aud | string | Audience',
    async run(visit) {
      const { aud } = await visit.introspected('access_token');
      mustEqual(aud, visit.isBuiltIn ? visit.issuer : visit.fixtures.audience, 'aud');
    },
  },
  {
    id: 'introspection-result.iss',
    sentence: 'iss | string | Issuer of the authorization server that issued the token',
    async run(visit) {
      mustEqual((await visit.introspected('access_token')).iss, visit.issuer, 'iss');
    },
  },
  {
    id: 'introspection-result.jti',
    sentence: 'jti | string | Token identifier',
    async run(visit) {
      const { jti } = await visit.introspected('access_token');
      must(typeof jti === 'string' && jti !== '', 'jti must be present');
      must(jti !== (await visit.tokens()).access_token, 'jti must not be the token itself');
      must(jti !== (await visit.introspected('refresh_token')).jti, 'each token must have its own jti');
    },
  },
  {
    id: 'introspection-result.uid',
    sentence: 'uid | string | User id; only for an access token whose subject is a user',
    async run(visit) {
      mustEqual((await visit.introspected('access_token')).uid, (await visit.user()).id, 'uid');
      mustEqual((await visit.introspected('refresh_token')).uid, undefined, 'uid of a refresh token');
    },
  },
  {
    id: 'introspection-result.device_id',
    sentence: 'device_id | string | Appears in the refresh-token result',
    async run(visit) {
      const { device_id: device } = await visit.introspected('refresh_token');
      must(typeof device === 'string' && device !== '', 'device_id must be present with a refresh token');
    },
  },
  {
    id: 'introspection-result.only-active',
    sentence: 'When active is false, only `active` is returned.',
    async run(visit) {
      mustEqual(Object.keys(await visit.introspect('unknown')).join(' '), 'active', 'the fields of an inactive token');
    },
  },
  {
    id: 'introspection-result.others',
    sentence: 'Other claims of the token may also appear.',
    async run(visit) {
      const { at_hash: expected } = claimsOf((await visit.tokens()).id_token);
      mustEqual((await visit.introspected('id_token')).at_hash, expected, 'at_hash of an ID token');
    },
  },
]);
