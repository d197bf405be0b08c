/**
 * A provider that lies, or somebody on the way who does: forged ID tokens (RFC 8725 sections 2.1 and 3.1; OpenID Connect Core 1.0 section 3.1.3.7), answers
 * that are none (RFC 6749 section 5.1), discovery documents that lead elsewhere, and addresses that only look verified. Nobody is signed in, nothing breaks.
 */
import assert from 'node:assert/strict';
import { createHmac, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { exportJWK, exportSPKI, type JWTPayload, SignJWT } from 'jose';
import { authorizeUrl, createClient } from '../../protocol/servers/relying-party.ts';
import { startService } from '../../support/service.ts';
import {
  CLIENT,
  createIdp,
  type Instead,
  idpBody,
  isAdmitted,
  linkTo,
  problemOf,
  signInAt,
  startUpstream,
} from '../../support/upstream.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';

const env = { ALLOW_PRIVATE_NETWORK: 'true' };
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const HUGE = 'x'.repeat(300 * 1024);

test('a provider that lies', async (t) => {
  const service = await startService(t, { env });
  const upstream = await startUpstream(t);
  const idp = await createIdp(service, idpBody(upstream));
  const client = await createClient(service);
  const request = (parameters: Record<string, string> = {}) =>
    authorizeUrl(service, 'default', { client_id: client.clientId, ...parameters });
  const honest = structuredClone(upstream.behaviour);
  const come = async (behaviour: Partial<typeof upstream.behaviour> = {}, at = idp): Promise<Page> => {
    Object.assign(upstream.behaviour, structuredClone(honest), { forge: undefined, subject: randomUUID() }, behaviour);
    const page = await signInAt(new UserAgent(service.baseUrl), request(), at);
    Object.assign(upstream.behaviour, structuredClone(honest), { forge: undefined });
    return page;
  };
  const users = async () => (await service.api('GET', '/users?limit=200')).body.length;

  const hmac = (payload: JWTPayload, kid: string, secret: string | Buffer) => {
    const input = `${encoded({ alg: 'HS256', typ: 'JWT', kid })}.${encoded(payload)}`;
    return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
  };
  const forgeries: [name: string, forge: NonNullable<typeof upstream.behaviour.forge>][] = [
    ['alg none', async (payload) => `${encoded({ alg: 'none' })}.${encoded(payload)}.`],
    ['alg nOnE, with a signature', async (payload) => `${encoded({ alg: 'nOnE' })}.${encoded(payload)}.AAAA`],
    [
      'HS256 with the public key in PEM',
      async (payload, kid, key) => hmac(payload, kid, await exportSPKI(key as Parameters<typeof exportSPKI>[0])),
    ],
    ['HS256 with the public key in JWK', async (payload, kid, key) => hmac(payload, kid, JSON.stringify(await exportJWK(key)))],
    ['HS256 with the client secret, which was not agreed upon', async (payload, kid) => hmac(payload, kid, CLIENT.secret)],
    [
      'a key of its own in the header (jwk)',
      async (payload) => {
        const { publicKey, privateKey } = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify']);
        return new SignJWT(payload).setProtectedHeader({ alg: 'ES256', jwk: await exportJWK(publicKey) }).sign(privateKey);
      },
    ],
    ['no signature at all', async (payload, kid) => `${encoded({ alg: 'RS256', kid })}.${encoded(payload)}.`],
    ['no JWT', async () => 'not-a-jwt'],
    ['a payload that is null', async (_payload, kid) => `${encoded({ alg: 'RS256', kid })}.${encoded(null)}.AAAA`],
  ];
  for (const alg of ['as announced', 'announced as well'] as const) {
    for (const [name, forge] of forgeries) {
      await t.test(`an ID token with ${name}, ${alg}`, async () => {
        const discovery = alg === 'as announced' ? {} : { id_token_signing_alg_values_supported: ['none', 'nOnE', 'HS256', 'RS256'] };
        const before = await users();
        await service.api('PUT', `/idps/${idp}`, idpBody(upstream));
        assert.equal(problemOf(await come({ forge, discovery })), 'upstream_untrusted');
        assert.equal(await users(), before);
      });
    }
  }
  await service.api('PUT', `/idps/${idp}`, idpBody(upstream));

  const claims: [name: string, idToken: JWTPayload][] = [
    ['for two audiences, and made for the other one (azp)', { aud: [CLIENT.id, 'other'], azp: 'other' }],
    ['for two audiences, without azp', { aud: [CLIENT.id, 'other'] }],
    ['of no subject', { sub: undefined } as never],
    ['whose subject is no text', { sub: 7 } as never],
    ['whose subject is empty', { sub: '' }],
    ['that does not expire', { exp: undefined } as never],
    ['that is not valid yet', { nbf: Math.floor(Date.now() / 1000) + 3600 }],
    ['of an authentication that is text', { auth_time: 'now' }],
  ];
  for (const [name, idToken] of claims) {
    await t.test(`an ID token ${name}`, async () => {
      assert.equal(problemOf(await come({ idToken })), 'upstream_untrusted');
    });
  }

  await t.test('iss is announced for every answer and missing in this one (RFC 9207 section 2.4)', async () => {
    assert.equal(problemOf(await come({ omitIssuer: true })), 'upstream_untrusted');
  });

  const html: Instead = { headers: { 'content-type': 'text/html' }, body: '<script>alert(1)</script>' };
  const json = (body: string, status = 200): Instead => ({ status, body });
  const redirect: Instead = { status: 302, headers: { location: 'http://127.0.0.1:1/elsewhere' }, body: '' };
  const answers: [name: string, path: string, answer: Instead, codes: RegExp][] = [
    ['HTML', '/token', html, /untrusted/],
    ['HTML with an error status', '/token', { ...html, status: 502 }, /unreachable/],
    ['null', '/token', json('null'), /untrusted/],
    ['a list', '/token', json('[]'), /untrusted/],
    ['no JSON', '/token', json('{"access_token":'), /untrusted/],
    ['no ID token', '/token', json('{"access_token":"a","token_type":"bearer"}'), /untrusted/],
    ['more than is read', '/token', json(`{"access_token":"${HUGE}"}`), /unreachable|untrusted/],
    ['nesting without end', '/token', json(`${'['.repeat(100_000)}${']'.repeat(100_000)}`), /untrusted/],
    ['a redirect', '/token', redirect, /unreachable/],
    ['no keys', '/jwks', json('{"keys":[]}'), /untrusted/],
    ['HTML', '/jwks', html, /untrusted/],
    ['more than is read', '/jwks', json(`{"keys":[],"x":"${HUGE}"}`), /unreachable|untrusted/],
    ['a redirect', '/jwks', redirect, /unreachable/],
    ['HTML', '/userinfo', html, /untrusted/],
    ['null', '/userinfo', json('null'), /untrusted/],
    ['a list', '/userinfo', json('[]'), /untrusted/],
    ['an error', '/userinfo', json('{}', 500), /unreachable/],
    ['more than is read', '/userinfo', json(`{"sub":"${HUGE}"}`), /unreachable|untrusted/],
  ];
  for (const [name, path, answer, codes] of answers) {
    await t.test(`${path} answers with ${name}`, async () => {
      const told = problemOf(await come({ instead: { [path]: answer }, claims: {} }));
      assert.match(told ?? 'no problem told', codes);
    });
  }

  const documents: [name: string, discovery: Record<string, unknown>, code: RegExp][] = [
    ['an authorization endpoint that is a script', { authorization_endpoint: 'javascript:alert(1)' }, /untrusted/],
    ['an authorization endpoint without TLS', { authorization_endpoint: 'http://public.example/authorize' }, /untrusted/],
    ['keys in a file', { jwks_uri: 'file:///etc/passwd' }, /untrusted/],
    ['keys in data', { jwks_uri: 'data:application/json,{"keys":[]}' }, /untrusted/],
    ['a token endpoint without TLS', { token_endpoint: 'http://public.example/token' }, /untrusted/],
    ['an address with a password', { token_endpoint: 'https://user:secret@public.example/token' }, /untrusted/],
    ['no token endpoint', { token_endpoint: undefined }, /untrusted/],
    ['more than is read', { more: HUGE }, /unreachable/],
  ];
  for (const [name, discovery, code] of documents) {
    await t.test(`a discovery document with ${name}`, async () => {
      await service.api('PUT', `/idps/${idp}`, idpBody(upstream));
      upstream.behaviour.discovery = discovery;
      const agent = new UserAgent(service.baseUrl);
      const page = await agent.visit(linkTo(await agent.visit(request()), idp));
      upstream.behaviour.discovery = {};
      assert.match(problemOf(page) ?? `went to ${page.url}`, code);
    });
  }
  await service.api('PUT', `/idps/${idp}`, idpBody(upstream));

  await t.test('an address of the ID token is not verified by what userinfo says of another one, nor the reverse', async () => {
    const victim = await service.createUser({ email: 'victim@example.com' });
    assert.ok(victim.id);
    const mixes: [idToken: Record<string, unknown>, userinfo: Record<string, unknown>][] = [
      [{ email: 'new@example.com' }, { email: 'mine@example.com', email_verified: true }],
      [{ email_verified: true }, { email: 'new@example.com', email_verified: false }],
      [{ email_verified: true }, { email: 'new@example.com' }],
      [
        { email: 'new@example.com', email_verified: false },
        { email: 'new@example.com', email_verified: true },
      ],
    ];
    for (const [claims, userinfoClaims] of mixes) {
      assert.equal(problemOf(await come({ claims, userinfoClaims })), 'upstream_no_email', JSON.stringify([claims, userinfoClaims]));
    }
    assert.ok(
      isAdmitted(await come({ claims: { email: 'new@example.com' }, userinfoClaims: { email: 'new@example.com', email_verified: true } })),
    );
  });

  await t.test('userinfo is asked whether an address is verified, when the ID token says nothing else of it', async () => {
    await service.api('PUT', `/idps/${idp}`, idpBody(upstream, { attributeMap: { email: 'email' } }));
    const email = 'asked@example.com';
    assert.ok(isAdmitted(await come({ claims: { email }, userinfoClaims: { email, email_verified: true } })));
    await service.api('PUT', `/idps/${idp}`, idpBody(upstream));
  });

  await t.test('an address that only looks like another one names nobody: letters of other alphabets, spaces, marks', async () => {
    await service.api('PUT', `/idps/${idp}`, idpBody(upstream, { provisioning: { action: 'DISABLED' }, accountLink: { action: 'AUTO' } }));
    const { body } = await service.api('POST', '/users', { profile: { login: 'kate-sims', email: 'kate@kim.example' } });
    // Kelvin sign and long s, whose small and capital letters are ASCII; no-break and other spaces; a combining mark; fullwidth.
    const alike = [
      '\u212aate@kim.example',
      'kate@\u212aim.example',
      'kate@kim.example\u00a0',
      '\ufeffkate@kim.example',
      ' kate@kim.example',
    ];
    for (const email of [
      ...alike,
      'kate\u200b@kim.example',
      'ka\uff54e@kim.example',
      'kate@kim.example.',
      '"kate@kim.example" <x@evil.example>',
    ]) {
      const page = await come({ claims: { email, email_verified: true } });
      assert.equal(problemOf(page), 'upstream_not_admitted', JSON.stringify(email));
    }
    assert.equal(
      (await service.api('GET', `/idps/${idp}/users`)).body.find(({ id }: { id: string }) => id === body.id),
      undefined,
    );
    assert.ok(isAdmitted(await come({ claims: { email: 'KATE@Kim.Example', email_verified: true } })), 'the same in capitals');
    await service.api('PUT', `/idps/${idp}`, idpBody(upstream));
  });

  await t.test('the same subject at two providers is two people', async () => {
    const other = await createIdp(service, { ...idpBody(upstream), name: 'Other' });
    const subject = randomUUID();
    const one = { subject, claims: { email: `one-${subject}@example.com`, email_verified: true } };
    const two = { subject, claims: { email: `two-${subject}@example.com`, email_verified: true } };
    assert.ok(isAdmitted(await come(one)) && isAdmitted(await come(two, other)));
    const [first, second] = await Promise.all(
      [one, two].map(async ({ claims: { email } }) => (await service.api('GET', `/users/${email}`)).body.id),
    );
    assert.notEqual(first, second);
    assert.equal((await service.api('GET', `/idps/${other}/users/${first}`)).status, 404);
    await service.api('DELETE', `/idps/${other}`);
  });
});

test('GitHub, that answers with what it should not', async (t) => {
  const service = await startService(t, { env });
  const client = await createClient(service);
  const email = { email: 'octocat@example.com', verified: true, primary: true, visibility: 'private' };
  const github = await startUpstream(t, {
    more: ({ pathname }) => (pathname === '/user/emails' ? [email] : { login: 'octocat', id: 583231 }),
  });
  github.behaviour.responseIssuer = null;
  const address = (path: string) => ({ url: `${github.origin}${path}` });
  const idp = await createIdp(service, {
    ...{ name: 'GitHub', type: 'GITHUB', policy: { provisioning: { action: 'AUTO' } } },
    protocol: {
      endpoints: { authorization: address('/authorize'), token: address('/token'), userInfo: address('/user') },
      credentials: { client: { client_id: CLIENT.id, client_secret: CLIENT.secret } },
    },
  });
  const come = async (instead: Record<string, Instead> = {}) => {
    github.behaviour.instead = instead;
    return signInAt(new UserAgent(service.baseUrl), authorizeUrl(service, 'default', { client_id: client.clientId }), idp);
  };
  const users: [answer: Instead, code: string][] = [
    [{ body: 'null' }, 'upstream_untrusted'],
    [{ body: '[]' }, 'upstream_untrusted'],
    [{ body: '"text"' }, 'upstream_untrusted'],
    [{ body: '{"login":"octocat"}' }, 'upstream_untrusted'],
    [{ body: '{"id":""}' }, 'upstream_untrusted'],
    [{ body: '{"id":{"toString":1}}' }, 'upstream_untrusted'],
    [{ body: '<html>', headers: { 'content-type': 'text/html' } }, 'upstream_untrusted'],
    [{ status: 401, body: '{"message":"Bad credentials"}' }, 'upstream_refused'],
    [{ status: 503, body: '' }, 'upstream_unreachable'],
    [{ body: JSON.stringify({ id: 1, bio: HUGE }) }, 'upstream_unreachable'],
  ];
  for (const [answer, code] of users) assert.equal(problemOf(await come({ '/user': answer })), code, answer.body.slice(0, 40));
  // The token endpoint tells errors with 200 ("Troubleshooting OAuth app access token request errors").
  const told = { body: '{"error":"bad_verification_code","error_description":"<b>The code passed is incorrect or expired.</b>"}' };
  const refused = await come({ '/token': told });
  assert.equal(problemOf(refused), 'upstream_refused');
  assert.ok(!refused.text.includes('<b>The code'));

  for (const body of [
    'null',
    '{}',
    '[null, 7, {"email":"octocat@example.com","primary":true,"verified":"no"}]',
    '[{"email":7,"primary":true,"verified":true}]',
  ])
    assert.equal(problemOf(await come({ '/user/emails': { body } })), 'upstream_no_email', body);
  const forbidden = { '/user/emails': { status: 403, body: '{"message":"Resource not accessible by integration"}' } };
  assert.equal(problemOf(await come(forbidden)), 'upstream_no_email');
  assert.ok(isAdmitted(await come()));
  assert.ok(isAdmitted(await come(forbidden)), 'who is known already needs no address');
});

test('without ALLOW_PRIVATE_NETWORK no provider leads the service into its own network (server-side request forgery)', async (t) => {
  const service = await startService(t, { env: { ALLOW_PRIVATE_NETWORK: 'false' } });
  const upstream = await startUpstream(t);
  const client = await createClient(service);
  const request = authorizeUrl(service, 'default', { client_id: client.clientId });
  const visit = async (idp: string) => {
    const agent = new UserAgent(service.baseUrl);
    return agent.visit(linkTo(await agent.visit(request), idp));
  };
  const idp = await createIdp(service, idpBody(upstream));
  assert.equal(problemOf(await visit(idp)), 'upstream_unreachable');
  const endpoints = Object.fromEntries(['authorization', 'token', 'jwks'].map((name) => [name, { url: `${upstream.origin}/${name}` }]));
  const direct = await createIdp(service, { ...idpBody(upstream, {}, { endpoints }), name: 'Direct' });
  const agent = new UserAgent(service.baseUrl);
  const out = (await agent.visit(linkTo(await agent.visit(request), direct))).url;
  const state = out.searchParams.get('state') ?? '';
  const back = new URL(out.searchParams.get('redirect_uri') ?? '');
  back.search = String(new URLSearchParams({ code: 'x', state, iss: upstream.issuer }));
  const shown = await agent.visit(back);
  const told = await agent.visit((shown.headers.get('refresh') ?? '').replace('0;url=', ''));
  assert.equal(problemOf(told), 'upstream_unreachable');
  assert.deepEqual([...upstream.calls], [], 'nothing has arrived');
});
