/** Whom the end of a browser session is told, and in which words (OpenID Connect Back-Channel Logout 1.0 sections 2.1 to 2.6). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { eventually } from '../../support/process.ts';
import { setScope } from '../../support/scopes.ts';
import { newSecretKey, startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { answerOf, authorizeUrl, createClient, post, tokensFor } from '../servers/relying-party.ts';
import { receiver, signInAt, told, verified, waiting } from './logout-receiver.ts';

const LOCAL = { ALLOW_PRIVATE_NETWORK: 'true' };

test('the end of a session is told to its applications', async (t) => {
  const service = await startService(t, { env: LOCAL, sendsOutbox: true });
  const user = await service.createUser();

  await t.test('section 2.5: to each, at each server where it had a part, with sub and the sid of its ID token', async (t) => {
    const [first, second] = [await receiver(t), await receiver(t)];
    const [one, other] = [await told(service, first.uri), await told(service, second.uri)];
    const places = [
      ['built-in', one],
      ['default', one],
      ['default', other],
    ] as const;
    const { logout, sids } = await signInAt(service, user, places);
    assert.equal(new Set(sids).size, 3, 'a name of its own for each server and application');
    assert.equal((await logout()).status, 302);

    const came = [...(await first.received(2)), ...(await second.received(1))];
    for (const [index, [serverId, client]] of places.entries()) {
      const token = came.find((candidate) => {
        const { iss, aud } = decodeJwt(candidate);
        return iss === service.issuer(serverId) && aud === client.clientId;
      });
      const payload = await verified(service, serverId, client, token ?? '');
      assert.deepEqual([payload.sub, payload.sid], [user.id, sids[index]]);
      assert.ok(typeof payload.sid === 'string' && payload.sid.length > 20);
    }
    assert.equal(new Set(came.map((token) => decodeJwt(token).jti)).size, 3);
    for (const token of came) {
      const issuer = String(decodeJwt(token).iss);
      const answer = await fetch(`${issuer}/logout?id_token_hint=${token}`, { redirect: 'manual' });
      assert.equal(answer.status, 400, 'a logout token is no id_token_hint');
    }
  });

  await t.test('section 2.2: without backchannel_logout_session_required by sub alone, as its ID tokens carry no sid', async (t) => {
    const endpoint = await receiver(t);
    const client = await told(service, endpoint.uri, { backchannel_logout_session_required: false });
    const { logout, sids } = await signInAt(service, user, [['default', client]]);
    assert.deepEqual(sids, [undefined]);
    await logout();
    const [token = ''] = await endpoint.received(1);
    const payload = await verified(service, 'default', client, token);
    assert.deepEqual([payload.sub, 'sid' in payload], [user.id, false]);
  });

  await t.test('section 2.1: the sid stays the same as long as the session lives, and a new session has a new one', async (t) => {
    const endpoint = await receiver(t);
    const client = await told(service, endpoint.uri);
    const browser = new UserAgent(service.baseUrl);
    const at = [['built-in', client]] as const;
    const { sids: before, logout } = await signInAt(service, user, at, browser);
    const { sids: again } = await signInAt(service, user, at, browser);
    assert.deepEqual(again, before);
    await logout();
    const { sids: after } = await signInAt(service, user, at, browser);
    assert.notDeepEqual(after, before);
    const [token = ''] = await endpoint.received(1);
    assert.deepEqual([decodeJwt(token).sid], before);
  });

  await t.test('section 2.1: many first authorizations of one application at once agree on one sid, the one that is told', async (t) => {
    const endpoint = await receiver(t);
    const client = await told(service, endpoint.uri, {
      response_types: ['code', 'id_token'],
      grant_types: ['authorization_code', 'implicit'],
    });
    const { browser, logout } = await signInAt(service, user, [['built-in', await createClient(service)]]);
    const url = authorizeUrl(service, 'built-in', { client_id: client.clientId, response_type: 'id_token', prompt: 'none' });
    const answers = await Promise.all(Array.from({ length: 12 }, () => browser.visit(url)));
    const sids = new Set(answers.map((page) => decodeJwt(answerOf(page).id_token ?? '').sid));
    assert.equal(sids.size, 1);
    await logout();
    const [token = ''] = await endpoint.received(1);
    assert.deepEqual([...sids], [(await verified(service, 'built-in', client, token)).sid]);
  });

  await t.test('an application that does not want to know, or had no part in the session, costs not even a row', async (t) => {
    const stranger = await receiver(t);
    await told(service, stranger.uri);
    const { logout } = await signInAt(service, user, [
      ['built-in', await createClient(service)],
      ['default', await createClient(service)],
    ]);
    assert.equal((await logout()).status, 302);
    assert.deepEqual(await waiting(service.database), []);
    assert.deepEqual(stranger.tokens, []);
  });

  await t.test(
    'an application that the user refused, or that was refused itself, has no part in his session and does not learn who he is',
    async () => {
      await setScope(service, 'email', { consent: 'REQUIRED' });
      const settings = { backchannel_logout_uri: 'https://app.example/logout', consent_method: 'REQUIRED' };
      const [asking, closed] = [
        await createClient(service, settings),
        await createClient(service, { ...settings, assignment: 'ASSIGNED' }),
      ];
      const { browser, logout } = await signInAt(service, user, [['built-in', await createClient(service)]]);
      const ask = (clientId: string, prompt?: string) =>
        browser.visit(authorizeUrl(service, 'default', { client_id: clientId, scope: 'openid email', prompt }));
      assert.equal(answerOf(await ask(asking.clientId, 'none')).error, 'consent_required');
      const denied = await browser.submit(await ask(asking.clientId), 'consent', { decision: 'deny' });
      assert.equal(answerOf(denied).error, 'access_denied');
      assert.equal(answerOf(await ask(closed.clientId, 'none')).error, 'access_denied');
      assert.equal((await logout()).status, 302);
      assert.deepEqual(await waiting(service.database), []);
    },
  );

  for (const [how, end] of [
    ['an administrator ends the sessions', (id: string) => service.api('DELETE', `/users/${id}/sessions`)],
    [
      'an administrator sets a password',
      (id: string) => service.api('POST', `/users/${id}`, { credentials: { password: { value: 'a new and better one' } } }),
    ],
    ['the user is deactivated', (id: string) => service.api('POST', `/users/${id}/lifecycle/deactivate`)],
    [
      'the user is deleted',
      async (id: string) => [await service.api('DELETE', `/users/${id}`), await service.api('DELETE', `/users/${id}`)].at(-1),
    ],
  ] as const) {
    await t.test(`when ${how}: each of the user's sessions, once`, async (t) => {
      const endpoint = await receiver(t);
      const client = await told(service, endpoint.uri);
      const one = await service.createUser({ firstName: 'Ada', lastName: 'Lovelace' });
      const sessions = [await signInAt(service, one, [['built-in', client]]), await signInAt(service, one, [['default', client]])];
      const answer = await end(one.id);
      assert.ok(answer !== undefined && answer.status < 300, JSON.stringify(answer?.body));
      const came = await endpoint.received(2);
      assert.deepEqual(came.map((token) => decodeJwt(token).sid).sort(), sessions.flatMap(({ sids }) => sids).sort());
      assert.deepEqual(new Set(came.map((token) => decodeJwt(token).sub)), new Set([one.id]));
    });
  }

  await t.test('when another user signs in on the same browser', async (t) => {
    const endpoint = await receiver(t);
    const client = await told(service, endpoint.uri);
    const { browser, sids } = await signInAt(service, user, [['built-in', client]]);
    const other = await service.createUser();
    const url = authorizeUrl(service, 'default', { client_id: (await createClient(service)).clientId, prompt: 'login' });
    assert.ok('code' in answerOf(await browser.signIn(await browser.visit(url), other)));
    const [token = ''] = await endpoint.received(1);
    assert.deepEqual([decodeJwt(token).sub, decodeJwt(token).sid], [user.id, sids[0]]);
  });

  await t.test('of many who end one session at once only one tells of it', async (t) => {
    const endpoint = await receiver(t);
    const client = await told(service, endpoint.uri);
    const one = await service.createUser();
    const { logout } = await signInAt(service, one, [['built-in', client]]);
    const answers = await Promise.all([...Array.from({ length: 10 }, logout), service.api('DELETE', `/users/${one.id}/sessions`)]);
    assert.ok(answers.every(({ status }) => status < 400));
    await endpoint.received(1);
    await eventually(async () => (await waiting(service.database)).length === 0, 'the outbox is empty');
    assert.equal(endpoint.tokens.length, 1);
  });

  await t.test('section 2.4: signed by the algorithm of the ID tokens, also on a server that was made at run time', async (t) => {
    const endpoint = await receiver(t);
    const client = await told(service, endpoint.uri);
    const { body: server } = await service.api('POST', '/authorizationServers', {
      name: 'Curves',
      audiences: ['api://curves'],
      signingAlg: 'ES256',
    });
    const { logout, idTokens } = await signInAt(service, user, [[server.id, client]]);
    await logout();
    const [token = ''] = await endpoint.received(1);
    await verified(service, server.id, client, token);
    assert.deepEqual(
      [idTokens[0] ?? '', token].map((jwt) => decodeProtectedHeader(jwt).alg),
      ['ES256', 'ES256'],
    );
  });

  await t.test('the library’s own calls, which would delay the browser, are out of reach', async () => {
    for (const serverId of ['built-in', 'default']) {
      const answer = await fetch(`${service.issuer(serverId)}/logout/confirm`, {
        method: 'POST',
        body: new URLSearchParams({ logout: 'yes' }),
      });
      assert.equal(answer.status, 404);
    }
  });
});

test('who is not there any more is not told: an application deleted, inactive, or without an address meanwhile, an inactive server', async (t) => {
  const secretKey = newSecretKey();
  const silent = await startService(t, { env: { ...LOCAL, SECRET_KEY: secretKey } });
  const user = await silent.createUser();
  const endpoint = await receiver(t);
  const clients = await Promise.all(Array.from({ length: 4 }, () => told(silent, endpoint.uri)));
  const [deleted, inactive, changed, served] = clients;
  assert.ok(deleted && inactive && changed && served);
  const created = await silent.api('POST', '/authorizationServers', { name: 'Short-lived', audiences: ['api://short'] });
  assert.ok(created.status < 300, JSON.stringify(created.body));
  const serverId: string = created.body.id;
  const { logout } = await signInAt(silent, user, [
    ['built-in', deleted],
    ['built-in', inactive],
    ['built-in', changed],
    [serverId, served],
  ]);
  await logout();
  assert.equal((await waiting(silent.database)).length, 4);

  await silent.api('POST', `/apps/${deleted.clientId}/lifecycle/deactivate`);
  const { body: app } = await silent.api('GET', `/apps/${changed.clientId}`);
  const { backchannel_logout_uri: _, backchannel_logout_session_required: __, ...oauthClient } = app.settings.oauthClient;
  const steps = [
    await silent.api('DELETE', `/apps/${deleted.clientId}`),
    await silent.api('POST', `/apps/${inactive.clientId}/lifecycle/deactivate`),
    await silent.api('PUT', `/apps/${changed.clientId}`, { ...app, settings: { oauthClient } }),
    await silent.api('POST', `/authorizationServers/${serverId}/lifecycle/deactivate`),
  ];
  assert.deepEqual(
    steps.map(({ status }) => status < 300),
    [true, true, true, true],
    JSON.stringify(steps.map(({ body }) => body)),
  );

  // A process that sends comes in only now.
  await startService(t, { env: LOCAL, sendsOutbox: true, beside: { database: silent.database, secretKey } });
  await eventually(async () => (await waiting(silent.database)).length === 0, 'the outbox is empty');
  assert.deepEqual(endpoint.tokens, []);
});

test('refreshed ID tokens keep the sid (section 2.1, OpenID Connect Core section 12.2)', async (t) => {
  const service = await startService(t);
  const client = await told(service, 'http://127.0.0.1:9/');
  const user = await service.createUser();
  const { body } = await tokensFor(service, new UserAgent(service.baseUrl), user, client, { serverId: 'default' });
  const { sid } = decodeJwt(body.id_token);
  assert.ok(typeof sid === 'string');
  const refreshed = await post(service, 'default', 'token', client, { grant_type: 'refresh_token', refresh_token: body.refresh_token });
  assert.equal(decodeJwt(refreshed.body.id_token).sid, sid);
});
