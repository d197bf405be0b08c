/** Mutual TLS (RFC 8705): the certificate comes in a header (RFC 9440) from the proxy in front, and from nobody else. */
import assert from 'node:assert/strict';
import { createHash, X509Certificate } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { decodeJwt } from 'jose';
import * as oauth from 'oauth4webapi';
import * as client from 'openid-client';
import { outcomes } from '../../doctor/altered-service.ts';
import {
  AUTHORITY,
  CERTIFICATE,
  EXPIRED,
  FOR_SERVERS,
  FOREIGN,
  FORMER_AUTHORITY,
  OF_FORMER,
  OF_SECOND,
  SECOND_AUTHORITY,
  SELF_SIGNED,
} from '../../support/certificates.ts';
import { runCommand } from '../../support/process.ts';
import { type Service, STARTED, startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { answerOf, authorizeUrl, CALLBACK, challengeOf, createClient, type JsonAnswer, verifier } from '../servers/relying-party.ts';

const pem = (der: string): string => `-----BEGIN CERTIFICATE-----\n${der.match(/.{1,64}/g)?.join('\n')}\n-----END CERTIFICATE-----\n`;
const header = (der: string): string => `:${der}:`;
const thumbprint = (der: string): string => createHash('sha256').update(Buffer.from(der, 'base64')).digest('base64url');
const DN = 'CN=client,OU=Payments,O=Bank\\, Inc.,C=DE';
const bound = { tls_client_certificate_bound_access_tokens: true };

/** A service behind a proxy that hands certificates over. */
function behindProxy(t: TestContext, env: Record<string, string> = {}, onLog?: (line: string) => void): Promise<Service> {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'gatehouse-mtls-')), 'ca.pem');
  writeFileSync(file, pem(AUTHORITY));
  return startService(t, {
    env: { TRUST_PROXY: '1', MTLS_HEADER: 'Client-Cert', MTLS_CA_FILE: file, ...env },
    ...(onLog && { onLog }),
  });
}

