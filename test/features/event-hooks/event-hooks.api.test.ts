/** `eventHooks` over HTTP (management API, "eventHooks"; Okta's Event Hooks API). What hooks are told is tested in test/features/event-hooks/event-hook-delivery.service.test.ts. */
import assert from 'node:assert/strict';
import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import { after, before, describe, it, type TestContext, test } from 'node:test';
import { answersChallenge, hookBody } from '../../support/event-hooks.ts';
import { listen } from '../../support/listen.ts';
import { causes, type ManagementApi, startManagementApi } from '../../support/management-api.ts';
import { startService } from '../../support/service.ts';

interface Hook {
  readonly id: string;
  readonly status: string;
  readonly verificationStatus: string;
  readonly signingSecret?: string;
  readonly created: string;
  readonly lastUpdated: string;
  readonly [field: string]: unknown;
}

const SECRETS = {
  headers: [{ key: 'X-Tenant', value: 'value-of-tenant' }],
  authScheme: { type: 'HEADER', key: 'Authorization', value: 'Basic value-of-auth' },
};
const TYPES = ['user.lifecycle.create', 'group.lifecycle.create'];

/** A receiver. @returns its address, and the headers of the challenges that came */
async function receiver(t: TestContext, listener: RequestListener = answersChallenge) {
  const challenges: IncomingHttpHeaders[] = [];
  const origin = await listen(t, '127.0.0.1', (req, res) => {
    challenges.push(req.headers);
    listener(req, res);
  });
  return { uri: `${origin}/hook`, challenges };
}

