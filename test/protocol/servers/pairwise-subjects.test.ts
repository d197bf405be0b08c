/** Pairwise subjects (OpenID Connect Core section 8.1): each sector knows a user by a subject of its own, and the service finds the user again by each. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { decodeJwt } from 'jose';
import * as client from 'openid-client';
import { documentHost } from '../../support/https-host.ts';
import { type Service, startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { receiver } from '../logout/logout-receiver.ts';
import { answerOf, authorizeUrl, CALLBACK, createClient, post, SIGNED_OUT, type TestClient, tokensFor, userinfo } from './relying-party.ts';

const PAIRWISE = { subject_type: 'pairwise' };
const OTHER = 'https://other.example/callback';

async function start(t: TestContext) {
  const service = await startService(t, { env: { ALLOW_PRIVATE_NETWORK: 'true' }, sendsOutbox: true });
  return { service, user: await service.createUser(), browser: new UserAgent(service.baseUrl) };
}

/** The subject by which an application knows the user. */
async function subjectAt(service: Service, user: { login: string; password: string }, owner: TestClient, redirect_uri = CALLBACK) {
  const url = authorizeUrl(service, 'built-in', { client_id: owner.clientId, redirect_uri });
  const browser = new UserAgent(service.baseUrl);
  const { code = '' } = answerOf(await browser.signIn(await browser.visit(url), user));
  const { body } = await post(service, 'built-in', 'token', owner, { grant_type: 'authorization_code', code, redirect_uri });
  return decodeJwt(body.id_token).sub;
}

for (const serverId of ['built-in', 'default']) {
  test(`openid-client: ID token, userinfo, introspection, refresh, hint, claims request, sign-out, back-channel logout, password grant: ${serverId} server`, async (t) => {
    const { service, user, browser } = await start(t);
    const logout = await receiver(t);
    const grants = { grant_types: ['authorization_code', 'refresh_token', 'password'] };
    const owner = await createClient(service, { ...PAIRWISE, ...grants, backchannel_logout_uri: logout.uri });
    const api = await createClient(service);
    const tokens = (await tokensFor(service, browser, user, owner, { serverId })).body;
    const subject = String(decodeJwt(tokens.id_token).sub);
    assert.match(subject, /^pw:[\w-]{40,}$/);
    assert.doesNotMatch(JSON.stringify([decodeJwt(tokens.id_token), tokens.access_token]), new RegExp(user.id));
    if (serverId === 'default') assert.equal(decodeJwt(tokens.access_token).sub, subject);

    const execute = [client.allowInsecureRequests];
    const authentication = client.ClientSecretBasic(owner.clientSecret ?? '');
    const config = await client.discovery(new URL(service.issuer(serverId)), owner.clientId, {}, authentication, { execute });
    assert.deepEqual(config.serverMetadata().subject_types_supported, ['public', 'pairwise']);
    assert.equal((await client.fetchUserInfo(config, tokens.access_token, subject)).sub, subject);
    // The short way, and the library's.
    const told = await userinfo(service, serverId, tokens.access_token);
    const long = await fetch(`${service.issuer(serverId)}/userinfo?library`, {
      headers: { authorization: `Bearer ${tokens.access_token}` },
    });
    assert.deepEqual(await long.json(), told.body);
    for (const token of [tokens.access_token, tokens.refresh_token, tokens.id_token]) {
      for (const asking of [owner, api]) {
        for (const endpoint of ['introspect', 'introspect?library']) {
          const { body } = await post(service, serverId, endpoint, asking, { token });
          assert.deepEqual([body.active, body.sub, body.uid, body.username], [true, subject, undefined, undefined]);
          assert.doesNotMatch(JSON.stringify(body), new RegExp(user.id));
        }
      }
    }
    const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token);
    assert.equal(refreshed.claims()?.sub, subject);
    const form = { grant_type: 'password', username: user.login, password: user.password, scope: 'openid' };
    const byPassword = await post(service, serverId, 'token', owner, form);
    assert.equal(decodeJwt(byPassword.body.id_token).sub, subject);

    // Hints name the user of the session; a claims request does, too.
    const silent = { client_id: owner.clientId, prompt: 'none' };
    const hint = authorizeUrl(service, serverId, { ...silent, id_token_hint: tokens.id_token });
    assert.ok(answerOf(await browser.visit(hint)).code);
    const asked = (value: string) => JSON.stringify({ id_token: { sub: { value } } });
    assert.ok(answerOf(await browser.visit(authorizeUrl(service, serverId, { ...silent, claims: asked(subject) }))).code);
    const another = answerOf(await browser.visit(authorizeUrl(service, serverId, { ...silent, claims: asked(user.id) })));
    assert.equal(another.error, 'login_required');
    const stranger = await service.createUser();
    const elsewhere = (await tokensFor(service, new UserAgent(service.baseUrl), stranger, owner, { serverId })).body;
    assert.notEqual(decodeJwt(elsewhere.id_token).sub, subject);
    const foreign = authorizeUrl(service, serverId, { ...silent, id_token_hint: elsewhere.id_token });
    assert.equal(answerOf(await browser.visit(foreign)).error, 'login_required');

    const out = new URL(`${service.issuer(serverId)}/logout`);
    out.search = String(new URLSearchParams({ id_token_hint: tokens.id_token, post_logout_redirect_uri: SIGNED_OUT }));
    assert.equal((await browser.visit(out)).url.href, SIGNED_OUT, 'the hint is of the user of the session: nobody is asked');
    const [logoutToken = ''] = await logout.received(1);
    assert.equal(decodeJwt(logoutToken).sub, subject);

    assert.equal((await service.api('POST', `/users/${user.id}/lifecycle/deactivate`)).status < 300, true);
    const { body: gone } = await post(service, serverId, 'introspect', owner, { token: refreshed.id_token ?? '' });
    assert.deepEqual(gone, { active: false }, 'the user behind the subject is not active');
  });
}