async function post(
  service: Service,
  endpoint: string,
  form: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<JsonAnswer> {
  const response = await fetch(`${service.issuer('default')}/${endpoint}`, { method: 'POST', headers, body: new URLSearchParams(form) });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
}

const machineBy = (service: Service, settings: Record<string, unknown>, method = 'tls_client_auth') =>
  service.createApp({ application_type: 'service', ...settings }, { token_endpoint_auth_method: method });

const ask = (service: Service, clientId: string, certificate?: string) =>
  post(
    service,
    'token',
    { grant_type: 'client_credentials', client_id: clientId },
    certificate === undefined ? {} : { 'client-cert': certificate },
  );

test('tls_client_auth: a certificate of the authority that names the application, by any of its names', async (t) => {
  const service = await behindProxy(t);
  const names: [Record<string, string>, boolean][] = [
    [{ tls_client_auth_subject_dn: DN }, true],
    [{ tls_client_auth_subject_dn: 'cn=client, ou=Payments, o=Bank\\, Inc., c=DE' }, true],
    [{ tls_client_auth_subject_dn: 'CN=client,OU=Payments,C=DE' }, false],
    [{ tls_client_auth_subject_dn: 'C=DE,O=Bank\\, Inc.,OU=Payments,CN=client' }, false],
    [{ tls_client_auth_san_dns: 'client.bank.example' }, true],
    [{ tls_client_auth_san_dns: 'bank.example' }, false],
    [{ tls_client_auth_san_uri: 'https://bank.example/client' }, true],
    [{ tls_client_auth_san_uri: 'https://bank.example/' }, false],
    [{ tls_client_auth_san_ip: '192.0.2.7' }, true],
    [{ tls_client_auth_san_ip: '2001:db8::7' }, true],
    [{ tls_client_auth_san_ip: '192.0.2.70' }, false],
    [{ tls_client_auth_san_email: 'client@bank.example' }, true],
    [{ tls_client_auth_san_email: 'other@bank.example' }, false],
  ];
  for (const [settings, isRight] of names) {
    const { clientId } = await machineBy(service, settings);
    const { status, body } = await ask(service, clientId, header(CERTIFICATE));
    assert.deepEqual([status, body.error], isRight ? [200, undefined] : [401, 'invalid_client'], JSON.stringify(settings));
  }
  const { clientId } = await machineBy(service, { tls_client_auth_subject_dn: DN });
  for (const [what, given] of [
    ['none', undefined],
    ['of another authority of the same name', header(FOREIGN)],
    ['that is over', header(EXPIRED)],
    ['of the authority itself', header(AUTHORITY)],
    ['that is none', ':bm9uc2Vuc2U=:'],
    ['twice', `${header(CERTIFICATE)}, ${header(CERTIFICATE)}`],
  ] as const) {
    const { status, body } = await ask(service, clientId, given);
    assert.deepEqual([status, body.error], [401, 'invalid_client'], what);
  }
  assert.equal((await ask(service, clientId, encodeURIComponent(pem(CERTIFICATE)))).status, 200, 'as nginx writes it');
});

test('self_signed_tls_client_auth: the certificate that is registered, and no other', async (t) => {
  const service = await behindProxy(t);
  const { x, y, crv, kty } = new X509Certificate(Buffer.from(SELF_SIGNED, 'base64')).publicKey.export({ format: 'jwk' });
  const jwks = { keys: [{ kty, crv, x, y, x5c: [SELF_SIGNED] }] };
  const { clientId } = await machineBy(service, { jwks }, 'self_signed_tls_client_auth');
  assert.equal((await ask(service, clientId, header(SELF_SIGNED))).status, 200);
  assert.equal((await ask(service, clientId, header(CERTIFICATE))).status, 401);
  assert.equal((await ask(service, clientId)).status, 401);
});

test('a certificate header counts from a proxy of MTLS_PROXIES alone; from elsewhere it is ignored and logged', async (t) => {
  const lines: string[] = [];
  const service = await behindProxy(t, { MTLS_PROXIES: '10.0.0.0/8, 192.0.2.1', LOG_LEVEL: 'warn' }, (line) => lines.push(line));
  const { clientId } = await machineBy(service, { tls_client_auth_subject_dn: DN });
  const { status, body } = await ask(service, clientId, header(CERTIFICATE));
  assert.deepEqual([status, body.error], [401, 'invalid_client']);
  const told = lines.filter((line) => line.includes('a client certificate was ignored'));
  assert.equal(told.length, 1);
  assert.match(told[0] ?? '', /127\.0\.0\.1.*MTLS_PROXIES/);
});

test('without MTLS_HEADER no certificate counts and nothing is announced; an application that needs one is refused', async (t) => {
  const service = await startService(t);
  const { clientId } = await machineBy(service, { tls_client_auth_subject_dn: DN });
  assert.equal((await ask(service, clientId, header(CERTIFICATE))).status, 401);
  const document = (await (await fetch(`${service.issuer('default')}/.well-known/openid-configuration`)).json()) as Record<string, unknown>;
  assert.ok(!(document.token_endpoint_auth_methods_supported as string[]).some((method) => method.includes('tls')));
  assert.equal(document.tls_client_certificate_bound_access_tokens, undefined);
});

/** The proxy: what is called below the alias gets the certificate of the connection. @param called gets the host of each request */
const proxyOf =
  (service: Service, shown: () => string, called: string[] = []): client.CustomFetch =>
  (address, init) => {
    const { pathname, search, host } = new URL(address);
    called.push(host);
    const headers = { ...init.headers, ...(host === 'mtls.example' && { 'client-cert': header(shown()) }) };
    return fetch(new URL(pathname + search, service.listensAt), { ...init, headers } as RequestInit);
  };

test('openid-client: code flow and refresh by the aliases, with tokens that are bound to the certificate', async (t) => {
  const service = await behindProxy(t, { MTLS_BASE_URL: 'https://mtls.example' });
  const user = await service.createUser({ displayName: 'Grace Hopper' });
  const { clientId } = await createClient(
    service,
    { ...bound, tls_client_auth_san_dns: 'client.bank.example' },
    { token_endpoint_auth_method: 'tls_client_auth' },
  );
  const issuer = new URL(service.issuer('default'));
  let shown = CERTIFICATE;
  const called: string[] = [];
  const proxy = proxyOf(service, () => shown, called);
  const config = await client.discovery(issuer, clientId, { use_mtls_endpoint_aliases: true }, client.TlsClientAuth(), {
    execute: [client.allowInsecureRequests],
    [client.customFetch]: proxy,
  });
  const metadata = config.serverMetadata();
  assert.equal(metadata.tls_client_certificate_bound_access_tokens, true);
  // Each endpoint that takes the client's authentication (RFC 8705 section 5).
  for (const name of ['token', 'introspection', 'revocation', 'pushed_authorization_request', 'device_authorization']) {
    const announced = new URL(String(metadata[`${name}_endpoint`]));
    assert.equal(metadata.mtls_endpoint_aliases?.[`${name}_endpoint`], `https://mtls.example${announced.pathname}`, name);
  }
  const pkceCodeVerifier = client.randomPKCECodeVerifier();
  const expectedState = client.randomState();
  const url = await client.buildAuthorizationUrlWithPAR(config, {
    redirect_uri: CALLBACK,
    scope: 'openid profile offline_access',
    state: expectedState,
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
  });
  const browser = new UserAgent(service.baseUrl);
  const arrived = await browser.signIn(await browser.visit(url), user);
  const tokens = await client.authorizationCodeGrant(config, arrived.url, { pkceCodeVerifier, expectedState });
  const told = await client.tokenIntrospection(config, tokens.access_token);
  assert.deepEqual(told.cnf, { 'x5t#S256': thumbprint(CERTIFICATE) });
  assert.equal((await client.fetchUserInfo(config, tokens.access_token, user.id)).name, 'Grace Hopper');
  const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token ?? '');
  assert.ok(
    called.slice(1).every((host) => host === 'mtls.example'),
    called.join(' '),
  );

  const bare = await fetch(`${service.issuer('default')}/userinfo`, { headers: { authorization: `Bearer ${refreshed.access_token}` } });
  assert.equal(bare.status, 401, 'stolen, without a certificate');
  shown = SELF_SIGNED;
  await assert.rejects(client.fetchUserInfo(config, refreshed.access_token, user.id), 'stolen, with another certificate');
});

