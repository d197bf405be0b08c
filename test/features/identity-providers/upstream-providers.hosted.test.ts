/** A second instance of this service is the provider (OpenID Connect Core 1.0); without JavaScript. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, authorizeUrl, CALLBACK, createClient } from '../../protocol/servers/relying-party.ts';
import { type Service, startService } from '../../support/service.ts';
import { createIdp, followRefresh, isAdmitted, linkTo } from '../../support/upstream.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';

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
  const done = await followRefresh(here, await here.visit(step.url));
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
    assert.ok(isAdmitted(await followRefresh(anew, await anew.visit(back.url))));
  });

  await t.test('the user says no there: access_denied, told here', async () => {
    const anew = new UserAgent(service.baseUrl);
    const stranger = new UserAgent(upstream.baseUrl);
    const out = (await anew.visit(authorizeUrl(service, 'default', { client_id: client.clientId, idp }))).url;
    const shown = await stranger.visit(out);
    const [, cancel = ''] = /action="([^"]*\/cancel[^"]*)"/.exec(shown.text) ?? [];
    const cancelled = await stranger.visit(cancel.replaceAll('&amp;', '&'), { method: 'POST', headers: { origin: upstream.baseUrl } });
    const told = await followRefresh(anew, await anew.visit(cancelled.url));
    assert.match(told.text, /upstream_denied/);
  });
});
