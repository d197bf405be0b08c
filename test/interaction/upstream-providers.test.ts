/** Real providers: a second instance of this service, and a bare oidc-provider with settings of its own (OpenID Connect Core 1.0); without JavaScript. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exportJWK, generateKeyPair } from 'jose';
import { type Configuration, Provider } from 'oidc-provider';
import { answerOf, authorizeUrl, CALLBACK, createClient } from '../oauth/relying-party.ts';
import { listen } from '../support/listen.ts';
import { type Service, startService } from '../support/service.ts';
import { createIdp, goOn, linkTo } from '../support/upstream.ts';
import { type Page, UserAgent } from '../support/user-agent.ts';

const env = { ALLOW_PRIVATE_NETWORK: 'true' };

/** Makes one service an application of another one, which is its identity provider then. */
async function trust(service: Service, upstream: Service, more: Record<string, unknown> = {}): Promise<string> {
  const settings = { redirect_uris: ['https://not-yet.example/'], response_types: ['code'], ...more };
  const { clientId, clientSecret } = await upstream.createApp(settings);
  const idp = await createIdp(service, {
    name: 'Head office',
    type: 'OIDC',
    protocol: {
      issuer: { url: upstream.issuer('default') },
      credentials: { client: { client_id: clientId, client_secret: clientSecret } },
    },
    policy: { provisioning: { action: 'AUTO' }, subject: { userNameTemplate: { template: 'idpuser.name' } } },
  });
  const redirectUri = (await service.api('GET', `/idps/${idp}`)).body._links.clientRedirectUri.href;
  const app = (await upstream.api('GET', `/apps/${clientId}`)).body;
  app.settings.oauthClient.redirect_uris = [redirectUri];
  assert.equal((await upstream.api('PUT', `/apps/${clientId}`, app)).status, 200);
  return idp;
}

test('a second instance of this service is the provider: its sign-in page, its consent, and back', async (t) => {
  const [service, upstream] = [await startService(t, { env }), await startService(t)];
  const idp = await trust(service, upstream, { consent_method: 'REQUIRED' });
  const user = await upstream.createUser({ email: 'ada@head.example', firstName: 'Ada', displayName: 'Ada of Head Office' });
  const client = await createClient(service);
  const here = new UserAgent(service.baseUrl);
  const there = new UserAgent(upstream.baseUrl);

  const page = await here.visit(authorizeUrl(service, 'default', { client_id: client.clientId }));
  const { url } = await here.visit(linkTo(page, idp));
  let step: Page = await there.visit(url);
  step = await there.signIn(step, user);
  if (step.text.includes('id="consent"')) step = await there.submit(step, 'consent', { decision: 'allow' });
  assert.equal(step.url.origin, service.baseUrl, step.text);
  const done = await goOn(here, await here.visit(step.url));
  assert.ok(done.url.href.startsWith(CALLBACK), done.text);
  assert.ok(answerOf(done).code !== undefined);
  const found = (await service.api('GET', '/users/Ada%20of%20Head%20Office')).body;
  assert.equal((await service.api('GET', `/idps/${idp}/users/${found.id}`)).body.externalId, user.id);
  assert.equal(found.profile.firstName, 'Ada');
  assert.equal(found.profile.email, undefined, 'which it has not verified');

  await t.test('its key is rotated, and the next sign-in works (OpenID Connect Core section 10.1.1)', async () => {
    const rotated = await upstream.api('POST', '/authorizationServers/default/credentials/lifecycle/keyRotate', { use: 'sig' });
    assert.equal(rotated.status, 200);
    const anew = new UserAgent(service.baseUrl);
    const out = (await anew.visit(authorizeUrl(service, 'default', { client_id: client.clientId, idp }))).url;
    const back = await there.visit(out);
    assert.equal(back.url.origin, service.baseUrl, 'its session answers by itself');
    assert.ok(answerOf(await goOn(anew, await anew.visit(back.url))).code !== undefined);
  });

  await t.test('the user says no there: access_denied, told here', async () => {
    const anew = new UserAgent(service.baseUrl);
    const stranger = new UserAgent(upstream.baseUrl);
    const out = (await anew.visit(authorizeUrl(service, 'default', { client_id: client.clientId, idp }))).url;
    const shown = await stranger.visit(out);
    const [, cancel = ''] = /action="([^"]*\/cancel[^"]*)"/.exec(shown.text) ?? [];
    const cancelled = await stranger.visit(cancel.replaceAll('&amp;', '&'), { method: 'POST', headers: { origin: upstream.baseUrl } });
    const told = await goOn(anew, await anew.visit(cancelled.url));
    assert.match(told.text, /upstream_denied/);
  });
});