test('the profile fapi2 by certificate: openid-client pushes, exchanges, refreshes without rotation, and reads userinfo', async (t) => {
  const service = await behindProxy(t, { MTLS_BASE_URL: 'https://mtls.example' });
  const server = { id: 'bank', name: 'Bank', audiences: ['https://api.bank.example'], profile: 'fapi2', signingAlg: 'ES256' };
  assert.equal((await service.api('POST', '/authorizationServers', server)).status, 201);
  const user = await service.createUser();
  const settings = { ...bound, tls_client_auth_san_dns: 'client.bank.example' };
  const { clientId } = await createClient(service, settings, { token_endpoint_auth_method: 'tls_client_auth' });
  let shown = CERTIFICATE;
  const metadata = { use_mtls_endpoint_aliases: true, id_token_signed_response_alg: 'ES256' };
  const config = await client.discovery(new URL(service.issuer('bank')), clientId, metadata, client.TlsClientAuth(), {
    execute: [client.allowInsecureRequests],
    [client.customFetch]: proxyOf(service, () => shown),
  });
  const methods = config.serverMetadata().token_endpoint_auth_methods_supported;
  assert.deepEqual(methods, ['private_key_jwt', 'tls_client_auth', 'self_signed_tls_client_auth']);
  const pkceCodeVerifier = client.randomPKCECodeVerifier();
  const request = {
    redirect_uri: CALLBACK,
    scope: 'openid offline_access',
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
  };
  const url = await client.buildAuthorizationUrlWithPAR(config, request);
  const browser = new UserAgent(service.baseUrl);
  const arrived = await browser.signIn(await browser.visit(url), user);
  const tokens = await client.authorizationCodeGrant(config, arrived.url, { pkceCodeVerifier });
  assert.deepEqual(decodeJwt(tokens.access_token).cnf, { 'x5t#S256': thumbprint(CERTIFICATE) });
  const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token ?? '');
  assert.equal(refreshed.refresh_token ?? tokens.refresh_token, tokens.refresh_token, 'refresh tokens are not rotated');
  assert.equal((await client.fetchUserInfo(config, refreshed.access_token, user.id)).sub, user.id);

  shown = SELF_SIGNED;
  const unproven = ({ cause }: client.WWWAuthenticateChallengeError) => /invalid_client/.test(JSON.stringify(cause));
  await assert.rejects(client.buildAuthorizationUrlWithPAR(config, request), unproven);
  await assert.rejects(client.refreshTokenGrant(config, tokens.refresh_token ?? ''), unproven);
  await assert.rejects(client.fetchUserInfo(config, refreshed.access_token, user.id), 'stolen, with another certificate');
});