test('applications of one host or one sector document share subjects; others do not; the simulator tells the subject; a change of the type is in the audit log', async (t) => {
  const { service, user } = await start(t);
  const host = await documentHost(t);
  const sector = host.publish('/sector', {}, { body: JSON.stringify([CALLBACK, OTHER]) });
  const [one, same, other, shared, ordinary] = [
    await createClient(service, PAIRWISE),
    await createClient(service, PAIRWISE),
    await createClient(service, { ...PAIRWISE, redirect_uris: [OTHER] }),
    await createClient(service, { ...PAIRWISE, redirect_uris: [CALLBACK, OTHER], sector_identifier_uri: sector }),
    await createClient(service),
  ];
  const subject = await subjectAt(service, user, one);
  assert.equal(await subjectAt(service, user, same), subject);
  assert.equal(await subjectAt(service, user, ordinary), user.id);
  const atOther = await subjectAt(service, user, other, OTHER);
  const atShared = await subjectAt(service, user, shared);
  assert.equal(new Set([subject, atOther, atShared, user.id]).size, 4);
  const again = await createClient(service, { ...PAIRWISE, redirect_uris: [OTHER], sector_identifier_uri: sector });
  assert.equal(await subjectAt(service, user, again, OTHER), atShared);

  const request = { client_id: one.clientId, user: user.id, grant_type: 'authorization_code', scopes: ['openid'] };
  const { body: simulated } = await service.api('POST', '/authorizationServers/built-in/simulate', request);
  assert.match(JSON.stringify(simulated.tokens ?? simulated), new RegExp(String(subject)));

  const { body: app } = await service.api('GET', `/apps/${ordinary.clientId}`);
  assert.equal(app.settings.oauthClient.subject_type, 'public');
  const oauthClient = { ...app.settings.oauthClient, ...PAIRWISE };
  const changed = await service.api('PUT', `/apps/${ordinary.clientId}`, { label: app.label, settings: { oauthClient } });
  assert.equal(changed.body.settings.oauthClient.subject_type, 'pairwise');
  assert.equal(await subjectAt(service, user, ordinary), subject);
  const { body: events } = await service.api('GET', `/logs?filter=${encodeURIComponent('eventType eq "application.lifecycle.update"')}`);
  assert.match(JSON.stringify(events), /pairwise/);
});

test('what has no sector is refused with the setting; a sector document is fetched by the guarded client and must name every redirect URI', async (t) => {
  const { service } = await start(t);
  const host = await documentHost(t);
  const save = async (oauthClient: Record<string, unknown>) => {
    const settings = { oauthClient: { redirect_uris: [CALLBACK], ...oauthClient } };
    const { status, body } = await service.api('POST', '/apps', { label: 'App', settings });
    return { status, text: JSON.stringify(body) };
  };
  const device = 'urn:ietf:params:oauth:grant-type:device_code';
  for (const [settings, words] of [
    [{ ...PAIRWISE, redirect_uris: [CALLBACK, OTHER] }, /sector_identifier_uri: is required/],
    [{ ...PAIRWISE, application_type: 'native', redirect_uris: ['app.example:/callback'] }, /sector_identifier_uri: is required/],
    [{ ...PAIRWISE, application_type: 'service', redirect_uris: [] }, /sector_identifier_uri: is required/],
    [{ ...PAIRWISE, grant_types: [device], response_types: [], redirect_uris: [] }, /jwks_uri: is required/],
    [{ sector_identifier_uri: `${host.origin}/sector` }, /requires subject_type pairwise/],
    [{ ...PAIRWISE, sector_identifier_uri: 'http://localhost/sector' }, /must begin with https:/],
    [{ ...PAIRWISE, sector_identifier_uri: `${host.origin}/nothing` }, /must be a public URL/],
    [{ ...PAIRWISE, sector_identifier_uri: host.publish('/object') }, /must be a public URL/],
    [
      { ...PAIRWISE, sector_identifier_uri: host.publish('/others', {}, { body: JSON.stringify([OTHER]) }) },
      /contains https:\/\/app\.example/,
    ],
  ] as const) {
    const { status, text } = await save(settings);
    assert.equal(status, 400, text);
    assert.match(text, words);
  }
  const right = host.publish('/right', {}, { body: JSON.stringify([CALLBACK, OTHER]) });
  const created = await service.createApp({ redirect_uris: [CALLBACK], ...PAIRWISE, sector_identifier_uri: right });
  // A redirect URI that the document does not name is refused later, too.
  const { body: app } = await service.api('GET', `/apps/${created.clientId}`);
  const oauthClient = { ...app.settings.oauthClient, redirect_uris: [CALLBACK, 'https://third.example/callback'] };
  const more = await service.api('PUT', `/apps/${created.clientId}`, { label: app.label, settings: { oauthClient } });
  assert.equal(more.status, 400);
  assert.match(JSON.stringify(more.body), /third\.example/);

  const guarded = await startService(t);
  const settings = { oauthClient: { redirect_uris: [CALLBACK], ...PAIRWISE, sector_identifier_uri: right } };
  assert.equal((await guarded.api('POST', '/apps', { label: 'App', settings })).status, 400, 'the address is of this machine');
});
