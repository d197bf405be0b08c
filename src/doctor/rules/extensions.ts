/**
 * OAuth extensions that every server supports: assertions and ID-JAGs (RFC 7523), signed and encrypted responses (JARM, RFC 9701, userinfo, ID tokens),
 * step-up (RFC 9470), pairwise subjects, and the addresses of metadata.
 */
import { randomUUID } from 'node:crypto';
import {
  type CryptoKey,
  compactDecrypt,
  createLocalJWKSet,
  exportJWK,
  generateKeyPair,
  type JSONWebKeySet,
  type JWTVerifyOptions,
  type JWTVerifyResult,
  jwtVerify,
  SignJWT,
} from 'jose';
import { ASSERTION_GRANT, EXCHANGE_GRANT, OTHER_ISSUER } from '../fixtures.ts';
import { jsonOf, type Reply } from '../http-client.ts';
import { claimsOf, mustBeError } from '../responses.ts';
import { Broken, must, mustEqual, type Rule } from '../rule.ts';
import { basic, CODE_AND_REFRESH, type RuleContext, SCOPE } from '../rule-context.ts';

const SIGNED_INTROSPECTION = 'application/token-introspection+jwt';

/** Redirect URI with a different host, and so another sector. */
const FOREIGN_CALLBACK = 'https://pairwise.doctor.invalid/callback';

const present = (visit: RuleContext, assertion?: string) => visit.post('token', { grant_type: ASSERTION_GRANT, assertion });

/** @returns the JWT, signed by a key that the server publishes @throws {Broken} */
async function verified(visit: RuleContext, jwt: unknown, expected: JWTVerifyOptions, what: string): Promise<JWTVerifyResult> {
  const keys = createLocalJWKSet(jsonOf(await visit.wire.send(`${visit.issuer}/keys`)) as unknown as JSONWebKeySet);
  return jwtVerify(String(jwt), keys, { issuer: visit.issuer, clockTolerance: 5, ...expected }).catch((error: Error) => {
    throw new Broken(`${what} must be valid: ${error.message}`);
  });
}

/** @returns the JWT that was encrypted to the key @throws {Broken} */
const decrypted = async (jwe: unknown, key: CryptoKey, what: string): Promise<string> => {
  const { plaintext } = await compactDecrypt(String(jwe), key).catch((error: Error) => {
    throw new Broken(`${what} must be encrypted to the key of the application: ${error.message}`);
  });
  return new TextDecoder().decode(plaintext);
};

const JWT = 'application/jwt';
const contentType = ({ headers }: Reply): string | undefined => headers.get('content-type')?.split(';')[0];

