/** "GET {oauth_base}/userinfo". */

import { PROFILE } from '../fixtures.ts';
import { jsonOf } from '../http-client.ts';
import { claimsOf, type Json } from '../responses.ts';
import { must, mustEqual, mustMatch, type Rule, section } from '../rule.ts';
import type { RuleContext } from '../rule-context.ts';

export const userinfo: readonly Rule<RuleContext>[] = section('GET {oauth_base}/userinfo', [
  {
    id: 'userinfo.header',
    sentence: 'Header `Authorization: Bearer <ACCESS_TOKEN>` required.',
    async run(visit) {
      mustEqual((await visit.wire.send(`${visit.issuer}/userinfo`)).status, 401, 'status without a header');
    },
  },
  {
    id: 'userinfo.success',
    sentence: 'Success: 200 JSON of user claims.',
    async run(visit) {
      const reply = await visit.userinfo((await visit.tokens()).access_token);
      mustEqual(reply.status, 200, 'status');
      mustMatch(reply.headers.get('content-type'), /^application\/json\b/, 'content-type');
      mustEqual(jsonOf(reply).sub, (await visit.user()).id, 'sub');
    },
  },
  {
    id: 'userinfo.failures',
    sentence: 'Failures: see Errors.',
    async run(visit) {
      const reply = await visit.userinfo((await visit.tokens()).refresh_token);
      mustEqual(jsonOf(reply).error, 'invalid_token', 'error of a refresh token');
    },
  },
]);

// "Userinfo claims": claims of the userinfo endpoint.

const claims = (visit: RuleContext): Promise<Json> =>
  visit.once(`userinfo from ${visit.serverId}`, async () => jsonOf(await visit.userinfo((await visit.tokens()).access_token)));

const hasClaim = (claim: string, expected: unknown) => async (visit: RuleContext) =>
  mustEqual((await claims(visit))[claim], expected, claim);

export const userinfoClaimRules: readonly Rule<RuleContext>[] = section('Userinfo claims (JSON object)', [
  {
    id: 'userinfo-claims.sub',
    sentence: 'sub | string',
    async run(visit) {
      mustEqual((await claims(visit)).sub, (await visit.user()).id, 'sub');
    },
  },
  { id: 'userinfo-claims.name', sentence: 'name | string', run: hasClaim('name', PROFILE.displayName) },
  { id: 'userinfo-claims.nickname', sentence: 'nickname | string', run: hasClaim('nickname', PROFILE.nickName) },
  { id: 'userinfo-claims.given_name', sentence: 'given_name | string', run: hasClaim('given_name', PROFILE.firstName) },
  { id: 'userinfo-claims.middle_name', sentence: 'middle_name | string', run: hasClaim('middle_name', PROFILE.middleName) },
  { id: 'userinfo-claims.family_name', sentence: 'family_name | string', run: hasClaim('family_name', PROFILE.lastName) },
  { id: 'userinfo-claims.profile', sentence: 'profile | string (URL)', run: hasClaim('profile', PROFILE.profileUrl) },
  { id: 'userinfo-claims.zoneinfo', sentence: 'zoneinfo | string', run: hasClaim('zoneinfo', PROFILE.zoneinfo) },
  {
    id: 'userinfo-claims.updated_at',
    sentence: 'updated_at | integer (Unix seconds)',
    async run(visit) {
      const { updated_at: value } = await claims(visit);
      must(Number.isInteger(value) && Math.abs(Number(value) - Date.now() / 1000) < 86_400, 'updated_at must be Unix time in seconds');
    },
  },
  {
    id: 'userinfo-claims.email',
    sentence: 'email | string',
    async run(visit) {
      mustEqual((await claims(visit)).email, `${visit.fixtures.name}@doctor.invalid`, 'email');
    },
  },
  { id: 'userinfo-claims.email_verified', sentence: 'email_verified | boolean', run: hasClaim('email_verified', false) },
  { id: 'userinfo-claims.phone_number', sentence: 'phone_number | string', run: hasClaim('phone_number', PROFILE.mobilePhone) },
  {
    id: 'userinfo-claims.always-all',
    sentence: "The endpoint always returns all of the user's claims.",
    async run(visit) {
      const narrow = jsonOf(await visit.userinfo((await visit.tokens('openid email')).access_token));
      mustEqual(
        Object.keys(narrow).sort().join(' '),
        Object.keys(await claims(visit))
          .sort()
          .join(' '),
        'the claims for scope email',
      );
    },
  },
  {
    id: 'userinfo-claims.subset',
    sentence: 'An ID token may be configured to hold only a subset.',
    async run(visit) {
      const chosen = await visit.once('an application with a subset of claims', () =>
        visit.fixtures.makeApplication('subset', { id_token_claims: ['email'] }),
      );
      const idTokenClaims = claimsOf((await visit.freshTokens('openid profile email', chosen)).id_token);
      must(
        idTokenClaims.email !== undefined && idTokenClaims.given_name === undefined,
        'the ID token must contain email and no other claim of the user',
      );
    },
  },
]);
