/** Rules that the specification implies by following OAuth 2.0 and OpenID Connect, and rules for basic security. */
import { createHash, randomUUID } from 'node:crypto';
import { createLocalJWKSet, exportJWK, generateKeyPair, type JSONWebKeySet, jwtVerify, SignJWT } from 'jose';
import { CALLBACK, CIBA_REQUEST_GRANT, DETAIL_TYPE, DEVICE_CODE_GRANT, EXCHANGE_GRANT } from '../fixtures.ts';
import { jsonOf } from '../http-client.ts';
import { Broken, must, mustEqual, type Rule } from '../rule.ts';
import { basic, challengeOf, type RuleContext } from '../rule-context.ts';

export const standards: readonly Rule<RuleContext>[] = [
  {
    id: 'standards.no-store',
    section: 'RFC 6749 section 5.1',
    sentence: 'The authorization server MUST include the HTTP "Cache-Control" response header field with a value of "no-store".',
    async run(visit) {
      const reply = await visit.exchange(await visit.code());
      must(/\bno-store\b/.test(reply.headers.get('cache-control') ?? ''), 'Cache-Control must be no-store');
    },
  },
  {
    id: 'standards.code-once',
    section: 'RFC 6749 section 4.1.2',
    sentence: 'The client MUST NOT use the authorization code more than once.',
    async run(visit) {
      const code = await visit.code();
      const { access_token: token } = jsonOf(await visit.exchange(code));
      mustEqual(jsonOf(await visit.exchange(code)).error, 'invalid_grant', 'error of the second use');
      mustEqual((await visit.introspect(token)).active, false, 'active of what the first use was given');
    },
  },
  {
    id: 'standards.rotation',
    section: 'RFC 9700 section 4.14.2',
    sentence: 'The authorization server invalidates the previous refresh token, and revokes the active one where it is used again.',
    async run(visit) {
      const application = await visit.once('an application whose refresh tokens rotate at once', () => {
        const grants = { grant_types: ['authorization_code', 'refresh_token'] };
        return visit.fixtures.makeApplication('rotating', { ...grants, refresh_token: { rotation_type: 'ROTATE', leeway: 0 } });
      });
      const { refresh_token: first } = await visit.freshTokens('openid offline_access', application);
      const refresh = (token: unknown) => visit.post('token', { grant_type: 'refresh_token', refresh_token: String(token) }, application);
      const { refresh_token: second } = jsonOf(await refresh(first));
      mustEqual((await refresh(first)).status, 400, 'status of the second use');
      mustEqual((await refresh(second)).status, 400, 'status of its successor');
    },
  },
  {
    id: 'standards.resource',
    section: 'RFC 8707 section 2',
    sentence: 'Access tokens are valid only for the requested resource; an unknown resource is refused with invalid_target.',
    async run(visit) {
      const unknown = await visit.authorize({ resource: 'https://unknown.doctor.invalid' });
      mustEqual(unknown.fields.error, 'invalid_target', 'error of an unknown resource');
      if (visit.isBuiltIn) return;
      const { otherAudience } = visit.fixtures;
      const { access_token: token } = jsonOf(await visit.exchange(await visit.code({ resource: otherAudience })));
      mustEqual((await visit.introspect(token)).aud, otherAudience, 'aud of what was requested');
    },
  },
  {
    id: 'standards.authorization-details',
    section: 'RFC 9396 sections 5 and 9.2',
    sentence: 'Authorization details with an unknown type or invalid content are refused; granted ones are in the token.',
    async run(visit) {
      const ask = async (details: object) =>
        visit.post('token', { grant_type: 'client_credentials', authorization_details: JSON.stringify([details]) });
      mustEqual(jsonOf(await ask({ type: 'unknown' })).error, 'invalid_authorization_details', 'error of an unknown type');
      if (visit.isBuiltIn) return;
      mustEqual(jsonOf(await ask({ type: DETAIL_TYPE })).error, 'invalid_authorization_details', 'error of a wrong form');
      const { access_token: token } = jsonOf(await ask({ type: DETAIL_TYPE, of: 'all' }));
      const { authorization_details: details } = await visit.introspect(token);
      mustEqual(JSON.stringify((details as { of?: unknown }[] | undefined)?.map(({ of }) => of)), '["all"]', 'authorization_details');
    },
  },
  {
    id: 'standards.client-documents',
    section: 'draft-ietf-oauth-client-id-metadata-document section 8.6',
    sentence: 'A client ID metadata document at a private address is refused.',
    async run(visit) {
      const { reply } = await visit.authorize({ client_id: 'https://169.254.169.254/client.json' }, visit.stranger());
      must(reply.status >= 400, 'a client ID at a private address must be refused');
      if (visit.isBuiltIn) return;
      const metadata = jsonOf(await visit.wire.send(`${visit.issuer}/.well-known/openid-configuration`));
      mustEqual(metadata.client_id_metadata_document_supported, true, 'client_id_metadata_document_supported');
    },
  },
  {
    id: 'standards.registration',
    section: 'RFC 7591 section 3',
    sentence: 'If registration requires an initial access token, a request without one is refused.',
    async run(visit) {
      await visit.ownServer();
      const body = JSON.stringify({ redirect_uris: [CALLBACK] });
      const headers = { 'content-type': 'application/json' };
      const { status } = await visit.wire.send(`${visit.baseUrl}/oauth/v1/${visit.fixtures.serverId}/register`, {
        method: 'POST',
        headers,
        body,
      });
      mustEqual(status, 401, 'status without an initial access token');
    },
  },
  {
    id: 'standards.issuer',
    section: 'RFC 9207 section 2',
    sentence: 'In authorization responses the authorization server MUST indicate its identity by including the iss parameter.',
    async run(visit) {
      for (const type of ['code', 'id_token', 'code id_token token']) {
        mustEqual(
          (await visit.authorize({ response_type: type, nonce: 'a-nonce' })).fields.iss,
          visit.issuer,
          `iss of response_type ${type}`,
        );
      }
    },
  },
  {
    id: 'standards.pushed',
    section: 'RFC 9126 sections 2 and 4',
    sentence: 'A pushed authorization request returns a request_uri that works once.',
    async run(visit) {
      const { id } = await visit.everything();
      const request = { client_id: id, response_type: 'code', redirect_uri: CALLBACK, scope: 'openid', state: 'pushed' };
      const pushed = await visit.post('par', request);
      mustEqual(pushed.status, 201, 'status of par');
      const { request_uri: uri } = jsonOf(pushed);
      const nothingElse = { redirect_uri: undefined, response_type: undefined, scope: undefined, state: undefined, nonce: undefined };
      const { fields } = await visit.authorize({ ...nothingElse, request_uri: String(uri) });
      must(fields.code !== undefined && fields.state === 'pushed', 'the request_uri must lead to a code and the pushed state');
      const again = await visit.authorize({ ...nothingElse, request_uri: String(uri) });
      must(again.fields.code === undefined, 'a second use must be refused');
    },
  },
  {
    id: 'standards.bound',
    section: 'RFC 9449 sections 5 and 7',
    sentence: 'A DPoP-bound token does not work without a proof of its key.',
    async run(visit) {
      const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
      const jwk = await exportJWK(publicKey);
      const proof = (endpoint: string, claims: object) =>
        new SignJWT({ htu: `${visit.issuer}/${endpoint}`, jti: randomUUID(), ...claims })
          .setIssuedAt()
          .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk })
          .sign(privateKey);
      const { id, secret = '' } = await visit.everything();
      const { code, verifier } = await visit.code();
      const form = { grant_type: 'authorization_code', code, redirect_uri: CALLBACK, code_verifier: verifier };
      const exchanged = await visit.send('token', form, { ...basic(id, secret), dpop: await proof('token', { htm: 'POST' }) });
      const { access_token: token, token_type: type } = jsonOf(exchanged);
      mustEqual(type, 'DPoP', 'token_type');
      mustEqual((await visit.userinfo(token)).status, 401, 'status of userinfo without a proof');
      const ath = createHash('sha256').update(String(token)).digest('base64url');
      const headers = { authorization: `DPoP ${token}`, dpop: await proof('userinfo', { htm: 'GET', ath }) };
      const { status } = await visit.wire.send(`${visit.issuer}/userinfo`, { headers });
      mustEqual(status, 200, 'status of userinfo with a proof');
    },
  },
  {
    id: 'standards.fapi2',
    section: 'FAPI 2.0 Security Profile section 5.3.2',
    sentence: 'An application with the profile fapi2 must push its requests and cannot authenticate with a secret.',
    async run(visit) {
      const { publicKey } = await generateKeyPair('ES256', { extractable: true });
      const jwks = { keys: [await exportJWK(publicKey)] };
      const bound = { profile: 'fapi2', dpop_bound_access_tokens: true };
      const application = await visit.once('an application of the profile fapi2', () =>
        visit.fixtures.makeApplication('fapi2', { ...bound, jwks }, 'private_key_jwt'),
      );
      const { fields } = await visit.authorize({
        client_id: application.id,
        code_challenge: challengeOf('a'.repeat(43)),
        code_challenge_method: 'S256',
      });
      mustEqual(fields.error, 'invalid_request', 'error of a request that was not pushed');
      const weak = await visit.fixtures.makeApplication('fapi2 with a secret', bound).catch(() => undefined);
      must(weak === undefined, 'an application with the profile and a secret must be refused');
    },
  },
  {
    id: 'standards.device',
    section: 'RFC 8628 sections 3.2 and 3.5',
    sentence:
      'A device gets a device code and a user code, then authorization_pending until the user decides, and slow_down if it polls too fast.',
    async run(visit) {
      const { id } = await visit.everything();
      const asked = await visit.post('device_authorization', { client_id: id, scope: 'openid' });
      mustEqual(asked.status, 200, 'status of device_authorization');
      const { device_code: code, user_code: userCode, verification_uri: uri } = jsonOf(asked);
      must(
        typeof userCode === 'string' && String(uri).endsWith('/activate'),
        'the response must have a user code and the address of its page',
      );
      const polled = await visit.post('token', { grant_type: DEVICE_CODE_GRANT, device_code: String(code) });
      mustEqual(jsonOf(polled).error, 'authorization_pending', 'error before the user has answered');
      const again = await visit.post('token', { grant_type: DEVICE_CODE_GRANT, device_code: String(code) });
      mustEqual(jsonOf(again).error, 'slow_down', 'error of a second poll at once');
    },
  },
  {
    id: 'standards.federated',
    section: 'RFC 7523 sections 2.2 and 3',
    sentence: 'A token of a trusted issuer authenticates the application; one for another audience is refused.',
    async run(visit) {
      const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
      const trusted = { issuer: 'https://workloads.doctor.invalid', subject: 'workload:*', audience: visit.issuer };
      const federated = [{ ...trusted, jwks: { keys: [await exportJWK(publicKey)] } }];
      const { id } = await visit.fixtures.makeApplication(`federated-${randomUUID()}`, { application_type: 'service' }, 'private_key_jwt', {
        federated,
      });
      const ask = async (audience: string) => {
        const claims = new SignJWT({ iss: trusted.issuer, sub: 'workload:doctor', aud: audience }).setIssuedAt().setExpirationTime('1 min');
        const form = {
          grant_type: 'client_credentials',
          client_id: id,
          client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
          client_assertion: await claims.setProtectedHeader({ alg: 'ES256' }).sign(privateKey),
        };
        return (await visit.send('token', form)).status;
      };
      mustEqual(await ask(visit.issuer), 200, 'status of a token of the trusted issuer');
      mustEqual(await ask('https://other.doctor.invalid'), 401, 'status of a token for another audience');
    },
  },
  {
    id: 'standards.ciba',
    section: 'OpenID Connect CIBA Core sections 7.1 and 11',
    sentence:
      'A backchannel authentication request without a user hint is refused with invalid_request; an unknown auth_req_id with invalid_grant.',
    async run(visit) {
      const { id } = await visit.everything();
      // Without a hint: otherwise a request would remain until it expires, and a user would get an e-mail.
      const asked = await visit.post('backchannel-authentication', { client_id: id, scope: 'openid' });
      mustEqual([asked.status, jsonOf(asked).error].join(' '), '400 invalid_request', 'answer to a request without a hint');
      const polled = await visit.post('token', { grant_type: CIBA_REQUEST_GRANT, auth_req_id: 'never-issued' });
      mustEqual(jsonOf(polled).error, 'invalid_grant', 'error of an auth_req_id that was not issued');
    },
  },
  {
    id: 'standards.exchange',
    section: 'RFC 8693 sections 2.2 and 4.1',
    sentence: 'An exchanged token names the actor and has no scope that the original token lacks.',
    async run(visit) {
      const application = await visit.everything();
      const { access_token: token } = jsonOf(await visit.exchange(await visit.code({ scope: 'openid profile' })));
      const form = {
        grant_type: EXCHANGE_GRANT,
        subject_token: String(token),
        subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      };
      const exchanged = await visit.post('token', { ...form, scope: 'openid' });
      mustEqual(exchanged.status, 200, 'status of an exchange');
      const { act } = await visit.introspect(jsonOf(exchanged).access_token);
      mustEqual((act as { sub?: string } | undefined)?.sub, application.id, 'act.sub');
      mustEqual(jsonOf(await visit.post('token', { ...form, scope: 'openid email' })).error, 'invalid_scope', 'error of a further scope');
    },
  },
  {
    id: 'standards.signature',
    section: 'OpenID Connect Core section 3.1.3.7',
    sentence: 'The ID token is signed by a key that the server publishes, for this application, by this issuer.',
    async run(visit) {
      const keys = jsonOf(await visit.wire.send(`${visit.issuer}/keys`)) as unknown as JSONWebKeySet;
      const { id } = await visit.everything();
      const expected = { issuer: visit.issuer, audience: id, clockTolerance: 5 };
      await jwtVerify(String((await visit.tokens()).id_token), createLocalJWKSet(keys), expected).catch((error: Error) => {
        throw new Broken(`the ID token must be right: ${error.message}`);
      });
    },
  },
  {
    id: 'standards.not-framed',
    section: 'RFC 6749 section 10.13',
    sentence: 'Other sites cannot show the sign-in page in a frame (clickjacking).',
    async run(visit) {
      const { headers } = (await visit.authorize({}, visit.stranger())).reply;
      const isGuarded =
        /frame-ancestors '(none|self)'/.test(headers.get('content-security-policy') ?? '') || headers.has('x-frame-options');
      must(isGuarded, 'the page must forbid framing');
    },
  },
];
