/** Signing in by an external OpenID provider (OpenID Connect Core 1.0 section 3.1; management-api.md, `idps`; decisions.md, `idp`): the ordinary ways. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeJwt } from 'jose';
import { answerOf, authorizeUrl, CALLBACK, challengeOf, createClient, post, verifier } from '../../protocol/servers/relying-party.ts';
import { codeOf, secretOn, TWO_FACTORS } from '../../support/factors.ts';
import { startService } from '../../support/service.ts';
import { createIdp, idpBody, isAdmitted, linkTo, problemOf, signInAt, startUpstream, throughUpstream } from '../../support/upstream.ts';
import { UserAgent } from '../../support/user-agent.ts';

const env = { ALLOW_PRIVATE_NETWORK: 'true' };
const atApplication = (url: URL) => url.href.startsWith(CALLBACK);

test('sign-in by an OpenID provider (OpenID Connect Core 1.0 section 3.1)', async (t) => {
  const service = await startService(t, { env });
  const upstream = await startUpstream(t);
  const org = (await service.api('POST', '/account/org?orgName=Acme')).body.orgId;
  const group = (await service.api('POST', '/groups', { profile: { name: 'Guests' } })).body.id;
  const idp = await createIdp(
    service,
    idpBody(upstream, {
      provisioning: { action: 'AUTO', orgId: org, groups: { action: 'ASSIGN', assignments: [group] }, profileMaster: true },
    }),
  );
  const client = await createClient(service);
  const request = (parameters: Record<string, string | undefined> = {}) =>
    authorizeUrl(service, 'default', { client_id: client.clientId, ...parameters });
  const users = async (login: string) =>
    (await service.api('GET', `/users?search=${encodeURIComponent(`profile.login eq "${login}"`)}`)).body;

  await t.test(
    'a new person becomes a user of the organization and the groups, with the mapped attributes, and the application gets a code',
    async () => {
      const agent = new UserAgent(service.baseUrl);
      const proof = verifier();
      const begun = Math.floor(Date.now() / 1000);
      upstream.behaviour.idToken = { amr: ['pwd', 'mfa'], acr: 'theirs' };
      const page = await signInAt(agent, request({ code_challenge: challengeOf(proof), scope: 'openid email' }), idp);
      assert.ok(atApplication(page.url), page.text);
      const tokens = await post(service, 'default', 'token', client, {
        ...{ grant_type: 'authorization_code', code: answerOf(page).code ?? '', redirect_uri: CALLBACK, code_verifier: proof },
      });
      const { sub, amr, auth_time } = decodeJwt(tokens.body.id_token);
      const [user] = await users('ada@example.com');
      assert.equal(sub, user.id);
      assert.deepEqual(amr, ['fed'], 'what the provider says of how counts for nothing here, and is kept in the audit log');
      upstream.behaviour.idToken = {};
      assert.ok(Number(auth_time) >= begun && Number(auth_time) <= Date.now() / 1000);
      const { login, email, firstName, lastName, displayName } = user.profile;
      assert.deepEqual(
        [login, email, firstName, lastName, displayName],
        ['ada@example.com', 'ada@example.com', 'Ada', 'Lovelace', 'Ada Lovelace'],
      );
      assert.equal(user.status, 'ACTIVE');
      assert.ok(user.lastLogin !== null);
      const members = (await service.api('GET', `/account/org/${org}/member`)).body;
      assert.ok(JSON.stringify(members).includes(user.id));
      assert.ok(JSON.stringify((await service.api('GET', `/groups/${group}/users`)).body).includes(user.id));
      const linked = await service.api('GET', `/idps/${idp}/users/${user.id}`);
      assert.equal(linked.body.externalId, 'subject-1');
      const told = await fetch(`${service.issuer('default')}/userinfo`, {
        headers: { authorization: `Bearer ${tokens.body.access_token}` },
      });
      assert.equal(((await told.json()) as { email_verified: boolean }).email_verified, true);
      const log = (await service.api('GET', '/logs?limit=200')).body;
      const via = log.find(({ eventType }: { eventType: string }) => eventType === 'user.authentication.auth_via_IDP');
      assert.deepEqual([via.debugContext.after.amr, via.debugContext.after.acr], [['pwd', 'mfa'], 'theirs']);
      const events = log.map(({ eventType }: { eventType: string }) => eventType);
      for (const type of ['user.lifecycle.create', 'user.identity_provider.link', 'user.authentication.auth_via_IDP', 'user.session.start'])
        assert.ok(events.includes(type), type);
    },
  );

  await t.test(
    'the request upstream carries state, nonce, PKCE S256 and the redirect URI that idps tells (RFC 7636, RFC 9700 section 2.1.1)',
    async () => {
      const agent = new UserAgent(service.baseUrl);
      await signInAt(agent, request({ login_hint: 'ada', display: 'popup', ui_locales: 'de', idp_scope: 'calendar' }), idp);
      const asked = upstream.asked();
      assert.equal(asked.get('response_type'), 'code');
      assert.equal(asked.get('code_challenge_method'), 'S256');
      assert.match(asked.get('code_challenge') ?? '', /^[\w-]{43}$/);
      assert.match(asked.get('nonce') ?? '', /^[\w-]{43}$/);
      assert.match(asked.get('state') ?? '', /^[\w-]{43}\./);
      assert.equal(asked.get('redirect_uri'), (await service.api('GET', `/idps/${idp}`)).body._links.clientRedirectUri.href);
      assert.deepEqual([asked.get('login_hint'), asked.get('display'), asked.get('ui_locales')], ['ada', 'popup', 'de']);
      assert.equal(asked.get('scope'), 'openid email profile', 'idp_scope is meant for the provider that idp names');
      assert.equal(asked.get('prompt'), null);
    },
  );

  await t.test('who comes again is the same user; profileMaster writes what has changed, and an audit event of it', async () => {
    const [before] = await users('ada@example.com');
    upstream.behaviour.claims = {
      ...upstream.behaviour.claims,
      family_name: 'King',
      email: 'someone-else@example.com',
      email_verified: false,
    };
    const page = await signInAt(new UserAgent(service.baseUrl), request(), idp);
    assert.ok(atApplication(page.url), page.text);
    const { body } = await service.api('GET', `/users/${before.id}`);
    assert.equal(body.profile.lastName, 'King');
    assert.equal(body.profile.email, 'ada@example.com', 'an address that is not verified is no news');
    const events = (await service.api('GET', `/logs?limit=200&filter=${encodeURIComponent('eventType eq "user.account.update_profile"')}`))
      .body;
    assert.equal(events.at(-1).debugContext.before.profile.lastName, 'Lovelace');
  });

  await t.test(
    'idp goes straight there, with the scopes of idp_scope; prompt=login asks for a new authentication (OpenID Connect Core 3.1.2.1)',
    async () => {
      const agent = new UserAgent(service.baseUrl);
      const { url } = await agent.visit(request({ idp, idp_scope: 'calendar openid', prompt: 'login' }));
      assert.equal(url.origin, upstream.origin);
      assert.equal(url.searchParams.get('scope'), 'openid email profile calendar');
      assert.equal(url.searchParams.get('prompt'), 'login');
      assert.equal(url.searchParams.get('max_age'), '0');
      assert.ok(atApplication((await throughUpstream(agent, url)).url));
    },
  );

  await t.test('an authentication there that is older than the application allows is refused', async () => {
    const agent = new UserAgent(service.baseUrl);
    upstream.behaviour.idToken = { auth_time: Math.floor(Date.now() / 1000) - 3600 };
    const old = await throughUpstream(agent, (await agent.visit(request({ idp, max_age: '600' }))).url);
    assert.equal(problemOf(old), 'upstream_stale');
    const allowed = await throughUpstream(agent, (await agent.visit(request({ idp, max_age: '7200' }))).url);
    assert.ok(atApplication(allowed.url));
    upstream.behaviour.idToken = {};
  });

  await t.test('with a session nobody is sent away; with prompt=none and none, login_required and no upstream', async () => {
    const agent = new UserAgent(service.baseUrl);
    const { url } = await agent.visit(request({ idp, prompt: 'none' }));
    assert.equal(answerOf({ url }).error, 'login_required');
    await signInAt(agent, request(), idp);
    assert.deepEqual(((await (await agent.send('/api/v1/sessions/me')).json()) as { idp: unknown }).idp, { id: idp, type: 'FEDERATION' });
    const again = await agent.visit(request({ idp }));
    assert.ok(isAdmitted(again));
  });

  await t.test(
    'an unknown, inactive or foreign idp, or an idp_scope that is none: invalid_request by redirect (RFC 6749 section 4.1.2.1)',
    async () => {
      const other = await createIdp(service, { ...idpBody(upstream), name: 'Other' });
      await service.api('POST', `/idps/${other}/lifecycle/deactivate`);
      const narrowed = await createClient(service, { identity_providers: [other] });
      for (const parameters of [{ idp: 'idp_unknown' }, { idp: other }, { idp, client_id: narrowed.clientId }, { idp, idp_scope: 'a"b' }]) {
        const { url } = await new UserAgent(service.baseUrl).visit(request(parameters));
        assert.equal(answerOf({ url }).error, 'invalid_request', JSON.stringify(parameters));
      }
    },
  );

  await t.test('the sign-in page offers the active ones, by names that are no markup; the application narrows them', async () => {
    const second = await createIdp(service, { ...idpBody(upstream), name: 'Second' });
    const page = await new UserAgent(service.baseUrl).visit(request());
    assert.ok(page.text.includes('Acme &lt;b&gt;Login') && page.text.includes(`/upstream/${second}`));
    const narrowed = await createClient(service, { identity_providers: [second] });
    const less = await new UserAgent(service.baseUrl).visit(request({ client_id: narrowed.clientId }));
    assert.ok(less.text.includes(`/upstream/${second}`) && !less.text.includes(`/upstream/${idp}`));
    const forged = await new UserAgent(service.baseUrl);
    const its = await forged.visit(request({ client_id: narrowed.clientId }));
    const refused = await forged.visit(linkTo(its, second).replace(second, idp));
    assert.equal(problemOf(refused), 'upstream_not_offered');
    const none = await createClient(service, { identity_providers: [] });
    assert.ok(!(await new UserAgent(service.baseUrl).visit(request({ client_id: none.clientId }))).text.includes('id="providers"'));
    await service.api('POST', `/idps/${second}/lifecycle/deactivate`);
  });

  await t.test('at /signin, too, which leads to the start page', async () => {
    const agent = new UserAgent(service.baseUrl);
    const page = await agent.visit('/signin');
    const back = await throughUpstream(agent, (await agent.visit(linkTo(page, idp))).url);
    assert.equal(back.url.pathname, '/account');
    const session = (await (await agent.send('/api/v1/sessions/me')).json()) as {
      idp: unknown;
      amr: unknown;
      lastPasswordVerification: unknown;
    };
    assert.deepEqual([session.idp, session.amr, session.lastPasswordVerification], [{ id: idp, type: 'FEDERATION' }, ['fed'], null]);
    assert.match(back.text, /id="sign-out"/);
  });

  await t.test(
    'form_post: the answer comes as a post of another site, without cookies, and goes on (Form Post Response Mode section 2)',
    async () => {
      upstream.behaviour.formPost = true;
      const page = await signInAt(new UserAgent(service.baseUrl), request(), idp);
      assert.ok(atApplication(page.url), page.text);
      upstream.behaviour.formPost = false;
    },
  );

  await t.test('a second factor is asked for as after a password, whatever the provider says; the session keeps both', async () => {
    upstream.behaviour.idToken = { amr: ['mfa'], acr: TWO_FACTORS };
    const agent = new UserAgent(service.baseUrl);
    const page = await signInAt(agent, request({ acr_values: TWO_FACTORS }), idp);
    const shown = await agent.submit(page, 'enroll-form', { passCode: codeOf(secretOn(page)) });
    assert.ok(isAdmitted(await agent.submit(shown, 'enrolled-form')));
    const session = (await (await agent.send('/api/v1/sessions/me')).json()) as { idp: unknown; amr: string[] };
    assert.deepEqual([session.idp, [...session.amr].sort()], [{ id: idp, type: 'FEDERATION' }, ['fed', 'mfa', 'otp']]);
    // From now on the user has one, and nothing need demand it.
    assert.match((await signInAt(new UserAgent(service.baseUrl), request(), idp)).text, /id="factor-form"/);
    upstream.behaviour.idToken = {};
    upstream.behaviour.subject = 'subject-2';
    upstream.behaviour.claims = { email: 'second@example.com', email_verified: true };
  });

  await t.test('ES256, no userinfo, and keys that are new since the last sign-in (OpenID Connect Core section 10.1.1)', async () => {
    upstream.behaviour.alg = 'ES256';
    upstream.behaviour.userinfo = false;
    assert.ok(atApplication((await signInAt(new UserAgent(service.baseUrl), request(), idp)).url));
    await upstream.rotate();
    assert.ok(atApplication((await signInAt(new UserAgent(service.baseUrl), request(), idp)).url));
    upstream.behaviour.alg = 'RS256';
    upstream.behaviour.userinfo = true;
  });

  await t.test('the discovery document is kept, and read anew after a change of the settings', async () => {
    const at = '/.well-known/openid-configuration';
    const before = upstream.calls.get(at) ?? 0;
    await signInAt(new UserAgent(service.baseUrl), request(), idp);
    assert.equal(upstream.calls.get(at), before);
    await service.api('PUT', `/idps/${idp}`, idpBody(upstream));
    await signInAt(new UserAgent(service.baseUrl), request(), idp);
    assert.equal(upstream.calls.get(at), before + 1);
  });

  await t.test('claims that the ID token lacks are asked for at userinfo, of the same subject only (section 5.3.2)', async () => {
    upstream.behaviour.subject = 'by-userinfo';
    upstream.behaviour.claims = {};
    upstream.behaviour.userinfoClaims = { email: 'grace@example.com', email_verified: true, given_name: 'Grace' };
    const page = await signInAt(new UserAgent(service.baseUrl), request(), idp);
    assert.ok(atApplication(page.url), page.text);
    assert.equal((await users('grace@example.com'))[0].profile.firstName, 'Grace');
    upstream.behaviour.userinfoClaims = { sub: 'somebody else', email: 'other@example.com', email_verified: true };
    upstream.behaviour.subject = 'by-userinfo-2';
    assert.equal(problemOf(await signInAt(new UserAgent(service.baseUrl), request(), idp)), 'upstream_untrusted');
  });
});
