/** Authorization responses as signed JWTs (JARM, JWT Secured Authorization Response Mode for OAuth 2.0). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import * as oauth from 'oauth4webapi';
import * as client from 'openid-client';
import { startService } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';
import { answerOf, authorizeUrl, CALLBACK, createClient } from '../servers/relying-party.ts';

for (const serverId of ['built-in', 'default']) {
  for (const [mode, alg] of [
    ['jwt', 'RS256'],
    ['fragment.jwt', 'ES256'],
  ] as const) {
    test(`openid-client takes a response of mode ${mode} signed with ${alg}: ${serverId} server`, async (t) => {
      const service = await startService(t);
      const user = await service.createUser();
      const settings = { authorization_signed_response_alg: alg };
      const { clientId, clientSecret } = await createClient(service, settings);
      const metadata = { authorization_signed_response_alg: alg };
      const config = await client.discovery(
        new URL(service.issuer(serverId)),
        clientId,
        metadata,
        client.ClientSecretBasic(clientSecret ?? ''),
        {
          execute: [client.allowInsecureRequests, client.useJwtResponseMode],
        },
      );
      const pkceCodeVerifier = client.randomPKCECodeVerifier();
      const expectedState = client.randomState();
      const url = client.buildAuthorizationUrl(config, {
        redirect_uri: CALLBACK,
        scope: 'openid',
        state: expectedState,
        code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
        code_challenge_method: 'S256',
      });
      url.searchParams.set('response_mode', mode);
      const browser = new UserAgent(service.baseUrl);
      const arrived = await browser.signIn(await browser.visit(url), user);
      assert.deepEqual(Object.keys(answerOf(arrived)), ['response']);
      assert.equal(decodeProtectedHeader(answerOf(arrived).response ?? '').alg, alg);
      // The library reads a response of this mode from the query.
      const callback = new URL(`${CALLBACK}?${new URLSearchParams(answerOf(arrived))}`);
      const tokens = await client.authorizationCodeGrant(config, callback, { pkceCodeVerifier, expectedState });
      assert.equal(tokens.claims()?.sub, user.id);
    });
  }
}

test('oauth4webapi reads an error that is signed, and refuses one that was changed or is for another application', async (t) => {
  const service = await startService(t);
  const created = await createClient(service);
  const insecure = { [oauth.allowInsecureRequests]: true };
  const issuer = new URL(service.issuer('built-in'));
  const server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure));
  const request = authorizeUrl(service, 'built-in', {
    client_id: created.clientId,
    response_mode: 'query.jwt',
    scope: 'nonsense',
    state: 'mine',
  });
  const { url } = await new UserAgent(service.baseUrl).visit(request);
  const read = (address: URL, clientId = created.clientId) =>
    oauth.validateJwtAuthResponse(server, { client_id: clientId }, address, 'mine', insecure);
  await assert.rejects(read(url), (thrown) => (thrown as { error?: string }).error === 'invalid_scope');
  await assert.rejects(read(url, 'another'), (thrown) => (thrown as { error?: string }).error === undefined);
  const changed = new URL(url);
  changed.searchParams.set(
    'response',
    (url.searchParams.get('response') ?? '').replace(/\.([^.]+)\./, (_, body: string) => `.${body.slice(0, -4)}AAAA.`),
  );
  await assert.rejects(read(changed), (thrown) => (thrown as { error?: string }).error === undefined);
});

test('form_post.jwt is a page like every other, with the response alone; tokens never reach the query', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const settings = { grant_types: ['authorization_code', 'implicit'], response_types: ['code', 'code id_token'] };
  const { clientId } = await createClient(service, settings);
  const browser = new UserAgent(service.baseUrl);
  const request = (parameters: Record<string, string>) => authorizeUrl(service, 'built-in', { client_id: clientId, ...parameters });
  const page = await browser.signIn(await browser.visit(request({ response_mode: 'form_post.jwt' })), user);
  const keys = createRemoteJWKSet(new URL(`${service.issuer('built-in')}/keys`));
  const responseOf = async ({ text }: Page) => {
    const fields = [...text.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)];
    assert.deepEqual(
      fields.map(([, name]) => name),
      ['response'],
    );
    const { payload } = await jwtVerify(fields[0]?.[2] ?? '', keys, { issuer: service.issuer('built-in'), audience: clientId });
    return payload;
  };
  assert.match(page.text, new RegExp(`<form id="form-post" method="post" action="${CALLBACK}">`));
  assert.doesNotMatch(page.text, /<script>|style=/);
  const { code, state, exp = 0 } = await responseOf(page);
  assert.deepEqual([typeof code, state], ['string', 'some-state']);
  assert.ok(exp <= Date.now() / 1000 + 121);
  const failed = await responseOf(await browser.visit(request({ response_mode: 'form_post.jwt', scope: 'nonsense' })));
  assert.deepEqual([failed.error, failed.state], ['invalid_scope', 'some-state']);

  const hybrid = await browser.visit(request({ response_type: 'code id_token', response_mode: 'jwt' }));
  assert.deepEqual([hybrid.url.search, Object.keys(answerOf(hybrid))], ['', ['response']]);
  const inQuery = await browser.visit(request({ response_type: 'code id_token', response_mode: 'query.jwt' }));
  assert.doesNotMatch(inQuery.url.search, /code=|id_token=/);
});
