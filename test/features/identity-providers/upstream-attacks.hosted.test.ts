/** What an answer of an external provider must not be taken for: RFC 9700 sections 4.4 (mix-up), 4.5 (replay), 4.7 (CSRF); RFC 9207; OpenID Connect Core 1.0 section 3.1.3.7. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, authorizeUrl, CALLBACK, createClient } from '../../protocol/servers/relying-party.ts';
import { startService } from '../../support/service.ts';
import { withTimings } from '../../support/short-waits.ts';
import { createIdp, followRefresh, idpBody, linkTo, problemOf, signInAt, startUpstream } from '../../support/upstream.ts';
import { UserAgent } from '../../support/user-agent.ts';

const env = { ALLOW_PRIVATE_NETWORK: 'true' };
const atApplication = (url: URL) => url.href.startsWith(CALLBACK);

test('answers of a provider that are not what they must be', async (t) => {
  const service = await startService(t, { env });
  const upstream = await startUpstream(t);
  const idp = await createIdp(service, idpBody(upstream));
  const client = await createClient(service);
  const request = (parameters: Record<string, string> = {}) =>
    authorizeUrl(service, 'default', { client_id: client.clientId, ...parameters });
  const reset = { ...upstream.behaviour };

  /** @returns the browser, and the address that the provider sends it back to */
  async function atRedirectUri(agent = new UserAgent(service.baseUrl), at = idp): Promise<{ agent: UserAgent; back: URL }> {
    const page = await agent.visit(request());
    const { url } = await agent.visit(linkTo(page, at));
    const response = await fetch(url, { redirect: 'manual' });
    return { agent, back: new URL(response.headers.get('location') ?? '') };
  }
  const attempt = async () => signInAt(new UserAgent(service.baseUrl), request(), idp);

  const lies: [name: string, behaviour: Partial<typeof upstream.behaviour>, code: string][] = [
    ['a signature by a key that is not the provider’s', { foreignKey: true }, 'upstream_untrusted'],
    ['another issuer in the ID token', { idToken: { iss: 'https://evil.example' } }, 'upstream_untrusted'],
    ['an ID token for another client', { idToken: { aud: 'another-client' } }, 'upstream_untrusted'],
    ['an expired ID token', { idToken: { exp: Math.floor(Date.now() / 1000) - 120 } }, 'upstream_untrusted'],
    ['another nonce', { idToken: { nonce: 'of-another-request' } }, 'upstream_untrusted'],
    ['no nonce', { idToken: { nonce: undefined } as never }, 'upstream_untrusted'],
    ['iss of another issuer in the response (RFC 9207)', { responseIssuer: 'https://evil.example' }, 'upstream_untrusted'],
    ['a user who gave up', { error: 'access_denied', errorDescription: '<img src=x onerror=alert(1)>' }, 'upstream_denied'],
    ['an error of the provider', { error: 'server_error', errorDescription: '<img src=x onerror=alert(1)>' }, 'upstream_refused'],
    ['an error that is markup', { error: '<img src=x>' }, 'upstream_refused'],
    ['no e-mail address that could be a login', { claims: {}, subject: 'without' }, 'upstream_no_email'],
    [
      'an e-mail address that is not verified',
      { claims: { email: 'mallory@example.com', email_verified: false }, subject: 'unverified' },
      'upstream_no_email',
    ],
    ['nobody answers', { down: true }, 'upstream_unreachable'],
  ];
  for (const [name, behaviour, code] of lies) {
    await t.test(`${name}: told in plain words, with the way back, and nobody is signed in`, async () => {
      const agent = new UserAgent(service.baseUrl);
      const { back } = await (async () => {
        Object.assign(upstream.behaviour, behaviour, { down: false });
        return atRedirectUri(agent);
      })();
      Object.assign(upstream.behaviour, behaviour);
      const page = await followRefresh(agent, await agent.visit(back));
      Object.assign(upstream.behaviour, { error: undefined, errorDescription: undefined, responseIssuer: undefined }, reset);
      assert.equal(problemOf(page), code, page.text);
      assert.ok(!page.text.includes('<img src=x'));
      assert.match(page.text, /Acme &lt;b&gt;Login|other service/);
      const returned = await agent.submit(page, 'cancel-form');
      assert.equal(answerOf(returned).error, 'access_denied');
      assert.equal(answerOf(returned).state, 'some-state');
    });
  }

  await t.test('a foreign browser can do nothing with an answer (login CSRF, RFC 9700 section 4.7)', async () => {
    const { agent, back } = await atRedirectUri();
    const victim = new UserAgent(service.baseUrl);
    const refused = await followRefresh(victim, await victim.visit(back));
    assert.equal(refused.status, 403);
    assert.equal(problemOf(refused), 'interaction_elsewhere');
    // Also with a sign-in of its own under way.
    const { agent: other, back: its } = await atRedirectUri();
    const mixed = new URL(its);
    mixed.searchParams.set('code', back.searchParams.get('code') ?? '');
    assert.notEqual(
      (await followRefresh(other, await other.visit(mixed))).url.origin,
      new URL(CALLBACK).origin,
      'PKCE binds the code to its request',
    );
    assert.ok(atApplication((await followRefresh(agent, await agent.visit(back))).url), 'and the right browser has lost nothing');
  });

  await t.test('an answer of one interaction is worth nothing in another one of the same browser', async () => {
    const { agent, back } = await atRedirectUri();
    const next = new URL((await agent.visit(back)).headers.get('refresh')?.replace('0;url=', '') ?? '', service.baseUrl);
    const other = (await agent.visit(request())).url;
    next.pathname = `${other.pathname}/upstream`;
    assert.equal(problemOf(await agent.visit(next)), 'upstream_over');
  });

  await t.test('an answer counts once: of twenty at once one succeeds (RFC 9700 section 4.5)', async () => {
    const { agent, back } = await atRedirectUri();
    const page = await agent.visit(back);
    const windows = Array.from({ length: 20 }, () => agent.window());
    const tokensAsked = upstream.calls.get('/token') ?? 0;
    const outcomes = await Promise.all(windows.map((window) => followRefresh(window, page)));
    assert.equal(outcomes.filter(({ url }) => atApplication(url) && url.searchParams.has('code')).length, 1);
    assert.equal(upstream.calls.get('/token'), tokensAsked + 1);
  });

  await t.test('of twenty first sign-ins of one subject at once comes one user', async () => {
    upstream.behaviour.subject = 'many';
    upstream.behaviour.claims = { email: 'many@example.com', email_verified: true };
    const outcomes = await Promise.all(Array.from({ length: 20 }, attempt));
    assert.equal(outcomes.filter(({ url }) => atApplication(url)).length, 20);
    const found = await service.api('GET', `/users?search=${encodeURIComponent('profile.email eq "many@example.com"')}`);
    assert.equal(found.body.length, 1);
    Object.assign(upstream.behaviour, reset);
  });

  await t.test('the answer of one provider is not taken for another’s (mix-up, RFC 9700 section 4.4)', async () => {
    const evil = await startUpstream(t);
    const second = await createIdp(service, { ...idpBody(evil), name: 'Evil' });
    const { agent, back } = await atRedirectUri();
    const moved = new URL(back.href.replace(idp, second));
    assert.equal(problemOf(await followRefresh(agent, await agent.visit(moved))), 'upstream_over');
    assert.equal(evil.calls.get('/token'), undefined, 'the code was not shown to it');
    await service.api('POST', `/idps/${second}/lifecycle/deactivate`);
  });

  await t.test('an altered state, or none: this sign-in has ended', async () => {
    const { agent, back } = await atRedirectUri();
    const altered = new URL(back);
    altered.searchParams.set('state', 'x'.repeat(43));
    assert.equal(problemOf(await followRefresh(agent, await agent.visit(altered))), 'upstream_over');
    altered.searchParams.set('state', '../../evil');
    assert.equal((await agent.visit(altered)).status, 410);
    altered.searchParams.delete('state');
    assert.equal((await agent.visit(altered)).status, 410);
    const twice = new URL(back);
    twice.searchParams.append('code', 'another');
    assert.equal(problemOf(await followRefresh(agent, await agent.visit(twice))), 'upstream_untrusted');
  });

  await t.test('a page of another site cannot begin a sign-in: it gets the sign-in page (RFC 9700 section 4.7)', async () => {
    const agent = new UserAgent(service.baseUrl);
    const page = await agent.visit('/signin');
    const response = await agent.send(linkTo(page, idp), { headers: { 'sec-fetch-site': 'cross-site' } });
    assert.equal(response.headers.get('location'), '/signin');
  });

  await t.test('a provider that was deactivated meanwhile signs nobody in', async () => {
    const { agent, back } = await atRedirectUri();
    await service.api('POST', `/idps/${idp}/lifecycle/deactivate`);
    assert.equal(problemOf(await followRefresh(agent, await agent.visit(back))), 'upstream_not_offered');
    await service.api('POST', `/idps/${idp}/lifecycle/activate`);
  });

  await t.test('a provider that does not answer is given up', async (t) => {
    withTimings(t, { outbound: 300 });
    upstream.behaviour.silent = true;
    assert.equal(problemOf(await attempt()), 'upstream_unreachable');
    upstream.behaviour.silent = false;
  });

  await t.test(
    'a discovery document of another issuer, or none, is used for nothing (OpenID Connect Discovery 1.0 section 4.3)',
    async () => {
      const liar = await startUpstream(t);
      liar.behaviour.discoveryIssuer = 'https://evil.example';
      const lying = await createIdp(service, { ...idpBody(liar), name: 'Liar' });
      const agent = new UserAgent(service.baseUrl);
      assert.equal(problemOf(await agent.visit(linkTo(await agent.visit(request()), lying))), 'upstream_untrusted');
      liar.behaviour.down = true;
      await service.api('PUT', `/idps/${lying}`, { ...idpBody(liar), name: 'Liar' });
      const straight = await agent.visit(request({ idp: lying }));
      assert.equal(problemOf(straight), 'upstream_unreachable');
      const [, again = ''] = /id="another-way" href="([^"]*)"/.exec(straight.text) ?? [];
      assert.match((await agent.visit(again.replaceAll('&amp;', '&'))).text, /id="sign-in-form"/, 'another way, and not there again');
    },
  );

  await t.test('each failure is in the audit log, with a reason of ours and nothing of the provider’s', async () => {
    const { body } = await service.api(
      'GET',
      `/logs?limit=200&filter=${encodeURIComponent('eventType eq "user.authentication.auth_via_IDP"')}`,
    );
    const failures = body.filter(({ outcome }: { outcome: { result: string } }) => outcome.result === 'FAILURE');
    assert.ok(failures.length >= lies.length);
    for (const { outcome } of failures) assert.match(outcome.reason, /^[A-Z_]+$/);
    assert.ok(!JSON.stringify(failures).includes('onerror'));
  });
});
