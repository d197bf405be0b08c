/** "GET {oauth_base}/authorize", the request (JWT) rules. */
import { randomUUID } from 'node:crypto';
import { UnsecuredJWT } from 'jose';
import { jsonOf } from '../http-client.ts';
import { claimsOf } from '../responses.ts';
import { must, mustEqual, type Rule } from '../rule.ts';
import { type RuleContext, requestByKey, requestBySecret, requestClaims } from '../rule-context.ts';

type Claims = Readonly<Record<string, unknown>>;

async function mustRefuse(visit: RuleContext, claims: Claims, what: string): Promise<void> {
  const { fields } = await visit.authorize({ request: await requestBySecret(visit, claims) });
  must(fields.code === undefined && fields.error !== undefined, `a JWT ${what} must be refused`);
}

const now = (): number => Math.floor(Date.now() / 1000);

export const requestObjectRules: readonly Omit<Rule<RuleContext>, 'section'>[] = [
  {
    id: 'request.signature',
    sentence:
      "Signed with HMAC or RSA algorithms; not encrypted. HMAC signing uses the application's client secret and requires the application's token_endpoint_auth_method to be set appropriately.",
    async run(visit) {
      must((await visit.authorize({ request: await requestBySecret(visit) })).fields.code !== undefined, 'HS256 must be accepted');
      const { id } = await visit.signing();
      const signed = await visit.authorize({ client_id: id, request: await requestByKey(visit) });
      must(signed.fields.code !== undefined, 'RS256 must be accepted');
      const unsigned = new UnsecuredJWT(await requestClaims(visit)).encode();
      must((await visit.authorize({ request: unsigned })).fields.code === undefined, 'a JWT without a signature must be refused');
    },
  },
  {
    id: 'request.iss',
    sentence: '`iss` required and equal to client_id.',
    async run(visit) {
      await mustRefuse(visit, { iss: undefined }, 'without iss');
      await mustRefuse(visit, { iss: (await visit.other()).id }, 'of another iss');
    },
  },
  {
    id: 'request.aud',
    sentence: '`aud` required and equal to the issuer of the authorization server that issues the tokens (published in its metadata).',
    async run(visit) {
      mustEqual(jsonOf(await visit.wire.send(`${visit.issuer}/.well-known/openid-configuration`)).issuer, visit.issuer, 'issuer');
      await mustRefuse(visit, { aud: undefined }, 'without aud');
      await mustRefuse(visit, { aud: visit.elsewhere.issuer }, 'for another server');
    },
  },
  {
    id: 'request.times',
    sentence: '`iat` and `exp` required. Expired or invalid JWT gives error `invalid_request_object`.',
    async run(visit) {
      await mustRefuse(visit, { iat: undefined }, 'without iat');
      await mustRefuse(visit, { exp: undefined }, 'without exp');
      await mustRefuse(visit, { iat: now() - 120, exp: now() - 60 }, 'that has expired');
    },
  },
  {
    id: 'request.jti',
    sentence: 'A JWT whose `jti` is present and was already processed is rejected.',
    async run(visit) {
      const request = await requestBySecret(visit, { jti: randomUUID() });
      must((await visit.authorize({ request })).fields.code !== undefined, 'a new jti must be accepted');
      must((await visit.authorize({ request })).fields.code === undefined, 'a jti that was already used must be refused');
    },
  },
  {
    id: 'request.overrides',
    sentence:
      'Parameters duplicated in both JWT and query URI are discouraged; for state, nonce, code_challenge and code_challenge_method the JWT value overrides the query value.',
    async run(visit) {
      const request = await requestBySecret(visit, { state: 'of-the-jwt', nonce: 'of-the-jwt' });
      const { fields } = await visit.authorize({ request, response_type: 'id_token' });
      mustEqual(fields.state, 'of-the-jwt', 'state');
      mustEqual(claimsOf(fields.id_token).nonce, 'of-the-jwt', 'nonce');
    },
  },
];
