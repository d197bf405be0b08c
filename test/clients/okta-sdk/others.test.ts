/** The other resources by Okta's SDK: identity providers, event hooks, API tokens, the log and a browser's session (management API). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IdentityProvider } from '@okta/okta-sdk-nodejs';
import { hookReceiver } from '../../support/event-hooks.ts';
import { inlineHookBody, inlineReceiver } from '../../support/inline-hooks.ts';
import { startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { all, oktaClient, refusal, requestsOf, shown, timed, wholeLife } from './client.ts';

test('the other resources by the official Okta SDK (issue 7)', async (t) => {
  const service = await startService(t, { env: { ALLOW_PRIVATE_NETWORK: 'true' } });
  const okta = oktaClient(service);
  const { apiTokenApi, eventHookApi, groupApi, inlineHookApi, identityProviderApi, sessionApi, systemLogApi, userApi } = okta;
  const api = `${service.baseUrl}/api/v1`;
  const { id: adminId } = await userApi.getUser({ userId: 'admin' });

  await t.test('identity providers: create, read, list, replace, deactivate, delete', async () => {
    const redirect = (path: string) => ({ url: `https://idp.example/${path}`, binding: 'HTTP-REDIRECT' });
    const protocol = {
      type: 'OIDC',
      issuer: { url: 'https://idp.example' },
      endpoints: {
        authorization: redirect('authorize'),
        token: { url: 'https://idp.example/token', binding: 'HTTP-POST' },
        userInfo: redirect('userinfo'),
        jwks: redirect('keys'),
      },
      scopes: ['openid', 'email', 'profile'],
    };
    const credentials = { client: { client_id: 'gatehouse', client_secret: 'what the provider gave us' } };
    const disabled = { action: 'DISABLED' };
    const policy = {
      provisioning: disabled,
      accountLink: disabled,
      subject: { matchType: 'EMAIL', userNameTemplate: { template: 'idpuser.email' } },
      maxClockSkew: 120_000,
    };
    await wholeLife(
      identityProviderApi,
      { name: 'IdentityProvider', id: 'idpId', body: 'identityProvider', hasStates: true },
      { type: 'OIDC', name: '<b>Partner</b>', protocol: { ...protocol, credentials }, policy },
      (id) => ({
        ...{ id, type: 'OIDC', name: '<b>Partner</b>', status: 'ACTIVE' },
        protocol: {
          ...protocol,
          // The secret is never told.
          credentials: { client: { client_id: 'gatehouse', pkce_required: true, token_endpoint_auth_method: 'client_secret_basic' } },
          settings: {},
        },
        policy: {
          ...policy,
          provisioning: { ...disabled, profileMaster: false, groups: { action: 'NONE', assignments: [] } },
          accountLink: { ...disabled, filter: null },
        },
        _links: {
          self: { href: `${api}/idps/${id}` },
          users: { href: `${api}/idps/${id}/users` },
          clientRedirectUri: { href: `${service.baseUrl}/interaction/upstream/${id}/callback` },
        },
      }),
      { name: 'Friend' },
    );
    const github = { type: 'GITHUB', name: 'GitHub', protocol: { type: 'OAUTH2', scopes: ['read:user', 'user:email'], credentials } };
    const made = await identityProviderApi.createIdentityProvider({
      identityProvider: { ...github, policy: { provisioning: { action: 'AUTO' } } } as IdentityProvider,
    });
    assert.deepEqual((await all(identityProviderApi.listIdentityProviders({ q: 'Git' }))).map(shown), [shown(made)]);
    assert.deepEqual(await all(identityProviderApi.listIdentityProviderApplicationUsers({ idpId: String(made.id) })), []);
  });

  await t.test('event hooks: create, verify, read, list, replace, deactivate, delete', async () => {
    const { uri } = await hookReceiver(t);
    const events = { type: 'EVENT_TYPE', items: ['user.lifecycle.create', 'user.lifecycle.deactivate'] } as const;
    const authScheme = { type: 'HEADER', key: 'Authorization' } as const;
    const config = { uri, headers: [{ key: 'X-Tenant', value: 'one' }], authScheme: { ...authScheme, value: 'secret' } };
    const eventHook = {
      ...{ name: '<b>People</b>', description: 'Who comes and goes', events: { ...events, items: [...events.items] } },
      channel: { type: 'HTTP', version: '1.0.0', config } as const,
    };
    const hints = { allow: ['POST'] };
    await wholeLife(
      eventHookApi,
      { name: 'EventHook', id: 'eventHookId', body: 'eventHook', hasStates: true },
      eventHook,
      (id) => ({
        ...{ id, name: '<b>People</b>', description: 'Who comes and goes', createdBy: adminId },
        ...{ status: 'ACTIVE', verificationStatus: 'UNVERIFIED', events: { ...events, filter: null } },
        // The values are secrets.
        channel: { type: 'HTTP', version: '1.0.0', config: { uri, method: 'POST', headers: [{ key: 'X-Tenant' }], authScheme } },
        _links: {
          self: { href: `${api}/eventHooks/${id}` },
          verify: { href: `${api}/eventHooks/${id}/lifecycle/verify`, hints },
          deactivate: { href: `${api}/eventHooks/${id}/lifecycle/deactivate`, hints },
        },
      }),
      { name: 'Everybody' },
    );
    const { id: eventHookId = '' } = await eventHookApi.createEventHook({ eventHook });
    const verified = await eventHookApi.verifyEventHook({ eventHookId });
    assert.equal(verified.verificationStatus, 'VERIFIED', 'by the challenge of Okta’s documentation');
    assert.deepEqual(shown(await eventHookApi.getEventHook({ eventHookId })), shown(verified));
  });

  await t.test('inline hooks: create, read, list, replace, deactivate, activate, delete, and execute', async () => {
    const type = 'com.okta.oauth2.tokens.transform';
    const uri = 'https://receiver.example/tokens';
    const authScheme = { type: 'HEADER', key: 'Authorization' } as const;
    const config = { uri, method: 'POST', headers: [{ key: 'X-Tenant', value: 'one' }], authScheme: { ...authScheme, value: 'secret' } };
    const hints = { allow: ['POST'] };
    const at = (id: string, path = '') => `${api}/inlineHooks/${id}${path}`;
    await wholeLife(
      inlineHookApi,
      { name: 'InlineHook', id: 'inlineHookId', body: 'inlineHook', hasStates: true },
      { name: '<b>Tokens</b>', type, version: '1.0.0', channel: { type: 'HTTP', version: '1.0.0', config } },
      (id) => ({
        ...{ id, name: '<b>Tokens</b>', type, version: '1.0.0', status: 'ACTIVE' },
        channel: { type: 'HTTP', version: '1.0.0', config: { uri, method: 'POST', headers: [{ key: 'X-Tenant' }], authScheme } },
        _links: {
          self: { href: at(id) },
          execute: { href: at(id, '/execute'), hints },
          deactivate: { href: at(id, '/lifecycle/deactivate'), hints },
        },
      }),
      { name: 'Other tokens' },
    );
    const receiver = await inlineReceiver(t);
    receiver.answers({ commands: [{ type: 'com.okta.access.patch', value: [{ op: 'add', path: '/claims/plan', value: 'gold' }] }] });
    const inlineHook = inlineHookBody(type, receiver.uri) as never;
    const { id: inlineHookId = '' } = await inlineHookApi.createInlineHook({ inlineHook });
    const { commands } = await inlineHookApi.executeInlineHook({ inlineHookId, payloadData: { data: { context: {} } } as never });
    assert.deepEqual(commands?.[0]?.type, 'com.okta.access.patch');
    assert.deepEqual(receiver.asked[0]?.event.data, { context: {} });
  });

  await t.test('API tokens, which the SDK reads and revokes but does not make', async () => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const { id, token } = (await service.api('POST', '/api-tokens', { name: 'Nightly', expiresAt })).body;
    const read = await apiTokenApi.getApiToken({ apiTokenId: id });
    assert.deepEqual(timed(read, 'created').rest, { id, name: 'Nightly', userId: adminId, expiresAt });
    const listed = (await all(apiTokenApi.listApiTokens())).map((one) => shown(one)).filter((one) => one.id === id);
    assert.deepEqual(listed, [shown(read)]);
    const asThatToken = oktaClient(service, token).userApi;
    assert.equal((await asThatToken.getUser({ userId: 'admin' })).id, adminId);
    assert.equal(await apiTokenApi.revokeApiToken({ apiTokenId: id }), undefined);
    assert.equal((await refusal(asThatToken.getUser({ userId: 'admin' })))[0], 401);
  });

  await t.test('the log: an event, and pages from either end', async () => {
    const ids: (string | undefined)[] = [];
    for (const name of ['Logged 1', 'Logged 2', 'Logged 3']) ids.push((await groupApi.createGroup({ group: { profile: { name } } })).id);
    const filter = 'eventType eq "group.lifecycle.create"';
    const requests = requestsOf(okta);
    const since = new Date(Date.now() - 600_000).toISOString();
    const until = new Date(Date.now() + 600_000).toISOString();
    const events = await all(systemLogApi.listLogEvents({ filter, since, until, limit: 2 }));
    assert.deepEqual([events.map(({ target }) => target?.[0]?.id), requests.length], [ids, 2]);
    const backwards = await all(systemLogApi.listLogEvents({ filter, limit: 2, sortOrder: 'DESCENDING' }));
    assert.deepEqual(backwards.map(shown), events.map(shown).reverse());
    assert.deepEqual((await all(systemLogApi.listLogEvents({ q: String(ids[1]) }))).map(shown), [shown(events[1])]);

    const { uuid, transaction, client, ...told } = timed(events[0], 'published').rest;
    assert.match(String(uuid), /^[0-9a-f-]{36}$/);
    assert.match(String(Reflect.get(Object(transaction), 'id')), /^[\w-]{16,}$/);
    assert.equal(Reflect.get(Object(client), 'ipAddress'), '127.0.0.1');
    assert.deepEqual(told, {
      ...{ eventType: 'group.lifecycle.create', severity: 'INFO', displayMessage: 'Create group' },
      actor: { id: adminId, type: 'User', displayName: 'admin' },
      outcome: { result: 'SUCCESS', reason: null },
      target: [{ id: ids[0], type: 'UserGroup', displayName: 'Logged 1' }],
      // Before and after a change are no fields of Okta's.
      debugContext: {},
    });
  });

  await t.test('sessions/me, with the browser’s cookies; the sessions of a user', async () => {
    const user = await service.createUser();
    const signedIn = async (): Promise<string> => {
      const browser = new UserAgent(service.baseUrl);
      assert.equal((await browser.signIn(await browser.visit('/signin'), user)).status, 200);
      return ['gatehouse-session', 'gatehouse-session.sig'].map((name) => `${name}=${browser.cookie(name)}`).join('; ');
    };
    const [cookie, other] = [await signedIn(), await signedIn()];
    const session = await sessionApi.getCurrentSession({ cookie });
    const { createdAt, lastPasswordVerification, rest } = timed(session, 'createdAt', 'lastPasswordVerification');
    assert.equal(lastPasswordVerification, createdAt);
    assert.ok(session.expiresAt instanceof Date);
    assert.deepEqual(rest, {
      ...{ id: rest.id, userId: user.id, login: user.login, expiresAt: rest.expiresAt, status: 'ACTIVE' },
      ...{ lastFactorVerification: null, amr: ['pwd'], idp: { id: 'gatehouse', type: 'OKTA' } },
      // The SDK has names for neither mfaActive nor the link to the user.
      _links: { self: { href: `${api}/sessions/me` } },
    });
    // The SDK remembers what it has read under its address, whoever's it was, so each look is another client's.
    const look = (ofBrowser: string) => oktaClient(service).sessionApi.getCurrentSession({ cookie: ofBrowser });
    assert.equal(await sessionApi.closeCurrentSession({ cookie }), undefined);
    assert.deepEqual((await refusal(look(cookie))).slice(0, 2), [404, 'E0000007']);
    assert.equal((await look(other)).userId, user.id);
    assert.equal(await userApi.revokeUserSessions({ userId: user.id }), undefined);
    assert.equal((await refusal(look(other)))[0], 404);
  });
});
