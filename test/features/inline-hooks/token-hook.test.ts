/** The hook of a rule that changes tokens (Okta's token inline hook), asked of a real receiver by the OAuth endpoints. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { decodeJwt } from 'jose';
import { answerOf, authorizeUrl, createClient, post, tokensFor } from '../../protocol/servers/relying-party.ts';
import { setPolicies } from '../../support/access-policies.ts';
import { createInlineHook, type InlineReceiver, inlineReceiver, TOKENS } from '../../support/inline-hooks.ts';
import { type Service, startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';

const SCOPE = 'openid profile offline_access';
const access = (...value: object[]) => ({ type: 'com.okta.access.patch', value });
const identity = (...value: object[]) => ({ type: 'com.okta.identity.patch', value });
const add = (name: string, value: unknown) => ({ op: 'add', path: `/claims/${name}`, value });
const LIFETIME = '/token/lifetime/expiration';

async function withHook(t: TestContext, more: Record<string, unknown> = {}, settings: Record<string, unknown> = {}) {
  const service = await startService(t, { env: { ALLOW_PRIVATE_NETWORK: 'true' } });
  const receiver = await inlineReceiver(t);
  const id = await createInlineHook(service, receiver, TOKENS, more);
  await setPolicies(service, 'default', [{ rules: [{ actions: { token: { inlineHook: { id } } } }] }]);
  const user = await service.createUser({ firstName: 'Ada', lastName: 'Lovelace', zoneinfo: 'Europe/London' });
  const client = await createClient(service, {
    grant_types: ['authorization_code', 'refresh_token', 'implicit', 'client_credentials'],
    response_types: ['code', 'token', 'id_token', 'id_token token', 'code id_token'],
    ...settings,
  });
  const browser = new UserAgent(service.baseUrl);
  const signIn = () => tokensFor(service, browser, user, client, { serverId: 'default', scope: SCOPE });
  return { service, receiver, id, user, client, browser, signIn };
}

const introspect = async (service: Service, client: Parameters<typeof post>[3], token: string) =>
  (await post(service, 'default', 'introspect', client, { token })).body;

const executed = async (service: Service, id: string) =>
  (
    await service.api(
      'GET',
      `/logs?${new URLSearchParams({ filter: `eventType eq "inline_hook.executed" and target.id eq "${id}"`, sortOrder: 'DESCENDING' })}`,
    )
  ).body;

test('a hook changes claims and lifetimes of access and ID token, at the code and at each refresh, asked once each time', async (t) => {
  const { service, receiver, id, user, client, signIn } = await withHook(t);
  receiver.answers({
    commands: [
      identity(
        add('patient', { id: 4711, tags: ['a'] }),
        { op: 'add', path: '/claims/patient/tags/-', value: 'b' },
        { op: 'remove', path: '/claims/family_name' },
        { op: 'replace', path: LIFETIME, value: 600 },
      ),
      access(add('https:~1~1example.com~1tenant', 'north'), { op: 'replace', path: LIFETIME, value: 900 }),
    ],
  });
  const { status, body } = await signIn();
  assert.equal(status, 200, JSON.stringify(body));
  assert.equal(receiver.asked.length, 1);
  const judge = async (tokens: typeof body) => {
    const [accessToken, idToken] = [decodeJwt(tokens.access_token), decodeJwt(tokens.id_token)];
    assert.equal(accessToken['https://example.com/tenant'], 'north');
    assert.deepEqual([tokens.expires_in, Number(accessToken.exp) - Number(accessToken.iat)], [900, 900]);
    assert.deepEqual(idToken.patient, { id: 4711, tags: ['a', 'b'] });
    assert.equal(Number(idToken.exp) - Number(idToken.iat), 600);
    assert.deepEqual([idToken.given_name, idToken.family_name, idToken.sub], ['Ada', undefined, user.id]);
    assert.ok(idToken.at_hash !== undefined && !('hooked_claims' in accessToken));
    const told = await introspect(service, client, tokens.access_token);
    assert.deepEqual([told.active, told['https://example.com/tenant'], told.hooked_claims], [true, 'north', undefined]);
    assert.ok(told.exp - told.iat === 900);
  };
  await judge(body);
  const refreshed = await post(service, 'default', 'token', client, { grant_type: 'refresh_token', refresh_token: body.refresh_token });
  assert.equal(refreshed.status, 200, JSON.stringify(refreshed.body));
  assert.equal(receiver.asked.length, 2);
  await judge(refreshed.body);

  const { headers, event } = receiver.asked[0] ?? {};
  assert.equal(headers?.['content-type'], 'application/json');
  assert.deepEqual([event.eventType, event.eventTypeVersion, event.cloudEventVersion], [TOKENS, '1.0', '0.1']);
  const { context, access: proposed, identity: proposedId } = event.data;
  assert.deepEqual(context.user.profile, { login: user.login, firstName: 'Ada', lastName: 'Lovelace', timeZone: 'Europe/London' });
  assert.deepEqual(context.protocol.client.id, client.clientId);
  assert.equal(context.protocol.issuer.uri, service.issuer('default'));
  assert.equal(context.request.url.value, `${service.issuer('default')}/token`);
  assert.ok(context.policy.id && context.policy.rule.id);
  assert.deepEqual(Object.keys(proposed.scopes).sort(), SCOPE.split(' ').sort());
  assert.deepEqual([proposed.claims.sub, proposed.claims.client_id], [user.id, client.clientId]);
  assert.deepEqual([proposedId.claims.sub, proposedId.claims.given_name, proposedId.token.lifetime.expiration], [user.id, 'Ada', 3600]);
  for (const secret of [client.clientSecret, body.refresh_token, user.password])
    assert.ok(!receiver.asked.some((one) => one.body.includes(String(secret))));

  const [latest] = await executed(service, id);
  assert.deepEqual(latest.outcome.result, 'SUCCESS');
  const { decision } = latest.debugContext;
  assert.deepEqual(decision.outcome, 'CHANGED');
  assert.deepEqual([...decision.changed].sort(), [
    'access: https://example.com/tenant',
    'access: lifetime',
    'identity: family_name',
    'identity: lifetime',
    'identity: patient',
  ]);
  assert.ok(!JSON.stringify(latest).includes('north'), 'values are not kept');
});

test('an opaque token keeps what the hook said until it ends, and a client by itself has a hook too', async (t) => {
  const { service, receiver, id, client } = await withHook(t);
  const { body: server } = await service.api('POST', '/authorizationServers', {
    name: 'Opaque',
    accessTokenFormat: 'opaque',
    signingAlg: 'ES256',
  });
  await service.api('POST', `/authorizationServers/${server.id}/claims`, {
    name: 'plan',
    claimType: 'RESOURCE',
    valueType: 'STATIC',
    value: 'free',
  });
  await service.api('POST', `/authorizationServers/${server.id}/claims`, {
    name: 'region',
    claimType: 'RESOURCE',
    valueType: 'STATIC',
    value: 'eu',
  });
  await setPolicies(service, server.id, [{ rules: [{ actions: { token: { inlineHook: { id } } } }] }]);
  receiver.answers({
    commands: [access({ op: 'replace', path: '/claims/plan', value: 'gold' }, { op: 'remove', path: '/claims/region' })],
  });
  const { status, body } = await post(service, server.id, 'token', client, { grant_type: 'client_credentials' });
  assert.equal(status, 200, JSON.stringify(body));
  receiver.answers({});
  const told = (await post(service, server.id, 'introspect', client, { token: body.access_token })).body;
  assert.deepEqual([told.active, told.plan, 'region' in told, 'hooked_claims' in told], [true, 'gold', false, false]);
  assert.equal(receiver.asked[0]?.event.data.identity, undefined);
  assert.deepEqual(receiver.asked[0]?.event.data.access.claims.plan, 'free');
  const plain = (await post(service, server.id, 'token', client, { grant_type: 'client_credentials' })).body;
  const unchanged = (await post(service, server.id, 'introspect', client, { token: plain.access_token })).body;
  assert.deepEqual([unchanged.plan, unchanged.region], ['free', 'eu']);
});

test('the ID token of the authorize endpoint is changed, with an access token beside it or alone', async (t) => {
  const { service, receiver, client, browser, signIn } = await withHook(t);
  receiver.answers({ commands: [identity(add('team', 'blue'))] });
  await signIn();
  for (const response_type of ['id_token', 'id_token token', 'code id_token']) {
    receiver.asked.length = 0;
    const url = authorizeUrl(service, 'default', { client_id: client.clientId, response_type, scope: 'openid', prompt: 'none' });
    const { id_token = '', error } = answerOf(await browser.visit(url));
    assert.equal(error, undefined);
    assert.deepEqual([decodeJwt(id_token).team, receiver.asked.length], ['blue', 1], response_type);
  }
});

const WRONG: readonly (readonly [string, object])[] = [
  ['/claims/sub is a claim of the protocol', access(add('sub', 'somebody-else'))],
  ['/claims/aud is a claim of the protocol', identity(add('aud', 'another'))],
  ['/claims/scope is a claim of the protocol', access(add('scope', 'admin'))],
  ['/claims/client_id is a claim of the protocol', identity(add('client_id', 'x'))],
  ['/claims/__proto__ is a claim of the protocol', access(add('__proto__', { a: 1 }))],
  ['a path is neither', access({ op: 'add', path: '/scopes/admin', value: {} })],
  ['a command is neither', { type: 'com.okta.assertion.patch', value: [] }],
  ['a hook makes tokens shorter only', access({ op: 'replace', path: LIFETIME, value: 86_400 })],
  ['a hook makes tokens shorter only', identity({ op: 'replace', path: LIFETIME, value: 299 })],
  ['there is nothing at this path', access({ op: 'replace', path: '/claims/unknown', value: 1 })],
  ['larger than 8 KiB', access(add('large', 'x'.repeat(8000)))],
];

test('a response with one wrong operation changes nothing: OPEN issues the token as it was, CLOSED none', async (t) => {
  const { service, receiver, id, signIn } = await withHook(t, { failure: 'OPEN' });
  for (const [detail, command] of WRONG) {
    receiver.answers({ commands: [access(add('fine', true)), identity(add('fine', true)), command] });
    const { status, body } = await signIn();
    assert.equal(status, 200, detail);
    for (const token of [body.access_token, body.id_token]) assert.equal(decodeJwt(token).fine, undefined, detail);
    const [latest] = await executed(service, id);
    assert.deepEqual(latest.outcome, { result: 'FAILURE', reason: 'INVALID_RESPONSE' });
    assert.ok(latest.debugContext.decision.detail.includes(detail), latest.debugContext.decision.detail);
  }
  const { body: hook } = await service.api('GET', `/inlineHooks/${id}`);
  const closed = await service.api('PUT', `/inlineHooks/${id}`, {
    name: hook.name,
    type: TOKENS,
    failure: 'CLOSED',
    channel: hook.channel,
  });
  assert.equal(closed.status, 200, JSON.stringify(closed.body));
  receiver.answers({ commands: [access(add('sub', 'somebody-else'))] });
  const { status, body } = await signIn();
  assert.deepEqual([status, body.error], [503, 'temporarily_unavailable']);
  receiver.answers({});
  assert.equal((await signIn()).status, 200);
});

const timed = async <T>(work: () => Promise<T>): Promise<readonly [T, number]> => {
  const begun = performance.now();
  return [await work(), performance.now() - begun];
};

test('a hook that hangs is given up after three seconds, one that fails is asked twice, one that refuses once', async (t) => {
  const { service, receiver, id, client, signIn } = await withHook(t);
  const ask = () => post(service, 'default', 'token', client, { grant_type: 'client_credentials' });
  const cases: readonly (readonly [string, Parameters<InlineReceiver['answers']>[0], number])[] = [
    ['SERVER_ERROR', (res) => res.writeHead(500).end(), 2],
    ['UNREACHABLE', (res) => res.destroy(), 2],
    ['STATUS', (res) => res.writeHead(404).end(), 1],
    ['INVALID_RESPONSE', (res) => res.end('not JSON'), 1],
    ['INVALID_RESPONSE', (res) => res.end('x'.repeat(300_000)), 1],
    ['INVALID_RESPONSE', (res) => res.writeHead(302, { location: receiver.uri }).end(), 1],
    [
      'INVALID_RESPONSE',
      (res) =>
        res.end(
          `{"commands":[{"type":"com.okta.access.patch","value":[{"op":"add","path":"/claims/x","value":${'['.repeat(50_000)}${']'.repeat(50_000)}}]}]}`,
        ),
      1,
    ],
  ];
  for (const [problem, answer, attempts] of cases) {
    receiver.asked.length = 0;
    receiver.answers(answer);
    assert.equal((await ask()).status, 200, 'OPEN is what a token hook is unless it says otherwise');
    const [latest] = await executed(service, id);
    assert.deepEqual([latest.outcome, receiver.asked.length], [{ result: 'FAILURE', reason: problem }, attempts], problem);
    assert.equal(new Set(receiver.asked.map(({ headers }) => headers['webhook-id'])).size, 1, 'a repetition has the same id');
  }
  receiver.answers(() => {});
  const [{ status }, took] = await timed(ask);
  assert.equal(status, 200);
  assert.ok(took > 2500 && took < 5500, `${took} ms`);

  // A recovered hook, and its own refusal.
  receiver.answers((res) => res.end(JSON.stringify({ error: { errorSummary: 'Not on a Sunday "x"' } })));
  const denied = await signIn();
  assert.deepEqual([denied.status, denied.body.error, denied.body.error_description], [400, 'access_denied', 'Not on a Sunday  x']);
  let failures = 0;
  receiver.answers((res) =>
    failures++ === 0 ? res.writeHead(503).end() : res.end(JSON.stringify({ commands: [access(add('after', 'retry'))] })),
  );
  assert.equal(decodeJwt((await ask()).body.access_token).after, 'retry');
});

test('an inactive hook is not asked, a named one is not deleted, and without one nothing is asked', async (t) => {
  const { service, receiver, id, client } = await withHook(t, { failure: 'CLOSED' });
  const ask = () => post(service, 'default', 'token', client, { grant_type: 'client_credentials' });
  assert.equal((await service.api('POST', `/inlineHooks/${id}/lifecycle/deactivate`)).status, 200);
  assert.equal((await ask()).status, 200);
  const named = await service.api('DELETE', `/inlineHooks/${id}`);
  assert.deepEqual([named.status, /uses this inline hook/.test(JSON.stringify(named.body))], [403, true]);
  await setPolicies(service, 'default', [{ rules: [{}] }]);
  assert.equal((await ask()).status, 200);
  assert.equal(receiver.asked.length, 0);
  assert.equal((await service.api('DELETE', `/inlineHooks/${id}`)).status, 204);
  const { body: policies } = await service.api('GET', '/authorizationServers/default/policies');
  const rule = { name: 'With a hook', conditions: {}, actions: { token: { inlineHook: { id } } } };
  const missing = await service.api('POST', `/authorizationServers/default/policies/${policies[0].id}/rules`, rule);
  assert.deepEqual([missing.status, missing.body.errorCauses[0].errorSummary], [400, `actions.token.inlineHook.id: ${id} does not exist`]);
});

test('the simulator asks the hook only when that is wished', async (t) => {
  const { service, receiver, id, user, client } = await withHook(t);
  receiver.answers({
    commands: [access(add('plan', 'gold'), { op: 'replace', path: LIFETIME, value: 301 }), identity(add('team', 'blue'))],
  });
  const simulate = async (more: object = {}) =>
    (
      await service.api('POST', '/authorizationServers/default/simulate', {
        client_id: client.clientId,
        user: user.login,
        grant_type: 'authorization_code',
        scopes: ['openid'],
        ...more,
      })
    ).body;
  const unasked = await simulate();
  assert.deepEqual([unasked.inline_hook, receiver.asked.length], [{ id, outcome: 'NOT_RUN', reason: null }, 0]);
  const asked = await simulate({ run_inline_hook: true });
  assert.deepEqual(
    [
      asked.inline_hook.outcome,
      asked.tokens.access_token.claims.plan,
      asked.tokens.id_token.claims.team,
      asked.lifetimes.accessTokenSeconds,
    ],
    ['CHANGED', 'gold', 'blue', 301],
  );
  receiver.answers({ error: { errorSummary: 'No' } });
  const denied = await simulate({ run_inline_hook: true });
  assert.deepEqual([denied.inline_hook, denied.tokens], [{ id, outcome: 'DENIED', reason: 'No' }, null]);
});
