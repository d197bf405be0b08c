/** "Introspection result": fields of the introspection response. */
import { claimsOf } from '../answers.ts';
import { must, mustEqual, type Rule, section } from '../rule.ts';
import { type RuleContext, SCOPE } from '../rule-context.ts';

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
      mustEqual(aud, visit.isBuiltIn ? visit.issuer : visit.ward.audience, 'aud');
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