describe('event hooks', () => {
  let api: ManagementApi;
  before(async () => {
    api = await startManagementApi();
  });
  after(() => api.close());

  const create = async (uri: string, config: Record<string, unknown> = SECRETS): Promise<Hook> => {
    const { status, body } = await api.call<Hook>('POST', '/eventHooks', hookBody(uri, TYPES, config));
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  };
  const read = async (id: string): Promise<Hook> => (await api.call<Hook>('GET', `/eventHooks/${id}`)).body;
  const refused = async (method: string, path: string, body?: unknown): Promise<string[]> => {
    const answer = await api.call(method, path, body);
    assert.deepEqual([answer.status, answer.body.errorCode], [400, 'E0000001'], JSON.stringify(answer.body));
    return causes(answer);
  };
  const events = async (id: string) => {
    const { body } = await api.call<{ eventType: string; debugContext: Record<string, unknown>; target: unknown[] }[]>(
      'GET',
      `/logs?${new URLSearchParams({ filter: `target.id eq "${id}"`, limit: '200' })}`,
    );
    return body;
  };

  it('is created as Okta shows one, active and not verified, with a signing secret that is told this once', async () => {
    const { id, signingSecret, created, lastUpdated, ...rest } = await create('https://receiver.example/hook');
    const self = `http://localhost:3000/api/v1/eventHooks/${id}`;
    const step = (name: string) => ({ href: `${self}/lifecycle/${name}`, hints: { allow: ['POST'] } });
    assert.match(id, /^who_/);
    assert.equal(created, lastUpdated);
    assert.match(signingSecret ?? '', /^whsec_[A-Za-z0-9+/]{43}=$/);
    assert.deepEqual(rest, {
      name: 'Hook of tests',
      status: 'ACTIVE',
      verificationStatus: 'UNVERIFIED',
      events: { type: 'EVENT_TYPE', items: TYPES, filter: null },
      channel: {
        type: 'HTTP',
        version: '1.0.0',
        config: {
          uri: 'https://receiver.example/hook',
          method: 'POST',
          headers: [{ key: 'X-Tenant' }],
          authScheme: { type: 'HEADER', key: 'Authorization' },
        },
      },
      createdBy: api.admin.userId,
      _links: { self: { href: self }, verify: step('verify'), deactivate: step('deactivate') },
    });
    const { signingSecret: _, ...known } = await create('https://receiver.example/hook');
    assert.deepEqual(await read(known.id), known);
    const { body: list } = await api.call<Hook[]>('GET', '/eventHooks?limit=200');
    assert.deepEqual(
      list.find((one) => one.id === known.id),
      known,
    );
  });

  it('refuses types of events that do not exist, and those that would be news of its own news, by the place of each', async () => {
    const causesOf = (items: unknown) => refused('POST', '/eventHooks', hookBody('https://receiver.example/', items as string[]));
    const message = 'is not an event type that hooks can receive';
    assert.deepEqual(await causesOf(['user.lifecycle.create', 'user.lifecycle.*', 'event_hook.delivery', 'constructor']), [
      `events.items.1: ${message}`,
      `events.items.2: ${message}`,
      `events.items.3: ${message}`,
    ]);
    assert.deepEqual(await causesOf([]), ['events.items: must not be empty']);
  });

  it('has no filter, and none is ignored: null alone, as it answers', async () => {
    const body = hookBody('https://receiver.example/', TYPES);
    const withFilter = (filter: unknown) => ({ ...body, events: { ...body.events, filter } });
    assert.equal((await api.call('POST', '/eventHooks', withFilter(null))).status, 200);
    const filter = { eventFilterMap: [{ event: TYPES[0], condition: { expression: 'event.target.?[type eq "User"].size()>0' } }] };
    const causesOf = await refused('POST', '/eventHooks', withFilter(filter));
    assert.deepEqual(causesOf, ['events.filter: must be null: hooks receive all events of their types']);
  });

  it('calls no address that is not https, or hides its host, or has a fragment', async () => {
    for (const uri of [
      ...['http://receiver.example/', 'ftp://receiver.example/', 'javascript:alert(1)', 'https:receiver.example', '/hook', ''],
      ...['https://user:password@receiver.example/', 'https://receiver.example/#part', `https://receiver.example/${'x'.repeat(2048)}`],
    ]) {
      assert.match((await refused('POST', '/eventHooks', hookBody(uri, TYPES))).join(), /^channel\.config\.uri: /, uri);
    }
    for (const uri of ['http://127.0.0.1:9/', 'http://localhost:9/', 'https://receiver.example:8443/?a=b']) await create(uri);
  });

  it('sends no header that is its own, twice, without a value or with a line break', async () => {
    const causesOf = (config: Record<string, unknown>) =>
      refused('POST', '/eventHooks', hookBody('https://receiver.example/', TYPES, config));
    for (const key of [
      'Host',
      'content-length',
      'Content-Type',
      'Transfer-Encoding',
      'webhook-signature',
      'X-Okta-Verification-Challenge',
    ]) {
      assert.deepEqual(await causesOf({ headers: [{ key, value: 'x' }] }), [
        'channel.config.headers.0.key: is set by the service. Remove it',
      ]);
      assert.deepEqual(await causesOf({ authScheme: { type: 'HEADER', key, value: 'x' } }), [
        'channel.config.authScheme.key: is set by the service. Remove it',
      ]);
    }
    for (const key of ['', 'two words', 'a:b', 'a\r\nb', 'ümlaut', 'x'.repeat(101)]) {
      assert.match((await causesOf({ headers: [{ key, value: 'x' }] })).join(), /^channel\.config\.headers\.0\.key: /);
    }
    for (const value of ['', ' x', 'a\r\nSet-Cookie: b', 'مفتاح', 'x'.repeat(4097)]) {
      assert.match((await causesOf({ headers: [{ key: 'X-A', value }] })).join(), /^channel\.config\.headers\.0\.value: /);
    }
    const twice = [
      { key: 'X-A', value: 'x' },
      { key: 'x-a', value: 'y' },
    ];
    assert.deepEqual(await causesOf({ headers: twice }), ['channel.config.headers: must not contain a header twice']);
    assert.deepEqual(await causesOf({ headers: twice.slice(1), authScheme: { type: 'HEADER', key: 'X-a', value: 'z' } }), [
      'channel.config.authScheme.key: is already the name of a header. Choose another name',
    ]);
    assert.deepEqual(await causesOf({ headers: [{ key: 'X-A' }], authScheme: { type: 'HEADER', key: 'X-B' } }), [
      'channel.config.authScheme.value: is required',
      'channel.config.headers.0.value: is required',
    ]);
  });

  it('is verified by a challenge that its receiver answers, which gets the headers of the hook', async (t) => {
    const { uri, challenges } = await receiver(t);
    const { id } = await create(uri);
    const { status, body } = await api.call<Hook>('POST', `/eventHooks/${id}/lifecycle/verify`);
    assert.deepEqual([status, body.verificationStatus], [200, 'VERIFIED']);
    const [headers, ...others] = challenges;
    assert.deepEqual(others, []);
    assert.match(String(headers?.['x-okta-verification-challenge']), /^[\w-]{43}$/);
    assert.equal(headers?.['x-gatehouse-verification-challenge'], headers?.['x-okta-verification-challenge']);
    assert.deepEqual([headers?.['x-tenant'], headers?.authorization], ['value-of-tenant', 'Basic value-of-auth']);
    const [, verified] = await events(id);
    assert.equal(verified?.eventType, 'event_hook.verified');
    assert.deepEqual(verified?.debugContext, { before: { verificationStatus: 'UNVERIFIED' }, after: { verificationStatus: 'VERIFIED' } });
  });

  for (const [what, answer, cause] of [
    ['nothing', (_req, res) => res.end(), 'did not return the challenge of the verification'],
    ['another challenge', (_req, res) => res.end('{"verification":"x"}'), 'did not return the challenge of the verification'],
    ['no object', (_req, res) => res.end('null'), 'did not return the challenge of the verification'],
    ['an endless answer', (_req, res) => res.end('x'.repeat(300_000)), 'did not return the challenge of the verification'],
    ['an error', (_req, res) => res.writeHead(500).end(), 'responded to the verification with status 500. It must respond with 200'],
    ['a redirect', (_req, res) => res.writeHead(302, { location: '/' }).end(), 'cannot be reached. Check the URL and the server'],
    ['a broken connection', (req) => req.destroy(), 'cannot be reached. Check the URL and the server'],
  ] as const satisfies readonly (readonly [string, RequestListener, string])[]) {
    it(`is not verified by ${what}`, async (t) => {
      const { uri } = await receiver(t, answer);
      const { id } = await create(uri);
      assert.deepEqual(await refused('POST', `/eventHooks/${id}/lifecycle/verify`), [`channel.config.uri: ${cause}`]);
      assert.equal((await read(id)).verificationStatus, 'UNVERIFIED');
      assert.equal((await events(id)).length, 1);
    });
  }

  it('is not verified at an address that it had when it was asked', async (t) => {
    let id = '';
    const { uri } = await receiver(t, async (req, res) => {
      await api.call('PUT', `/eventHooks/${id}`, hookBody('https://another.example/', TYPES));
      answersChallenge(req, res);
    });
    ({ id } = await create(uri));
    assert.deepEqual((await api.call('POST', `/eventHooks/${id}/lifecycle/verify`)).body.errorCode, 'E0000038');
    assert.equal((await read(id)).verificationStatus, 'UNVERIFIED');
  });

  it('stays as it is when its answer is sent back, values that are not shown too', async (t) => {
    const { uri, challenges } = await receiver(t);
    const created = await create(uri);
    await api.call('POST', `/eventHooks/${created.id}/lifecycle/verify`);
    const answer = await api.call<Hook>('PUT', `/eventHooks/${created.id}`, created);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    const { lastUpdated: _, signingSecret: __, ...expected } = { ...created, verificationStatus: 'VERIFIED' };
    const { lastUpdated: ___, ...kept } = answer.body;
    assert.deepEqual(kept, expected);
    await api.call('POST', `/eventHooks/${created.id}/lifecycle/verify`);
    assert.deepEqual([challenges[1]?.['x-tenant'], challenges[1]?.authorization], ['value-of-tenant', 'Basic value-of-auth']);
  });

  it('is replaced: what is not given is gone, another value is another, another address has to be verified', async (t) => {
    const [first, second] = [await receiver(t), await receiver(t)];
    const { id } = await create(first.uri);
    await api.call('POST', `/eventHooks/${id}/lifecycle/verify`);
    const put = (uri: string, config: Record<string, unknown>) =>
      api.call<Hook>('PUT', `/eventHooks/${id}`, hookBody(uri, ['org.update'], config));
    const sameHost = await put(`${first.uri}/deeper`, { headers: [{ key: 'x-tenant' }, { key: 'X-New', value: 'new' }] });
    assert.deepEqual([sameHost.status, sameHost.body.verificationStatus], [200, 'UNVERIFIED']);
    assert.deepEqual(sameHost.body.events, { type: 'EVENT_TYPE', items: ['org.update'], filter: null });
    await api.call('POST', `/eventHooks/${id}/lifecycle/verify`);
    const [, headers] = first.challenges;
    assert.deepEqual([headers?.['x-tenant'], headers?.['x-new'], headers?.authorization], ['value-of-tenant', 'new', undefined]);

    // Whoever may change the address must not learn by it what he is not shown.
    const body = hookBody(second.uri, TYPES, { headers: [{ key: 'X-Tenant' }], authScheme: { type: 'HEADER', key: 'Authorization' } });
    assert.deepEqual(await refused('PUT', `/eventHooks/${id}`, body), [
      'channel.config.authScheme.value: is required',
      'channel.config.headers.0.value: is required',
    ]);
    assert.equal((await put(second.uri, {})).body.verificationStatus, 'UNVERIFIED');
    const last = (await events(id)).at(-1);
    const common = { name: 'Hook of tests', description: '', status: 'ACTIVE', eventTypes: ['org.update'] };
    assert.deepEqual([last?.eventType, last?.target], ['event_hook.updated', [{ id, type: 'EventHook', displayName: 'Hook of tests' }]]);
    assert.deepEqual(last?.debugContext, {
      before: { ...common, verificationStatus: 'VERIFIED', uri: `${first.uri}/deeper`, headers: ['x-tenant', 'X-New'] },
      after: { ...common, verificationStatus: 'UNVERIFIED', uri: second.uri, headers: [] },
    });
  });

  it('is deactivated and activated, each told once', async () => {
    const { id } = await create('https://receiver.example/');
    const step = async (name: string) => {
      const { status, body } = await api.call<Hook>('POST', `/eventHooks/${id}/lifecycle/${name}`);
      assert.equal(status, 200);
      return [body.status, Object.keys(body._links as object).sort()];
    };
    assert.deepEqual(await step('deactivate'), ['INACTIVE', ['activate', 'self', 'verify']]);
    assert.deepEqual(await step('deactivate'), ['INACTIVE', ['activate', 'self', 'verify']]);
    assert.deepEqual(await step('activate'), ['ACTIVE', ['deactivate', 'self', 'verify']]);
    assert.deepEqual(
      (await events(id)).map(({ eventType }) => eventType),
      ['event_hook.created', 'event_hook.deactivated', 'event_hook.activated'],
    );
  });

  it('is deleted', async () => {
    const { id } = await create('https://receiver.example/');
    assert.equal((await api.call('DELETE', `/eventHooks/${id}`)).status, 204);
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/lifecycle/verify'],
      ['POST', '/credentials/secret'],
    ] as const) {
      assert.equal((await api.call(method, `/eventHooks/${id}${path}`)).body.errorCode, 'E0000007');
    }
    assert.equal((await events(id)).at(-1)?.eventType, 'event_hook.deleted');
  });

  it('is listed in pages, oldest first, and created once with one Idempotency-Key', async () => {
    const ids: string[] = [];
    for (let turn = 0; turn < 3; turn += 1) ids.push((await create('https://receiver.example/')).id);
    const { body: all } = await api.call<Hook[]>('GET', '/eventHooks?limit=200');
    assert.deepEqual(
      all.slice(-3).map(({ id }) => id),
      ids,
    );
    const page = await api.call<Hook[]>('GET', '/eventHooks?limit=1');
    assert.equal(page.body.length, 1);
    assert.match(page.headers.get('link') ?? '', /rel="next"/);

    const body = hookBody('https://receiver.example/', TYPES);
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => api.call<Hook>('POST', '/eventHooks', body, { 'idempotency-key': 'hooks-once' })),
    );
    assert.equal(new Set(answers.map((one) => `${one.status} ${one.body.id} ${one.body.signingSecret}`)).size, 1);
  });

  it('has names with markup and right-to-left script, but none with control characters', async () => {
    for (const name of ['<script>alert(1)</script>', 'مرحبا ‮abc']) {
      const body = { ...hookBody('https://receiver.example/', TYPES), name };
      assert.equal((await api.call<Hook>('POST', '/eventHooks', body)).body.name, name);
    }
    for (const name of ['', 'a\nb', 'x'.repeat(10_000)]) {
      assert.match((await refused('POST', '/eventHooks', { ...hookBody('https://receiver.example/', TYPES), name })).join(), /^name: /);
    }
  });

  it('keeps values of headers and signing secrets out of the database, of answers and of the audit log', async () => {
    const { id, signingSecret = '' } = await create('https://receiver.example/');
    const renewed = await api.call<{ signingSecret: string }>('POST', `/eventHooks/${id}/credentials/secret`);
    assert.equal(renewed.status, 201);
    assert.match(renewed.body.signingSecret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    assert.notEqual(renewed.body.signingSecret, signingSecret);
    await api.call('PUT', `/eventHooks/${id}`, hookBody('https://receiver.example/', TYPES, SECRETS));
    const told = JSON.stringify([await read(id), await events(id), (await api.call('GET', '/eventHooks?limit=200')).body]);
    const { rows: tables } = await api.services.database.knex.raw<{ rows: { name: string }[] }>(
      "SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public'",
    );
    let dump = '';
    for (const { name } of tables) {
      const { rows } = await api.services.database.knex.raw<{ rows: { row: string }[] }>(`SELECT t::text AS row FROM ${name} t`);
      dump += rows.map(({ row }) => row).join('\n');
    }
    assert.ok(dump.includes(id));
    for (const secret of ['value-of-tenant', 'value-of-auth', signingSecret, renewed.body.signingSecret]) {
      const bare = secret.replace('whsec_', '');
      for (const writing of [bare, Buffer.from(bare).toString('hex'), Buffer.from(bare).toString('base64').replace(/=+$/, '')]) {
        assert.ok(!dump.includes(writing) && !told.includes(writing), secret);
      }
    }
    assert.deepEqual(
      (await events(id)).map(({ eventType }) => eventType),
      ['event_hook.created', 'event_hook.secret.created', 'event_hook.updated'],
    );
  });
});

test('a receiver at a private address is not even asked without ALLOW_PRIVATE_NETWORK, whatever its name says', async (t) => {
  const service = await startService(t);
  const { uri, challenges } = await receiver(t);
  for (const written of [
    uri,
    uri.replace('127.0.0.1', 'localhost'),
    uri.replace('127.0.0.1', '[::ffff:127.0.0.1]').replace('http:', 'https:'),
  ]) {
    const { body } = await service.api('POST', '/eventHooks', hookBody(written, TYPES));
    const answer = await service.api('POST', `/eventHooks/${body.id}/lifecycle/verify`);
    assert.equal(answer.status, 400, written);
    assert.deepEqual(answer.body.errorCauses, [
      {
        errorSummary:
          'channel.config.uri: is in a private network or on this machine. Use a public address, or set ALLOW_PRIVATE_NETWORK=true',
      },
    ]);
  }
  assert.deepEqual(challenges, []);
});
