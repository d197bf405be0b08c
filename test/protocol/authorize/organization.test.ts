/** Signing in for an organization: the parameter `organization`, the page of choice, the claims of the scope, and their end with the membership. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as oidc from 'openid-client';
import { startService } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';
import { answerOf, authorizeUrl, CALLBACK, challengeOf, createClient, post, userinfo, verifier } from '../servers/relying-party.ts';

const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';

test('an application of companies', async (t) => {
  const service = await startService(t);

  const ok = async (method: string, path: string, body?: unknown) => {
    const answer = await service.api(method, path, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const newOrganization = async (name: string): Promise<string> =>
    (await ok('POST', `/account/org?orgName=${encodeURIComponent(name)}`)).orgId;

  /** Signs in with openid-client. @param steps what the user does on the pages after the sign-in */
  async function signIn(
    browser: UserAgent,
    settings: Record<string, unknown>,
    parameters: Record<string, string>,
    steps: (page: Page) => Promise<Page> = async (page) => page,
    client?: { clientId: string; clientSecret: string | undefined },
  ) {
    const used = client ?? (await createClient(service, settings));
    const config = await oidc.discovery(new URL(service.issuer('default')), used.clientId, used.clientSecret, undefined, {
      execute: [oidc.allowInsecureRequests],
    });
    const code_verifier = oidc.randomPKCECodeVerifier();
    const state = oidc.randomState();
    const url = oidc.buildAuthorizationUrl(config, {
      redirect_uri: CALLBACK,
      scope: 'openid profile offline_access organization',
      code_challenge: await oidc.calculatePKCECodeChallenge(code_verifier),
      code_challenge_method: 'S256',
      state,
      ...parameters,
    });
    let page = await browser.visit(url);
    if (page.text.includes('id="sign-in-form"')) page = await browser.signIn(page, user);
    page = await steps(page);
    const tokens = await oidc.authorizationCodeGrant(config, page.url, { pkceCodeVerifier: code_verifier, expectedState: state });
    return { client: used, config, tokens, claims: (tokens.claims() ?? {}) as Record<string, unknown> };
  }

  const choose = (browser: UserAgent, orgId: string) => (page: Page) => {
    assert.match(page.text, /id="choose-organization"/);
    return browser.submit(page, 'choose-organization', { organization: orgId });
  };

  /** A user of these organizations. The second one revokes what the first one's administrators may have prepared, the password too. */
  const member = async (...places: { orgId: string; depId?: string }[]) => {
    const created = await service.createUser();
    for (const { orgId, depId } of places)
      await ok('PUT', `/account/org/${orgId}/member/${created.id}`, depId === undefined ? {} : { depId });
    await ok('POST', `/users/${created.id}`, { credentials: { password: { value: created.password } } });
    return created;
  };
  const orgA = await newOrganization('Acme');
  const orgB = await newOrganization('Bolt & Co');
  const { depId } = await ok('POST', `/account/org/${orgB}/department`, { name: 'Sales' });
  let user = await member({ orgId: orgA }, { orgId: orgB, depId });

  await t.test('the parameter names it by ID or name, and the claims are in every token and at userinfo', async () => {
    const browser = new UserAgent(service.baseUrl);
    const byName = await signIn(browser, {}, { organization: 'Bolt & Co' });
    const wanted = { org_id: orgB, org_name: 'Bolt & Co', org_roles: ['member'] };
    const told = (claims: Record<string, unknown>) => Object.fromEntries(Object.keys(wanted).map((name) => [name, claims[name]]));
    assert.deepEqual(told(byName.claims), wanted);
    assert.equal(byName.claims.dep_id, depId);
    const jwt = JSON.parse(Buffer.from(byName.tokens.access_token.split('.')[1] ?? '', 'base64url').toString());
    assert.deepEqual(told(jwt), wanted);
    assert.deepEqual(told((await userinfo(service, 'default', byName.tokens.access_token)).body), wanted);
    const introspected = await post(service, 'default', 'introspect', byName.client, { token: byName.tokens.access_token });
    assert.deepEqual(told(introspected.body), wanted);
    const refreshed = await oidc.refreshTokenGrant(byName.config, byName.tokens.refresh_token ?? '');
    assert.deepEqual(told(refreshed.claims() ?? {}), wanted);

    const byId = await signIn(browser, {}, { organization: orgA });
    assert.equal(byId.claims.org_id, orgA);
    assert.equal(byId.claims.dep_id, undefined);
  });

  await t.test('without the scope no token names it, and without the parameter there is none', async () => {
    const browser = new UserAgent(service.baseUrl);
    const narrow = await signIn(browser, {}, { organization: orgA, scope: 'openid' });
    assert.equal(narrow.claims.org_id, undefined);
    const none = await signIn(browser, {}, {});
    assert.equal(none.claims.org_id, undefined);
  });

  await t.test('a server with opaque tokens tells it at userinfo and introspection, also on the quick way', async () => {
    const client = await createClient(service);
    const browser = new UserAgent(service.baseUrl);
    const proof = verifier();
    const parameters = {
      client_id: client.clientId,
      organization: orgA,
      scope: 'openid profile organization',
      code_challenge: challengeOf(proof),
    };
    const page = await browser.signIn(await browser.visit(authorizeUrl(service, 'built-in', parameters)), user);
    const form = { grant_type: 'authorization_code', code: answerOf(page).code ?? '', redirect_uri: CALLBACK, code_verifier: proof };
    const { access_token: token } = (await post(service, 'built-in', 'token', client, form)).body;
    assert.equal((await userinfo(service, 'built-in', token)).body.org_id, orgA);
    assert.equal((await post(service, 'built-in', 'introspect', client, { token })).body.org_id, orgA);
    // An opaque token tells what is true now.
    await ok('PUT', `/account/org/${orgA}?name=Acme%20Inc`);
    assert.equal((await post(service, 'built-in', 'introspect', client, { token })).body.org_name, 'Acme Inc');
    await ok('PUT', `/account/org/${orgA}?name=Acme`);
  });

  await t.test('REQUIRED shows a page of choice to a user of several, remembers the choice in the session, and checks it', async () => {
    const browser = new UserAgent(service.baseUrl);
    const first = await signIn(browser, { organization: 'REQUIRED' }, {}, choose(browser, orgB));
    assert.equal(first.claims.org_id, orgB);
    const silent = await signIn(browser, {}, { prompt: 'none' }, undefined, first.client);
    assert.equal(silent.claims.org_id, orgB);

    const another = await createClient(service, { organization: 'REQUIRED' });
    const answer = answerOf(await browser.visit(authorizeUrl(service, 'default', { client_id: another.clientId, prompt: 'none' })));
    assert.equal(answer.error, 'interaction_required');

    const foreign = await newOrganization('Foreign');
    const page = await browser.visit(authorizeUrl(service, 'default', { client_id: another.clientId }));
    assert.doesNotMatch(page.text, /Foreign/);
    const again = await browser.submit(page, 'choose-organization', { organization: foreign });
    assert.match(again.text, /id="choose-organization"/);
    const cancelled = await browser.submit(again, 'choose-organization', { decision: 'cancel' });
    assert.equal(answerOf(cancelled).error, 'access_denied');
  });

  await t.test('REQUIRED takes the only organization without asking, and refuses who has none', async () => {
    const client = await createClient(service, { organization: 'REQUIRED' });
    const single = await member({ orgId: orgA });
    const url = authorizeUrl(service, 'default', { client_id: client.clientId });
    const direct = new UserAgent(service.baseUrl);
    assert.ok(answerOf(await direct.signIn(await direct.visit(url), single)).code);

    const nobody = await service.createUser();
    const browser = new UserAgent(service.baseUrl);
    const page = await browser.signIn(await browser.visit(url), nobody);
    assert.equal(page.status, 403);
    const switched = await browser.submit(page, 'choose-organization', { decision: 'switch' });
    assert.ok(answerOf(await browser.signIn(switched, single)).code);
  });

  await t.test('who is no member is refused in the same way whether the organization exists or not', async () => {
    const client = await createClient(service);
    const stranger = await newOrganization('Secret Labs');
    const pages = await Promise.all(
      [stranger, 'Secret Labs', 'org_nothing', 'Nobody'].map(async (organization) => {
        const browser = new UserAgent(service.baseUrl);
        const url = authorizeUrl(service, 'default', { client_id: client.clientId, organization });
        const page = await browser.signIn(await browser.visit(url), user);
        assert.equal(page.status, 403);
        const silent = await browser.visit(authorizeUrl(service, 'default', { client_id: client.clientId, organization, prompt: 'none' }));
        return [page.text.replaceAll(/[\w-]{43}|[0-9a-f-]{36}/g, '').replaceAll(/interaction\/[^"]+/g, ''), answerOf(silent).error];
      }),
    );
    for (const page of pages) assert.deepEqual(page, pages[0]);
    assert.equal(pages[0]?.[1], 'access_denied');
  });

  await t.test('a pushed request and a request object carry it; what it cannot be is refused', async () => {
    const client = await createClient(service);
    const browser = new UserAgent(service.baseUrl);
    const form = {
      client_id: client.clientId,
      ...{ response_type: 'code', redirect_uri: CALLBACK, scope: 'openid organization', state: 'some-state', organization: orgB },
    };
    const pushed = await post(service, 'default', 'par', client, form);
    assert.equal(pushed.status, 201, JSON.stringify(pushed.body));
    const url = new URL(`${service.issuer('default')}/authorize`);
    url.search = new URLSearchParams({ client_id: client.clientId, request_uri: pushed.body.request_uri }).toString();
    const { code = '' } = answerOf(await browser.signIn(await browser.visit(url), user));
    const exchanged = await post(service, 'default', 'token', client, { grant_type: 'authorization_code', code, redirect_uri: CALLBACK });
    assert.match(Buffer.from(exchanged.body.id_token.split('.')[1], 'base64url').toString(), new RegExp(orgB));

    const long = await browser.visit(authorizeUrl(service, 'default', { client_id: client.clientId, organization: 'x'.repeat(256) }));
    assert.equal(answerOf(long).error, 'invalid_request');
  });

  await t.test('the simulator tells the same', async () => {
    const { clientId } = await createClient(service, { organization: 'REQUIRED' });
    const asked = { client_id: clientId, user: user.id, grant_type: 'authorization_code', scopes: ['openid', 'organization'] };
    const simulated = async (more: object) =>
      (await service.api('POST', '/authorizationServers/default/simulate', { ...asked, ...more })).body;
    const named = await simulated({ organization: 'Bolt & Co' });
    assert.deepEqual(
      [named.outcome, named.tokens.id_token.claims.org_id, named.tokens.access_token.claims.dep_id],
      ['TOKENS', orgB, depId],
    );
    assert.equal((await simulated({ organization: 'Nobody' })).refusal.error, 'access_denied');
    assert.equal((await simulated({ prompt: 'none' })).refusal.error, 'interaction_required');
    assert.equal((await simulated({})).tokens.id_token.claims.org_id, undefined);
  });

  await t.test('tokens end with the membership, and those of other organizations go on', async () => {
    const leaver = await member({ orgId: orgA }, { orgId: orgB });
    const before = user;
    user = leaver;
    const browser = new UserAgent(service.baseUrl);
    const atA = await signIn(browser, { grant_types: ['authorization_code', 'refresh_token', EXCHANGE] }, { organization: orgA });
    const atB = await signIn(browser, {}, { organization: orgB });
    const narrow = await signIn(browser, {}, { organization: orgA, scope: 'openid offline_access' });
    user = before;
    const active = async ({ client, tokens }: typeof atA, token = tokens.access_token) =>
      (await post(service, 'default', 'introspect', client, { token })).body.active;
    assert.deepEqual([await active(atA), await active(atB), await active(narrow)], [true, true, true]);
    const exchange = async (subject_token: string): Promise<string> => {
      const form = { grant_type: EXCHANGE, subject_token, subject_token_type: 'urn:ietf:params:oauth:token-type:access_token' };
      const { status, body } = await post(service, 'default', 'token', atA.client, { ...form, scope: 'profile' });
      assert.equal(status, 200, JSON.stringify(body));
      return body.access_token;
    };
    const exchanged = await exchange(atA.tokens.access_token);
    const twice = await exchange(exchanged);
    assert.deepEqual([await active(atA, exchanged), await active(atA, twice)], [true, true]);
    await ok('DELETE', `/account/org/${orgA}/member/${leaver.id}`);
    assert.deepEqual([await active(atA), await active(atB), await active(narrow)], [false, true, false]);
    assert.deepEqual([await active(atA, exchanged), await active(atA, twice)], [false, false], 'and what was exchanged for them');
    await assert.rejects(oidc.refreshTokenGrant(atA.config, atA.tokens.refresh_token ?? ''));
    await assert.rejects(oidc.refreshTokenGrant(narrow.config, narrow.tokens.refresh_token ?? ''));
    assert.equal((await userinfo(service, 'default', atA.tokens.access_token)).status, 401);
    const { tokens: again } = { tokens: await oidc.refreshTokenGrant(atB.config, atB.tokens.refresh_token ?? '') };
    assert.equal(again.claims()?.org_id, orgB);
  });
});