test('a bare oidc-provider: form_post, ES256, no userinfo, client_secret_post', async (t) => {
  const service = await startService(t, { env });
  const secret = 'a-secret-of-the-bare-provider-0123456789';
  const key = {
    ...(await exportJWK((await generateKeyPair('ES256', { extractable: true })).privateKey)),
    alg: 'ES256',
    use: 'sig',
    kid: 'es',
  };
  let handle: ReturnType<Provider['callback']> | undefined;
  let provider: Provider | undefined;
  const origin = await listen(t, '127.0.0.1', (req, res) => {
    const uid = /^\/there\/(.+)$/.exec(req.url ?? '')?.[1];
    if (uid === undefined || provider === undefined) return void handle?.(req, res);
    // Signs whoever comes in at once, and consents for him.
    const bare = provider;
    (async () => {
      const { params, prompt } = await bare.interactionDetails(req, res);
      if (prompt.name === 'login') return bare.interactionFinished(req, res, { login: { accountId: 'bare-subject', amr: ['pwd', 'mfa'] } });
      const grant = new bare.Grant({ accountId: 'bare-subject', clientId: String(params.client_id) });
      grant.addOIDCScope(String(params.scope));
      return bare.interactionFinished(req, res, { consent: { grantId: await grant.save() } });
    })().catch((error: unknown) => res.writeHead(500).end(String(error)));
  });
  const idp = await createIdp(service, {
    name: 'Bare',
    type: 'OIDC',
    protocol: {
      issuer: { url: origin },
      settings: { authorizationParameters: { audience: 'none' } },
      credentials: { client: { client_id: 'us', client_secret: secret, token_endpoint_auth_method: 'client_secret_post' } },
    },
    policy: { provisioning: { action: 'AUTO' } },
  });
  const redirectUri = (await service.api('GET', `/idps/${idp}`)).body._links.clientRedirectUri.href;
  const configuration: Configuration = {
    clients: [
      {
        client_id: 'us',
        client_secret: secret,
        redirect_uris: [redirectUri],
        response_types: ['code'],
        token_endpoint_auth_method: 'client_secret_post',
        id_token_signed_response_alg: 'ES256',
        default_max_age: 600,
      },
    ],
    jwks: { keys: [key as never] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    conformIdTokenClaims: false,
    features: { devInteractions: { enabled: false }, userinfo: { enabled: false } },
    interactions: { url: (_ctx, { uid }) => `/there/${uid}` },
    findAccount: async (_ctx, id) => ({
      accountId: id,
      claims: async () => ({ sub: id, email: 'bare@example.com', email_verified: true, name: 'Bare' }),
    }),
  };
  provider = new Provider(origin, configuration);
  handle = provider.callback();

  const client = await createClient(service);
  const here = new UserAgent(service.baseUrl);
  const out = (await here.visit(authorizeUrl(service, 'default', { client_id: client.clientId, idp }))).url;
  assert.equal(out.searchParams.get('audience'), 'none');
  out.searchParams.set('response_mode', 'form_post');
  const there = new UserAgent(origin);
  const posted = await there.visit(out);
  const [, action = ''] = /action="([^"]*)"/.exec(posted.text) ?? [];
  assert.equal(action, redirectUri, posted.text);
  const fields = [...posted.text.matchAll(/name="([^"]*)" value="([^"]*)"/g)].map(([, name = '', value = '']): [string, string] => [
    name,
    value,
  ]);
  const body = new URLSearchParams(fields);
  const answered = await fetch(action, { method: 'POST', body, headers: { origin, 'sec-fetch-site': 'cross-site' }, redirect: 'manual' });
  assert.equal(answered.status, 200);
  const page: Page = { url: new URL(action), status: 200, headers: answered.headers, text: await answered.text() };
  assert.match(page.text, /id="continue"/, 'a link, where the browser does not go on by itself');
  const done = await goOn(here, page);
  assert.ok(answerOf(done).code !== undefined, done.text);
  const user = (await service.api('GET', '/users/bare@example.com')).body;
  assert.equal(user.profile.displayName, 'Bare');
});