test('oauth4webapi: a machine authenticates by its certificate at the alias, and its token is bound to it', async (t) => {
  const service = await behindProxy(t, { MTLS_BASE_URL: 'https://mtls.example' });
  const { clientId } = await machineBy(service, { ...bound, tls_client_auth_san_dns: 'client.bank.example' });
  const called: string[] = [];
  const options = {
    [oauth.allowInsecureRequests]: true,
    [oauth.customFetch]: (address: string, init: object) => {
      const { host, pathname } = new URL(address);
      called.push(host);
      const { headers } = init as { headers: Record<string, string> };
      const shown = host === 'mtls.example' ? { ...headers, 'client-cert': header(CERTIFICATE) } : headers;
      return fetch(new URL(pathname, service.listensAt), { ...init, headers: shown });
    },
  };
  const issuer = new URL(service.issuer('default'));
  const server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, options));
  const machine: oauth.Client = { client_id: clientId, use_mtls_endpoint_aliases: true };
  const by = oauth.TlsClientAuth();
  const granted = await oauth.clientCredentialsGrantRequest(server, machine, by, new URLSearchParams(), options);
  const { access_token: token } = await oauth.processClientCredentialsResponse(server, machine, granted);
  const told = await oauth.processIntrospectionResponse(
    server,
    machine,
    await oauth.introspectionRequest(server, machine, by, token, options),
  );
  assert.deepEqual(told.cnf, { 'x5t#S256': thumbprint(CERTIFICATE) });
  assert.deepEqual(called.slice(1), ['mtls.example', 'mtls.example']);
});

test('a public application: its refresh token is bound to the certificate; without one there are no tokens at all', async (t) => {
  const service = await behindProxy(t);
  const native = await createClient(service, { application_type: 'browser', ...bound });
  const proof = verifier();
  const browser = new UserAgent(service.baseUrl);
  const parameters = { client_id: native.clientId, scope: 'openid offline_access', code_challenge: challengeOf(proof) };
  const arrived = await browser.signIn(await browser.visit(authorizeUrl(service, 'default', parameters)), await service.createUser());
  const grant = {
    grant_type: 'authorization_code',
    client_id: native.clientId,
    code: answerOf(arrived).code ?? '',
    redirect_uri: CALLBACK,
    code_verifier: proof,
  };
  assert.equal((await post(service, 'token', grant)).body.error, 'invalid_grant');
  const { body } = await post(service, 'token', grant, { 'client-cert': header(SELF_SIGNED) });
  const refresh = { grant_type: 'refresh_token', client_id: native.clientId, refresh_token: body.refresh_token };
  for (const headers of [{}, { 'client-cert': header(CERTIFICATE) }]) {
    const stolen = await post(service, 'token', refresh, headers as Record<string, string>);
    assert.deepEqual([stolen.status, stolen.body.error], [400, 'invalid_grant']);
  }
  assert.equal((await post(service, 'token', refresh, { 'client-cert': header(SELF_SIGNED) })).status, 200);
});

