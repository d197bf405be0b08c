/** `inlineHooks` over HTTP (Okta's Inline Hooks API). What hooks decide is tested beside this file. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { inlineHookBody, inlineReceiver, PASSWORDS, SIGN_UPS, TOKENS } from '../../support/inline-hooks.ts';
import { causes, type ManagementApi, startManagementApi } from '../../support/management-api.ts';
import { startService } from '../../support/service.ts';

// biome-ignore lint/suspicious/noExplicitAny: what the API answers is asserted field by field
type Answer = any;
const SECRETS = {
  headers: [{ key: 'X-Tenant', value: 'value-of-tenant' }],
  authScheme: { type: 'HEADER', key: 'Authorization', value: 'Basic value-of-auth' },
};
const URI = 'https://receiver.example/hook';

describe('inline hooks', () => {
  let api: ManagementApi;
  let turn = 0;
  before(async () => {
    api = await startManagementApi();
  });
  after(() => api.close());

  const bodyOf = (type: string, more: Record<string, unknown> = {}) => {
    turn += 1;
    return { ...inlineHookBody(type, URI, {}, SECRETS), name: `Hook ${turn}`, ...more };
  };
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await api.call<Answer>(method, path, body);
    assert.ok(answer.status < 300, JSON.stringify(answer.body));
    return answer.body;
  };
  const refused = async (status: number, method: string, path: string, body?: unknown) => {
    const answer = await api.call(method, path, body);
    assert.equal(answer.status, status, JSON.stringify(answer.body));
    return causes(answer);
  };

  it('is created as Okta shows one, with a signing secret that is told this once and values that never are', async () => {
    const { id, signingSecret, created, lastUpdated, name, ...rest } = await call('POST', '/inlineHooks', bodyOf(TOKENS));
    assert.match(id, /^cal_/);
    assert.match(signingSecret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    assert.equal(created, lastUpdated);
    const self = `http://localhost:3000/api/v1/inlineHooks/${id}`;
    const step = (path: string) => ({ href: `${self}/${path}`, hints: { allow: ['POST'] } });
    assert.deepEqual(rest, {
      type: TOKENS,
      version: '1.0.0',
      failure: 'OPEN',
      status: 'ACTIVE',
      channel: {
        type: 'HTTP',
        version: '1.0.0',
        config: {
          uri: URI,
          method: 'POST',
          headers: [{ key: 'X-Tenant' }],
          authScheme: { type: 'HEADER', key: 'Authorization' },
        },
      },
      createdBy: api.admin.userId,
      _links: {
        self: { href: self },
        execute: step('execute'),
        deactivate: step('lifecycle/deactivate'),
      },
    });
    const known = await call('GET', `/inlineHooks/${id}`);
    assert.deepEqual([known.name, known.signingSecret], [name, undefined]);
    const list = await call('GET', '/inlineHooks?limit=200');
    assert.deepEqual(
      list.find((one: Answer) => one.id === id),
      known,
    );
  });

  it('fails open for tokens and closed for everything else, unless it says so; passwords never open', async () => {
    for (const [type, failure] of [
      [TOKENS, 'OPEN'],
      [SIGN_UPS, 'CLOSED'],
      [PASSWORDS, 'CLOSED'],
    ] as const)
      assert.equal((await call('POST', '/inlineHooks', bodyOf(type))).failure, failure);
    const { id, type, ...open } = await call('POST', '/inlineHooks', bodyOf(SIGN_UPS, { failure: 'OPEN' }));
    // As Okta's SDKs change one: without what Okta has no field for.
    const changed = await call('PUT', `/inlineHooks/${id}`, { name: open.name, channel: open.channel });
    assert.deepEqual([changed.type, changed.failure], [type, 'OPEN']);
    const passwords = await call('POST', '/inlineHooks', bodyOf(PASSWORDS));
    const opened = await refused(400, 'PUT', `/inlineHooks/${passwords.id}`, { name: 'x', failure: 'OPEN', channel: passwords.channel });
    assert.match(opened.join(), /^failure: must be CLOSED/);
    assert.match((await refused(400, 'POST', '/inlineHooks', bodyOf(PASSWORDS, { failure: 'OPEN' }))).join(), /^failure: must be CLOSED/);
  });

  it('has one name, one type for ever, and an address and headers as event hooks have them', async () => {
    const body = bodyOf(TOKENS);
    const { id } = await call('POST', '/inlineHooks', body);
    assert.deepEqual(await refused(409, 'POST', '/inlineHooks', body), ['name: another inline hook has this name. Choose another name']);
    const other = await call('POST', '/inlineHooks', bodyOf(TOKENS));
    assert.deepEqual(await refused(409, 'PUT', `/inlineHooks/${other.id}`, body), [
      'name: another inline hook has this name. Choose another name',
    ]);
    assert.deepEqual(await refused(400, 'PUT', `/inlineHooks/${id}`, { ...body, type: SIGN_UPS }), [
      `type: cannot be changed from ${TOKENS}. Create another inline hook`,
    ]);
    assert.match((await refused(400, 'POST', '/inlineHooks', bodyOf('com.okta.saml.tokens.transform'))).join(), /^type: /);
    for (const uri of ['http://receiver.example/', 'ftp://receiver.example/', 'https://user:password@receiver.example/'])
      assert.match((await refused(400, 'POST', '/inlineHooks', inlineHookBody(TOKENS, uri))).join(), /^channel\.config\.uri: /, uri);
    assert.match(
      (
        await refused(400, 'POST', '/inlineHooks', inlineHookBody(TOKENS, URI, {}, { headers: [{ key: 'Webhook-Id', value: 'x' }] }))
      ).join(),
      /is set by the service. Remove it/,
    );
  });

  it('keeps the values of headers at its host, and wants them again at another one', async () => {
    const body = bodyOf(TOKENS);
    const { id } = await call('POST', '/inlineHooks', body);
    const without = (uri: string) => ({
      ...body,
      channel: { ...body.channel, config: { uri, headers: [{ key: 'X-Tenant' }], authScheme: { type: 'HEADER', key: 'Authorization' } } },
    });
    await call('PUT', `/inlineHooks/${id}`, without(`${URI}/elsewhere`));
    assert.deepEqual(await refused(400, 'PUT', `/inlineHooks/${id}`, without('https://another.example/hook')), [
      'channel.config.authScheme.value: is required',
      'channel.config.headers.0.value: is required',
    ]);
    const logs = await call('GET', `/logs?${new URLSearchParams({ filter: `target.id eq "${id}"` })}`);
    assert.deepEqual(
      logs.map(({ eventType }: Answer) => eventType),
      ['inline_hook.created', 'inline_hook.updated'],
    );
    assert.ok(!/value-of|whsec_/.test(JSON.stringify(logs)));
  });

  it('is deactivated and activated, with an event each, and once', async () => {
    const { id } = await call('POST', '/inlineHooks', bodyOf(SIGN_UPS));
    for (const step of ['deactivate', 'deactivate', 'activate']) await call('POST', `/inlineHooks/${id}/lifecycle/${step}`);
    const logs = await call('GET', `/logs?${new URLSearchParams({ filter: `target.id eq "${id}"` })}`);
    assert.deepEqual(
      logs.map(({ eventType }: Answer) => eventType),
      ['inline_hook.created', 'inline_hook.deactivated', 'inline_hook.activated'],
    );
    assert.equal((await api.call('DELETE', `/inlineHooks/${id}`)).status, 204);
    await refused(404, 'GET', `/inlineHooks/${id}`);
  });
});

it('a test run sends a signed sample, tells what came and changes nothing; without ALLOW_PRIVATE_NETWORK it asks nobody here', async (t) => {
  const receiver = await inlineReceiver(t);
  const [guarded, open] = [await startService(t), await startService(t, { env: { ALLOW_PRIVATE_NETWORK: 'true' } })];
  const { body: unreachable } = await guarded.api('POST', '/inlineHooks', inlineHookBody(TOKENS, receiver.uri));
  const { body: refusal } = await guarded.api('POST', `/inlineHooks/${unreachable.id}/execute`);
  assert.deepEqual([refusal.outcome, refusal.problem, receiver.asked.length], ['FAILED', 'PRIVATE_ADDRESS', 0]);

  for (const [type, answer, problem] of [
    [TOKENS, { commands: [{ type: 'com.okta.access.patch', value: [{ op: 'add', path: '/claims/plan', value: 'gold' }] }] }, null],
    [
      TOKENS,
      { commands: [{ type: 'com.okta.access.patch', value: [{ op: 'add', path: '/claims/iss', value: 'x' }] }] },
      '/claims/iss is a claim of the protocol',
    ],
    [PASSWORDS, { commands: [{ type: 'com.okta.action.update', value: { credential: 'VERIFIED' } }] }, null],
    [SIGN_UPS, {}, null],
  ] as const) {
    receiver.secret = undefined;
    receiver.asked.length = 0;
    receiver.answers(answer);
    const { body: hook } = await open.api('POST', '/inlineHooks', { ...inlineHookBody(type, receiver.uri), name: `${type} ${problem}` });
    receiver.secret = hook.signingSecret;
    const { status, body } = await open.api('POST', `/inlineHooks/${hook.id}/execute`);
    assert.deepEqual([status, body.outcome, body.problem, body.status], [200, problem === null ? 'ANSWERED' : 'FAILED', problem, 200]);
    assert.equal(receiver.asked.length, 1);
    assert.equal(receiver.asked[0]?.body, body.request);
    assert.equal(receiver.asked[0]?.event.eventType, type);
    assert.deepEqual(JSON.parse(body.response), answer);
    const mine = { context: { user: { id: 'mine' } } };
    await open.api('POST', `/inlineHooks/${hook.id}/execute`, { data: mine });
    assert.deepEqual(receiver.asked[1]?.event.data, mine);
  }
});
