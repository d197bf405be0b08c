/**
 * Forged JWTs, whichever door they are brought to (RFC 8725 sections 2 and 3; RFC 7523 section 3; OWASP ASVS 5.0 V9.1 and V10.4.16): algorithms that are none or
 * not the key's, keys that the token brings along or points at, identifiers of keys that are paths or statements, and tokens made for another purpose.
 */
import assert from 'node:assert/strict';
import { createHmac, createPublicKey, randomUUID } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { exportJWK, exportSPKI, generateKeyPair, type JWK, SignJWT } from 'jose';
import {
  answerOf,
  authorizeUrl,
  createClient,
  post,
  SIGNED_OUT,
  type TestClient,
  tokensFor,
  userinfo,
} from '../protocol/servers/relying-party.ts';
import { listen } from '../support/listen.ts';
import { type Service, startService } from '../support/service.ts';
import { UserAgent } from '../support/user-agent.ts';

type Claims = Record<string, unknown>;
type Header = Record<string, unknown>;

const now = () => Math.floor(Date.now() / 1000);
const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const unsigned = (header: Header, claims: Claims, signature = ''): string => `${part(header)}.${part(claims)}.${signature}`;
const byHmac = (header: Header, claims: Claims, secret: string | Buffer): string => {
  const signed = `${part({ alg: 'HS256', ...header })}.${part(claims)}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
};

interface Forger {
  /** The key that the token should be signed by, as everybody knows it. */
  readonly publicKey: JWK;
  readonly pem: string;
  readonly kid: string | undefined;
  readonly claims: Claims;
  /** Where the attacker keeps his keys. */
  readonly keysAt: string;
  readonly typ: string | undefined;
}

/** Every forgery of a token with right claims. */
async function forgeries({ publicKey, pem, kid, claims, keysAt, typ }: Forger): Promise<[what: string, jwt: string][]> {
  const common: Header = { ...(typ !== undefined && { typ }), ...(kid !== undefined && { kid }) };
  const own = await generateKeyPair('RS256', { extractable: true });
  const ownJwk = { ...(await exportJWK(own.publicKey)), kid: 'of-the-attacker', alg: 'RS256', use: 'sig' };
  const byOwn = (header: Header) => new SignJWT(claims).setProtectedHeader({ alg: 'RS256', ...common, ...header }).sign(own.privateKey);
  const der = createPublicKey({ key: publicKey as never, format: 'jwk' }).export({ type: 'spki', format: 'der' });
  return [
    ...['none', 'None', 'NONE', 'nOnE', '', null, 'HS0'].map((alg): [string, string] => [
      `alg ${alg}`,
      unsigned({ ...common, alg }, claims),
    ]),
    ['alg none with a signature', unsigned({ ...common, alg: 'none' }, claims, 'AAAA')],
    ['no alg', unsigned(common, claims, 'AAAA')],
    ['a right alg without a signature', unsigned({ ...common, alg: 'RS256' }, claims)],
    ['a signature of zeros (CVE-2022-21449)', unsigned({ ...common, alg: 'ES256' }, claims, Buffer.alloc(64).toString('base64url'))],
    ['the public key as a secret: PEM', byHmac(common, claims, pem)],
    ['the public key as a secret: trimmed PEM', byHmac(common, claims, pem.trim())],
    ['the public key as a secret: DER', byHmac(common, claims, der)],
    ['the public key as a secret: JWK', byHmac(common, claims, JSON.stringify(publicKey))],
    ['the public key as a secret: modulus', byHmac(common, claims, Buffer.from(publicKey.n ?? '', 'base64url'))],
    ['an empty secret', byHmac(common, claims, '')],
    ['a kid that is a path to an empty file', byHmac({ ...common, kid: '../../../../../../dev/null' }, claims, '')],
    ['a kid that is a statement', byHmac({ ...common, kid: "' UNION SELECT 'key' --" }, claims, 'key')],
    ['the attacker’s key under the right kid', await byOwn({})],
    ['the attacker’s key in the header', await byOwn({ kid: undefined, jwk: ownJwk })],
    ['the attacker’s jku', await byOwn({ kid: 'of-the-attacker', jku: `${keysAt}/jwks` })],
    ['the attacker’s x5u', await byOwn({ x5u: `${keysAt}/cert` })],
    ['the attacker’s certificate', await byOwn({ x5c: [der.toString('base64')] })],
    ...[null, 1, ['a'], { a: 1 }, '', '__proto__', 'constructor', '\u0000'].map((odd): [string, string] => [
      `kid ${JSON.stringify(odd)}`,
      unsigned({ ...common, alg: 'RS256', kid: odd }, claims, 'AAAA'),
    ]),
    ['a critical header that nobody knows', unsigned({ ...common, alg: 'RS256', crit: ['exp'], exp: 1 }, claims, 'AAAA')],
    ['no header', `.${part(claims)}.AAAA`],
    ['a header that is no object', `${part([])}.${part(claims)}.AAAA`],
    ['claims that are no object', `${part({ ...common, alg: 'RS256' })}.${part([claims])}.AAAA`],
    ['five parts', `${part({ alg: 'dir', enc: 'A256GCM' })}..${part(1)}.${part(claims)}.AAAA`],
  ];
}

const toForge = async (publicKey: JWK): Promise<Pick<Forger, 'publicKey' | 'pem'>> => ({
  publicKey,
  pem: await exportSPKI(createPublicKey({ key: publicKey as never, format: 'jwk' }) as never),
});

/** The attacker's server of keys: nobody may ever ask it. */
async function attackersKeys(t: TestContext): Promise<{ origin: string; asked: string[] }> {
  const asked: string[] = [];
  const origin = await listen(t, '127.0.0.1', (req, res) => {
    asked.push(req.url ?? '');
    res.writeHead(200, { 'content-type': 'application/json' }).end('{"keys":[]}');
  });
  return { origin, asked };
}

/** The key by which a server signs. */
async function signingKey(service: Service, serverId: string): Promise<JWK> {
  const { keys } = (await (await fetch(`${service.issuer(serverId)}/keys`)).json()) as { keys: JWK[] };
  const { body } = await service.api('GET', `/authorizationServers/${serverId}/credentials/keys`);
  const active = body.find(({ status }: { status: string }) => status === 'ACTIVE');
  const key = keys.find(({ kid }) => kid === active.kid);
  assert.ok(key);
  return key;
}

const claimsIn = (jwt: string): Claims => JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString());

test('forged JWTs', async (t) => {
  const service = await startService(t, { env: { ALLOW_PRIVATE_NETWORK: 'true' } });
  const attacker = await attackersKeys(t);
  const user = await service.createUser();
  const rsa = await generateKeyPair('RS256', { extractable: true });
  const publicKey = { ...(await exportJWK(rsa.publicKey)), kid: 'registered', use: 'sig', alg: 'RS256' };
  const jwks = { keys: [publicKey] };
  const grant_types = ['authorization_code', 'client_credentials'];
  const byKey = await createClient(service, { jwks, grant_types }, { token_endpoint_auth_method: 'private_key_jwt' });
  const bySecret = await createClient(service, { grant_types }, { token_endpoint_auth_method: 'client_secret_jwt' });
  const other = await createClient(service, { jwks, grant_types }, { token_endpoint_auth_method: 'private_key_jwt' });
  const issuer = service.issuer('default');
  const assertion = ({ clientId }: TestClient, more: Claims = {}): Claims => ({
    ...{ iss: clientId, sub: clientId, aud: issuer, jti: randomUUID(), iat: now(), exp: now() + 60 },
    ...more,
  });
  const sign = (claims: Claims, header: Header = {}) =>
    new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'registered', ...header }).sign(rsa.privateKey);
  const authenticate = async (jwt: string, { clientId }: TestClient = byKey, serverId = 'default') => {
    const client_assertion_type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
    const form = { grant_type: 'client_credentials', client_id: clientId, client_assertion_type, client_assertion: jwt };
    const response = await fetch(`${service.issuer(serverId)}/token`, { method: 'POST', body: new URLSearchParams(form) });
    return { status: response.status, body: (await response.json()) as { access_token?: string } };
  };
  const isStranger = ({ status, body }: Awaited<ReturnType<typeof authenticate>>, what: string) =>
    assert.ok([400, 401].includes(status) && body.access_token === undefined, `${what}: ${status} ${JSON.stringify(body)}`);

  await t.test('prove no application (RFC 7523 section 3)', async () => {
    assert.equal((await authenticate(await sign(assertion(byKey)))).status, 200, 'a right one does');
    const forged = await forgeries({
      ...(await toForge(publicKey)),
      kid: 'registered',
      claims: assertion(byKey),
      keysAt: attacker.origin,
      typ: undefined,
    });
    for (const [what, jwt] of forged) isStranger(await authenticate(jwt), what);
    for (const [what, jwt] of forged.slice(0, 8)) isStranger(await authenticate(jwt, bySecret), what);
  });

  await t.test('nor does one that was made for another server, application, time, or method', async () => {
    const secret = bySecret.clientSecret ?? '';
    assert.equal((await authenticate(byHmac({}, assertion(bySecret), secret), bySecret)).status, 200, 'a right one does');
    const wrong: [what: string, jwt: string, client?: TestClient, serverId?: string][] = [
      ['for another server', await sign(assertion(byKey)), byKey, 'built-in'],
      ['for the attacker’s token endpoint', await sign(assertion(byKey, { aud: `${attacker.origin}/token` }))],
      ['for nobody', await sign(assertion(byKey, { aud: undefined }))],
      ['for a prefix of the issuer', await sign(assertion(byKey, { aud: service.issuer('built-in') }))],
      ['of another application with the same key', await sign(assertion(byKey)), other],
      ['by one application about another', await sign(assertion(byKey, { sub: other.clientId })), other],
      ['without jti', await sign(assertion(byKey, { jti: undefined }))],
      ['without exp', await sign(assertion(byKey, { exp: undefined }))],
      ['expired', await sign(assertion(byKey, { exp: now() - 1 }))],
      ['not yet', await sign(assertion(byKey, { nbf: now() + 60 }))],
      ['a key in place of a secret', await sign(assertion(bySecret)), bySecret],
      ['a secret in place of a key', byHmac({ kid: 'registered' }, assertion(byKey), secret)],
      ['for us and a foreign server (CVE-2025-27370)', await sign(assertion(byKey, { aud: [issuer, 'https://evil.example'] }))],
      ['for the introspection endpoint', await sign(assertion(byKey, { aud: `${issuer}/introspect` }))],
      ['an access token', await sign(assertion(byKey), { typ: 'at+jwt' })],
      ['a request object', await sign(assertion(byKey, { sub: undefined, response_type: 'code' }))],
    ];
    for (const [what, jwt, client, serverId] of wrong) isStranger(await authenticate(jwt, client, serverId), what);
    const right = [
      sign(assertion(byKey, { aud: [issuer] })),
      sign(assertion(byKey, { aud: `${issuer}/token` }), { typ: 'client-authentication+jwt' }),
    ];
    for (const jwt of right) assert.equal((await authenticate(await jwt)).status, 200);
    const once = await sign(assertion(byKey));
    assert.deepEqual([(await authenticate(once)).status, (await authenticate(once)).status], [200, 401], 'a second use');
  });

  await t.test('carry no authorization request (RFC 9101 section 10)', async () => {
    const claims: Claims = { iss: byKey.clientId, aud: issuer, iat: now(), exp: now() + 60, state: 'forged' };
    const ask = async (request: string) => {
      const parameters = { client_id: byKey.clientId, prompt: 'none', request, state: 'query' };
      return answerOf(await new UserAgent(service.baseUrl).visit(authorizeUrl(service, 'default', parameters)));
    };
    assert.deepEqual([(await ask(await sign(claims))).error, (await ask(await sign(claims))).state], ['login_required', 'forged']);
    const forged = await forgeries({
      ...(await toForge(publicKey)),
      kid: 'registered',
      claims,
      keysAt: attacker.origin,
      typ: 'oauth-authz-req+jwt',
    });
    for (const [what, jwt] of forged) {
      const answer = await ask(jwt);
      assert.notEqual(answer.state, 'forged', what);
      assert.ok(answer.error === 'invalid_request_object' || answer.error === 'invalid_request', `${what}: ${JSON.stringify(answer)}`);
    }
  });

  await t.test('open nothing as access tokens (RFC 9068 section 4), and are active for nobody', async () => {
    const client = await createClient(service);
    const { body } = await tokensFor(service, new UserAgent(service.baseUrl), user, client, { serverId: 'default' });
    assert.equal((await userinfo(service, 'default', body.access_token)).status, 200);
    const key = await signingKey(service, 'default');
    const forger = { ...(await toForge(key)), kid: key.kid, keysAt: attacker.origin };
    const forged = [
      ...(await forgeries({ ...forger, claims: claimsIn(body.access_token), typ: 'at+jwt' })),
      ['an ID token', body.id_token] as const,
      [
        'a changed payload',
        body.access_token.replace(/\.[^.]+\./, `.${part({ ...claimsIn(body.access_token), scope: 'openid admin' })}.`),
      ] as const,
    ];
    for (const [what, jwt] of forged) {
      // A header cannot carry what is no token.
      if (/[^\x21-\x7e]/.test(jwt)) continue;
      assert.equal((await userinfo(service, 'default', jwt)).status, 401, what);
      const { body: told } = await post(service, 'default', 'introspect', client, { token: jwt });
      if (what !== 'an ID token') assert.deepEqual(told, { active: false }, what);
    }
    assert.equal((await userinfo(service, 'built-in', body.access_token)).status, 401, 'nor at another server');
  });

  await t.test('sign nobody out and are no hint (RP-Initiated Logout 1.0 section 2)', async () => {
    const client = await createClient(service);
    const browser = new UserAgent(service.baseUrl);
    const { body } = await tokensFor(service, browser, user, client, { serverId: 'default' });
    const key = await signingKey(service, 'default');
    const claims = claimsIn(body.id_token);
    const forged = await forgeries({ ...(await toForge(key)), kid: key.kid, claims, keysAt: attacker.origin, typ: undefined });
    for (const [what, jwt] of [...forged, ['signed with the client’s secret', byHmac({}, claims, client.clientSecret ?? '')] as const]) {
      const query = new URLSearchParams({ id_token_hint: jwt, post_logout_redirect_uri: SIGNED_OUT });
      const answer = await browser.send(`${service.issuer('default')}/logout?${query}`);
      assert.deepEqual([answer.status, answer.headers.get('location')], [400, null], what);
      const parameters = { client_id: client.clientId, prompt: 'none', id_token_hint: jwt };
      assert.ok(answerOf(await browser.visit(authorizeUrl(service, 'default', parameters))).error, what);
    }
    const still = await browser.visit(
      authorizeUrl(service, 'default', { client_id: client.clientId, prompt: 'none', id_token_hint: body.id_token }),
    );
    assert.ok(answerOf(still).code, 'the session is there');
  });

  assert.deepEqual(attacker.asked, [], 'no key was fetched from where a token pointed (server-side request forgery)');
});

test('with STRICT_ASSERTION_AUDIENCE client assertions are for the issuer, not for the token endpoint (draft-ietf-oauth-rfc7523bis)', async (t) => {
  const service = await startService(t, { env: { STRICT_ASSERTION_AUDIENCE: 'true' } });
  const settings = { grant_types: ['authorization_code', 'client_credentials'] };
  const { clientId, clientSecret = '' } = await createClient(service, settings, { token_endpoint_auth_method: 'client_secret_jwt' });
  for (const serverId of ['built-in', 'default']) {
    const issuer = service.issuer(serverId);
    const authenticate = async (aud: unknown) => {
      const claims = { iss: clientId, sub: clientId, aud, jti: randomUUID(), iat: now(), exp: now() + 60 };
      const client_assertion_type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
      const client_assertion = byHmac({}, claims, clientSecret);
      const form = { grant_type: 'client_credentials', client_id: clientId, client_assertion_type, client_assertion };
      return (await fetch(`${issuer}/token`, { method: 'POST', body: new URLSearchParams(form) })).status;
    };
    const given = [issuer, [issuer], `${issuer}/token`, [`${issuer}/token`], [issuer, `${issuer}/token`], undefined];
    assert.deepEqual(await Promise.all(given.map(authenticate)), [200, 200, 401, 401, 401, 401], serverId);
  }
});