test('settings that contradict each other are refused by name', async (t) => {
  const service = await startService(t);
  for (const [settings, method, field] of [
    [{}, 'tls_client_auth', 'tls_client_auth_subject_dn'],
    [{ tls_client_auth_subject_dn: DN, tls_client_auth_san_dns: 'a.example' }, 'tls_client_auth', 'tls_client_auth_subject_dn'],
    [{ tls_client_auth_san_dns: 'a.example' }, 'client_secret_basic', 'tls_client_auth_san_dns'],
    [{}, 'self_signed_tls_client_auth', 'jwks'],
    [{ ...bound, dpop_bound_access_tokens: true }, 'client_secret_basic', 'tls_client_certificate_bound_access_tokens'],
    [{ tls_client_auth_subject_dn: 'nonsense' }, 'tls_client_auth', 'tls_client_auth_subject_dn'],
  ] as const) {
    const { status, body } = await service.api('POST', '/apps', {
      name: 'oidc_client',
      label: 'Machine',
      signOnMode: 'OPENID_CONNECT',
      credentials: { oauthClient: { token_endpoint_auth_method: method } },
      settings: { oauthClient: { application_type: 'service', ...settings } },
    });
    assert.equal(status, 400, JSON.stringify([settings, method]));
    assert.match(JSON.stringify(body.errorCauses ?? body), new RegExp(field));
  }
});

test('an authority counts in its time, and a certificate for what it was issued for (RFC 5280 sections 4.1.2.5 and 4.2.1.12); the doctor tells', async (t) => {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'gatehouse-mtls-')), 'ca.pem');
  writeFileSync(file, pem(SECOND_AUTHORITY) + pem(FORMER_AUTHORITY));
  const service = await behindProxy(t, { MTLS_CA_FILE: file });
  const { clientId } = await machineBy(service, { tls_client_auth_subject_dn: 'CN=client,O=Bank,C=DE' });
  assert.equal((await ask(service, clientId, header(OF_SECOND))).status, 200);
  for (const [what, der] of [
    ['of an authority that is over', OF_FORMER],
    ['for servers', FOR_SERVERS],
    ['the authority itself', SECOND_AUTHORITY],
  ] as const)
    assert.equal((await ask(service, clientId, header(der))).status, 401, what);

  const own = { DATABASE_URL: service.database.url, SECRET_KEY: STARTED.SECRET_KEY, BASE_URL: service.baseUrl };
  const examined = async (env: Record<string, string>) => {
    const { output, ended } = runCommand(t, 'doctor', { ...own, ...env });
    await ended;
    const lineOf = (id: string) => output.stdout.split('\n').find((line) => line.includes(`  ${id}: `)) ?? output.stdout;
    return { ...outcomes(output.stdout), lineOf };
  };
  const mtls = { TRUST_PROXY: '1', MTLS_HEADER: 'Client-Cert' };
  const former = await examined({ ...mtls, MTLS_CA_FILE: file });
  assert.ok(former.FAIL.includes('mutual-tls.authorities'));
  assert.match(former.lineOf('mutual-tls.authorities'), /Former CA has expired on/);
  assert.ok(former.ok.includes('mutual-tls.applications'));
  writeFileSync(file, pem(SECOND_AUTHORITY));
  assert.ok((await examined({ ...mtls, MTLS_CA_FILE: file })).ok.includes('mutual-tls.authorities'));
  writeFileSync(file, pem(OF_SECOND));
  assert.match(
    (await examined({ ...mtls, MTLS_CA_FILE: file })).lineOf('mutual-tls.authorities'),
    /is not the certificate of an authority/,
  );
  for (const [env, words] of [
    [mtls, /Set MTLS_CA_FILE/],
    [{}, /Set MTLS_HEADER/],
  ] as const)
    assert.match((await examined(env)).lineOf('mutual-tls.applications'), words);
});
