/** Extensions of OAuth that are on at every server: assertions and ID-JAGs (RFC 7523), authorization responses as JWTs (JARM). */
import { randomUUID } from 'node:crypto';
import { createLocalJWKSet, generateKeyPair, type JSONWebKeySet, jwtVerify, SignJWT } from 'jose';
import { claimsOf, mustBeError } from '../answers.ts';
import { ASSERTION_GRANT, EXCHANGE_GRANT, OTHER_ISSUER } from '../fixtures.ts';
import { jsonOf } from '../http-client.ts';
import { Broken, must, mustEqual, type Rule } from '../rule.ts';
import type { RuleContext } from '../rule-context.ts';

const present = (visit: RuleContext, assertion?: string) => visit.post('token', { grant_type: ASSERTION_GRANT, assertion });

const keysOf = async (visit: RuleContext) =>
  createLocalJWKSet(jsonOf(await visit.wire.send(`${visit.issuer}/keys`)) as unknown as JSONWebKeySet);

export const extensions: readonly Rule<RuleContext>[] = [
  {
    id: 'standards.assertion',
    section: 'RFC 7523 sections 2.1 and 3.1',
    sentence: 'An assertion of an issuer that is not trusted gets no token: invalid_grant.',
    async run(visit) {
      mustBeError(await present(visit), 'invalid_request', 'no assertion');
      mustBeError(await present(visit, 'no assertion'), 'invalid_grant', 'an assertion that is no JWT');
      const { privateKey } = await generateKeyPair('ES256');
      const claims = new SignJWT({ iss: OTHER_ISSUER, sub: 'doctor', aud: visit.issuer, jti: randomUUID() });
      const assertion = await claims.setProtectedHeader({ alg: 'ES256' }).setIssuedAt().setExpirationTime('1 min').sign(privateKey);
      mustBeError(await present(visit, assertion), 'invalid_grant', 'an assertion of an unknown issuer');
    },
  },
  {
    id: 'standards.id-jag',
    section: 'draft-ietf-oauth-identity-assertion-authz-grant sections 3.1, 4.3 and 8.3',
    sentence:
      'An ID-JAG is issued for a server that the application may use, and for no other; the server that issued it does not accept it.',
    async run(visit) {
      const application = await visit.everything();
      const { id_token: idToken } = jsonOf(await visit.exchange(await visit.code({ scope: 'openid' })));
      const form = {
        grant_type: EXCHANGE_GRANT,
        requested_token_type: 'urn:ietf:params:oauth:token-type:id-jag',
        subject_token: String(idToken),
        subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
      };
      mustBeError(await visit.post('token', { ...form, audience: 'https://other.doctor.invalid' }), 'invalid_target', 'another server');
      const issued = await visit.post('token', { ...form, audience: OTHER_ISSUER });
      mustEqual(issued.status, 200, 'status of an ID-JAG');
      const idJag = String(jsonOf(issued).access_token);
      const { payload, protectedHeader } = await jwtVerify(idJag, await keysOf(visit), { issuer: visit.issuer }).catch((error: Error) => {
        throw new Broken(`the ID-JAG must be right: ${error.message}`);
      });
      mustEqual(protectedHeader.typ, 'oauth-id-jag+jwt', 'typ');
      mustEqual(payload.aud, OTHER_ISSUER, 'aud');
      mustEqual(payload.client_id, application.id, 'client_id');
      mustBeError(await present(visit, idJag), 'invalid_grant', 'an ID-JAG at the server that issued it');
    },
  },
  {
    id: 'standards.jarm',
    section: 'JARM sections 2.1, 2.3 and 4.3',
    sentence: 'With a response_mode of JARM the authorization response is one JWT, signed by the server, for the application.',
    async run(visit) {
      const { id } = await visit.everything();
      const { place, fields } = await visit.authorize({ response_mode: 'jwt' });
      mustEqual(place, 'query', 'the place of the answer');
      mustEqual(Object.keys(fields).join(' '), 'response', 'the parameters of the answer');
      const expected = { issuer: visit.issuer, audience: id, clockTolerance: 5 };
      await jwtVerify(String(fields.response), await keysOf(visit), expected).catch((error: Error) => {
        throw new Broken(`the response must be right: ${error.message}`);
      });
      must(typeof claimsOf(fields.response).code === 'string', 'the response must have a code');
    },
  },
];