export const extensions: readonly Rule<RuleContext>[] = [
  {
    id: 'standards.assertion',
    section: 'RFC 7523 sections 2.1 and 3.1',
    sentence: 'An assertion of an untrusted issuer is refused with invalid_grant.',
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
    sentence: 'An ID-JAG is issued only for a server that the application may use; the issuing server itself does not accept it.',
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
      const { payload, protectedHeader } = await verified(visit, idJag, {}, 'the ID-JAG');
      mustEqual(protectedHeader.typ, 'oauth-id-jag+jwt', 'typ');
      mustEqual(payload.aud, OTHER_ISSUER, 'aud');
      mustEqual(payload.client_id, application.id, 'client_id');
      mustBeError(await present(visit, idJag), 'invalid_grant', 'an ID-JAG at the server that issued it');
    },
  },
  {
    id: 'standards.jarm',
    section: 'JARM sections 2.1, 2.3 and 4.3',
    sentence: 'With a JARM response_mode, the authorization response is a JWT that the server signed for the application.',
    async run(visit) {
      const { id } = await visit.everything();
      const { place, fields } = await visit.authorize({ response_mode: 'jwt' });
      mustEqual(place, 'query', 'the place of the answer');
      mustEqual(Object.keys(fields).join(' '), 'response', 'the parameters of the answer');
      await verified(visit, fields.response, { audience: id }, 'the response');
      must(typeof claimsOf(fields.response).code === 'string', 'the response must have a code');
    },
  },
  {
    id: 'standards.signed-introspection',
    section: 'RFC 9701 sections 4 and 5',
    sentence: 'On request, an API gets the introspection response as a JWT that the server signed for this API.',
    async run(visit) {
      const { id, secret = '' } = await visit.everything();
      const { access_token: token } = await visit.tokens();
      const headers = { ...basic(id, secret), accept: SIGNED_INTROSPECTION };
      const reply = await visit.send('introspect', { token: String(token) }, headers);
      mustEqual(contentType(reply), SIGNED_INTROSPECTION, 'Content-Type');
      await verified(visit, reply.text, { audience: id, typ: 'token-introspection+jwt' }, 'the signed result');
      const { token_introspection: introspection } = claimsOf(reply.text);
      mustEqual((introspection as { active?: unknown } | undefined)?.active, true, 'active');
    },
  },
  {
    id: 'standards.signed-userinfo',
    section: 'OpenID Connect Core section 5.3.2',
    sentence: 'An application that asks for signed userinfo gets a JWT signed by the server.',
    async run(visit) {
      const application = await visit.once('an application with signed userinfo', () =>
        visit.fixtures.makeApplication('signed-userinfo', { userinfo_signed_response_alg: 'RS256' }),
      );
      const reply = await visit.userinfo((await visit.freshTokens('openid email', application)).access_token);
      mustEqual(contentType(reply), JWT, 'Content-Type');
      const { payload } = await verified(visit, reply.text, { audience: application.id }, 'the signed userinfo');
      mustEqual(payload.sub, (await visit.user()).id, 'sub');
    },
  },
  {
    id: 'standards.encrypted',
    section: 'OpenID Connect Core sections 5.3.2 and 10.2',
    sentence: 'An application that asks for encrypted ID tokens and userinfo gets signed JWTs that are encrypted to its key.',
    async run(visit) {
      const { application, key } = await visit.once('an application with encrypted responses', async () => {
        const { publicKey, privateKey } = await generateKeyPair('ECDH-ES', { extractable: true });
        const jwks = { keys: [{ ...(await exportJWK(publicKey)), use: 'enc' }] };
        const encrypted = { id_token_encrypted_response_alg: 'ECDH-ES', userinfo_encrypted_response_alg: 'ECDH-ES' };
        const settings = { ...encrypted, userinfo_signed_response_alg: 'RS256', jwks };
        return { application: await visit.fixtures.makeApplication('encrypted', settings), key: privateKey };
      });
      const { id_token: idToken, access_token: token } = await visit.freshTokens('openid email', application);
      const reply = await visit.userinfo(token);
      mustEqual(contentType(reply), JWT, 'Content-Type of userinfo');
      for (const [what, jwe] of [
        ['the ID token', idToken],
        ['userinfo', reply.text],
      ] as const) {
        const { payload } = await verified(visit, await decrypted(jwe, key, what), { audience: application.id }, what);
        mustEqual(payload.sub, (await visit.user()).id, `sub of ${what}`);
      }
    },
  },
  {
    id: 'standards.step-up',
    section: 'RFC 9470 sections 5 and 6.2',
    sentence:
      'Introspection shows how and when the user signed in; an acr value that cannot be met is refused with unmet_authentication_requirements.',
    async run(visit) {
      const { access_token: token } = jsonOf(await visit.exchange(await visit.code({ scope: 'openid' })));
      const { acr, auth_time: signedInAt } = await visit.introspect(token);
      mustEqual([typeof acr, typeof signedInAt].join(' '), 'string number', 'types of acr and auth_time');
      const claims = JSON.stringify({ id_token: { acr: { essential: true, value: 'urn:doctor.invalid:unreachable' } } });
      mustEqual((await visit.authorize({ claims })).fields.error, 'unmet_authentication_requirements', 'error of an unknown class');
    },
  },
  {
    id: 'standards.pairwise',
    section: 'OpenID Connect Core sections 8 and 8.1',
    sentence: 'An application with pairwise subjects knows its user by a subject of its own, the same in every response.',
    async run(visit) {
      const application = await visit.once('an application with pairwise subjects', () =>
        visit.fixtures.makeApplication('pairwise', { grant_types: CODE_AND_REFRESH, subject_type: 'pairwise' }),
      );
      const { id } = await visit.user();
      const { access_token: token, id_token: idToken, refresh_token: refresh } = await visit.freshTokens(SCOPE, application);
      const { sub } = claimsOf(idToken);
      must(typeof sub === 'string' && sub !== '' && sub !== id, 'sub of the ID token must not be the ID of the user');
      mustEqual(jsonOf(await visit.userinfo(token)).sub, sub, 'sub of userinfo');
      const introspection = await visit.introspect(token, application);
      mustEqual(introspection.sub, sub, 'sub of introspection');
      must(!JSON.stringify(introspection).includes(id), 'introspection must not name the ID of the user');
      const refreshed = await visit.post('token', { grant_type: 'refresh_token', refresh_token: String(refresh) }, application);
      mustEqual(claimsOf(jsonOf(refreshed).id_token).sub, sub, 'sub of the refreshed ID token');
      const hint = await visit.authorize({ client_id: application.id, prompt: 'none', id_token_hint: String(idToken) });
      must(hint.fields.code !== undefined, 'a hint with this subject must name the user of the session');
      const other = await visit.once('an application of another sector with pairwise subjects', () =>
        visit.fixtures.makeApplication('pairwise-other', { redirect_uris: [FOREIGN_CALLBACK], subject_type: 'pairwise' }),
      );
      const code = await visit.code({ client_id: other.id, redirect_uri: FOREIGN_CALLBACK });
      const form = { grant_type: 'authorization_code', code: code.code, redirect_uri: FOREIGN_CALLBACK, code_verifier: code.verifier };
      const elsewhere = claimsOf(jsonOf(await visit.post('token', form, other)).id_token).sub;
      must(typeof elsewhere === 'string' && ![id, sub].includes(elsewhere), 'an application of another host must get another sub');
    },
  },
  {
    id: 'standards.metadata',
    section: 'RFC 8414 section 3.1',
    sentence: 'Metadata is available where MCP clients look for it: at the well-known path followed by the path of the issuer.',
    async run(visit) {
      for (const name of ['oauth-authorization-server', 'openid-configuration']) {
        const reply = await visit.wire.send(`${visit.baseUrl}/.well-known/${name}${new URL(visit.issuer).pathname}`);
        mustEqual(jsonOf(reply).issuer, visit.issuer, `issuer in ${name}`);
      }
    },
  },
];
