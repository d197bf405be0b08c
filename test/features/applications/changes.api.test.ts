import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createApplication } from '../../../src/features/applications/applications.service.ts';
import { SYSTEM } from '../../../src/features/audit/audit-event.policy.ts';
import { deleteLeftOverClientState } from '../../../src/protocol/storage/client-state.store.ts';
import { eventsOf, type Named, nextPage, tokenWith } from '../../api/administrators.ts';
import { causes, type ManagementApi, startManagementApi } from '../../support/management-api.ts';

interface App extends Named {
  label: string;
  status: string;
  created: string;
  lastUpdated: string;
  credentials: { oauthClient: { client_id: string; client_secret?: string; token_endpoint_auth_method: string; pkce_required: boolean } };
  settings: { oauthClient: Record<string, unknown> };
}

const CALLBACK = 'https://app.example/callback';
const bodyWith = (label: string, oauthClient: object = {}, settings: object = {}) => ({
  label,
  credentials: { oauthClient },
  settings: { oauthClient: { redirect_uris: [CALLBACK], ...settings } },
});

describe('apps: list, change, life cycle, deletion (management API, "Resources")', () => {
  let api: ManagementApi;
  before(async () => {
    api = await startManagementApi();
    await createApplication(api.services, { id: 'own', label: 'Own', settings: { application_type: 'service' }, system: true }, SYSTEM);
  });
  after(() => api.close());

  const create = async (label: string, oauthClient: object = {}, settings: object = {}): Promise<App> => {
    const { status, body } = await api.call<App>('POST', '/apps', bodyWith(label, oauthClient, settings));
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  };
  const secretIds = async (id: string) =>
    (await api.call<Named[]>('GET', `/apps/${id}/credentials/secrets`)).body.map((secret) => secret.id);
  const withoutSecret = ({ credentials, ...app }: App) => {
    const { client_secret: _, ...oauthClient } = credentials.oauthClient;
    return { ...app, credentials: { oauthClient } };
  };

  it('lists in pages that stay as they are while applications are made; q and filter narrow', async () => {
    const made: App[] = [];
    for (const number of [1, 2, 3, 4]) made.push(await create(`List % ${number}`));
    const read = (query: string) => api.call<App[]>('GET', `/apps?${query}`);
    const first = await read(`q=${encodeURIComponent('LIST %')}&limit=3`);
    assert.deepEqual(first.body, made.slice(0, 3).map(withoutSecret), 'never with a secret');
    await create('List % 5');
    const second = await api.call<App[]>('GET', nextPage(first));
    assert.deepEqual(
      second.body.map(({ label }) => label),
      ['List % 4', 'List % 5'],
    );
    assert.equal(second.headers.get('link'), null);

    await api.call('POST', `/apps/${made[1]?.id}/lifecycle/deactivate`);
    const labels = async (filter: string) => (await read(`filter=${encodeURIComponent(filter)}`)).body.map(({ label }) => label);
    assert.deepEqual(await labels('status eq "INACTIVE"'), ['List % 2']);
    assert.deepEqual(await labels(`id eq "${made[2]?.id}" or label eq "list % 1"`), ['List % 1', 'List % 3']);
    assert.deepEqual(await labels('label sw "List" and not (status eq "ACTIVE")'), ['List % 2']);
    const wrong = await api.call('GET', `/apps?filter=${encodeURIComponent('settings eq "x"')}`);
    assert.deepEqual([wrong.status, causes(wrong)], [400, ['filter: settings is not an attribute that can be filtered']]);
  });

  it('replaces label and settings; what is not given returns to its default', async () => {
    const made = await create('Before', { pkce_required: true }, { consent_method: 'REQUIRED', client_uri: 'https://app.example/' });
    const { status, body } = await api.call<App>('PUT', `/apps/${made.id}`, bodyWith('<b>بعد</b>', {}, { grant_types: ['refresh_token'] }));
    assert.equal(status, 200);
    assert.equal(body.label, '<b>بعد</b>');
    assert.deepEqual(body.credentials.oauthClient, {
      client_id: made.id,
      token_endpoint_auth_method: 'client_secret_basic',
      pkce_required: false,
    });
    const { grant_types, consent_method, client_uri, introspect_any } = body.settings.oauthClient;
    assert.deepEqual([grant_types, consent_method, client_uri, introspect_any], [['refresh_token'], 'TRUSTED', undefined, true]);
    assert.deepEqual([body.created, body.status], [made.created, 'ACTIVE']);
    assert.deepEqual((await api.call('GET', `/apps/${made.id}`)).body, body);

    const [, update] = await eventsOf(api, made.id);
    assert.equal(update?.[0], 'application.lifecycle.update');
    const [was, is] = [update?.[1], update?.[2]] as { label: string; settings: Record<string, unknown> }[];
    assert.deepEqual([was?.label, was?.settings.consent_method], ['Before', 'REQUIRED']);
    assert.deepEqual([is?.label, is?.settings.consent_method], ['<b>بعد</b>', 'TRUSTED']);
  });

  it('takes the whole answer back, the one to the creation too, and keeps secret and state ("Conventions")', async () => {
    const made = await create('Round trip', {}, { jwks_uri: 'https://app.example/keys', refresh_token: { leeway: 7 } });
    await api.call('POST', `/apps/${made.id}/lifecycle/deactivate`);
    const secrets = await secretIds(made.id);
    for (const sent of [made, withoutSecret(made)]) {
      const { status, body } = await api.call<App>('PUT', `/apps/${made.id}`, sent);
      assert.equal(status, 200, JSON.stringify(body));
      assert.deepEqual(body, { ...withoutSecret(made), status: 'INACTIVE', lastUpdated: body.lastUpdated });
      assert.deepEqual(await secretIds(made.id), secrets);
    }
  });

  it('makes a secret when the method begins to use one, told once, and takes it away when it uses none any more', async () => {
    const made = await create('Turning', {}, { application_type: 'browser' });
    assert.equal(made.credentials.oauthClient.token_endpoint_auth_method, 'none');
    assert.deepEqual(await secretIds(made.id), []);
    const put = async (oauthClient: object) => {
      const { status, body } = await api.call<App>('PUT', `/apps/${made.id}`, bodyWith('Turning', oauthClient));
      assert.equal(status, 200, JSON.stringify(body));
      return body.credentials.oauthClient.client_secret;
    };
    assert.match((await put({ token_endpoint_auth_method: 'client_secret_post' })) ?? '', /^[\w-]{43}$/);
    const [first] = await secretIds(made.id);
    assert.equal(await put({ token_endpoint_auth_method: 'client_secret_jwt' }), undefined, 'another method, the same secret');
    assert.deepEqual(await secretIds(made.id), [first]);
    await put({ token_endpoint_auth_method: 'none' });
    assert.deepEqual(await secretIds(made.id), []);
    const chosen = 'chosen by its owner, at least thirty-two';
    assert.equal(await put({ token_endpoint_auth_method: 'client_secret_basic', client_secret: chosen }), chosen);
    assert.doesNotMatch(JSON.stringify(await api.services.database.knex('audit_events').select('*')), /thirty-two/);
  });

  const refused: [why: string, body: object, expected: string[]][] = [
    ['another client_id', bodyWith('x', { client_id: 'another' }), ['credentials.oauthClient.client_id: cannot be changed']],
    [
      'a new secret',
      bodyWith('x', { client_secret: 'x'.repeat(32) }),
      ['credentials.oauthClient.client_secret: cannot be changed here. Use credentials/secrets'],
    ],
    ['no label', { settings: {} }, ['label: is required']],
    ['10,000 characters', bodyWith('x'.repeat(10_000)), ['label: must have at most 255 characters']],
    ['control characters', bodyWith('a\u0007b'), ['label: must not contain control characters']],
    ['unknown fields', { ...bodyWith('x'), colour: 1 }, ['colour: is not a field of this resource']],
    ['contradicting settings', { label: 'x' }, ['settings.oauthClient.redirect_uris: is required with a response type']],
    [
      'a public application with client credentials',
      bodyWith('x', { token_endpoint_auth_method: 'none' }, { grant_types: ['client_credentials'] }),
      ['credentials.oauthClient.token_endpoint_auth_method: must not be none with grant type client_credentials'],
    ],
  ];
  for (const [why, body, expected] of refused) {
    it(`refuses ${why} at a change, and changes nothing`, async () => {
      const made = await create(`Refused ${why}`);
      const answer = await api.call('PUT', `/apps/${made.id}`, body);
      assert.deepEqual([answer.status, answer.body.errorCode, causes(answer)], [400, 'E0000001', expected]);
      assert.deepEqual((await api.call('GET', `/apps/${made.id}`)).body, withoutSecret(made));
      assert.equal((await eventsOf(api, made.id)).length, 1);
    });
  }

  it('is deactivated and activated, each once however often it is asked', async () => {
    const { id } = await create('Switched');
    for (const [step, status] of [
      ['deactivate', 'INACTIVE'],
      ['activate', 'ACTIVE'],
    ] as const) {
      const answers = await Promise.all(Array.from({ length: 5 }, () => api.call('POST', `/apps/${id}/lifecycle/${step}`)));
      for (const answer of answers) assert.deepEqual([answer.status, answer.body], [204, undefined]);
      assert.equal((await api.call<App>('GET', `/apps/${id}`)).body.status, status);
    }
    assert.deepEqual((await eventsOf(api, id)).slice(1), [
      ['application.lifecycle.deactivate', { status: 'ACTIVE' }, { status: 'INACTIVE' }],
      ['application.lifecycle.activate', { status: 'INACTIVE' }, { status: 'ACTIVE' }],
    ]);
  });

  it('is deleted, active or not, with what belongs to it; one of twenty does it', async () => {
    for (const deactivate of [false, true]) {
      const { id } = await create(`Deleted ${deactivate}`);
      if (deactivate) await api.call('POST', `/apps/${id}/lifecycle/deactivate`);
      await api.call('PUT', `/apps/${id}/users/${api.admin.userId}`);
      const answers = await Promise.all(Array.from({ length: 20 }, () => api.call('DELETE', `/apps/${id}`)));
      assert.deepEqual(answers.map(({ status }) => status).sort(), [204, ...Array(19).fill(404)]);
      for (const table of ['application_secrets', 'application_users']) {
        assert.deepEqual(await api.services.database.knex(table).where({ application_id: id }), [], table);
      }
      const [type, was, is] = (await eventsOf(api, id)).at(-1) ?? [];
      assert.deepEqual([type, (was as App).label, is], ['application.lifecycle.delete', `Deleted ${deactivate}`, undefined]);
    }
  });

  it('leaves nothing that a deleted application was given, however much, and begins anew with nothing of an earlier one’s', async () => {
    const { knex } = api.services.database;
    const give = (clientId: string) =>
      knex.raw(
        `INSERT INTO oidc_payload (id, model, server_key, payload, client_id, expires_at, exp_hour)
          SELECT ? || n, 3, 1, '{}', ?, '2999-01-01', 9000000 FROM generate_series(1, 12000) n`,
        [clientId, clientId],
      );
    const given = async (clientId: string) =>
      Number((await knex('oidc_payload').where({ client_id: clientId }).count({ n: '*' }).first())?.n);
    const { id } = await create('Lavish', { client_id: 'lavish' });
    await give(id);
    await give('another');
    assert.equal((await api.call('DELETE', `/apps/${id}`)).status, 204);
    assert.deepEqual([await given(id), await given('another')], [0, 12_000]);

    // As after a process that died right after the deletion.
    await give(id);
    await create('Lavish again', { client_id: 'lavish' });
    assert.equal(await given(id), 0);
    // As for a deletion whose removal is still under way: it must not take what is the new application's.
    await give(id);
    await deleteLeftOverClientState(knex, id);
    assert.equal(await given(id), 12_000);
    assert.equal((await api.call('POST', '/apps', bodyWith('Late', { client_id: 'lavish' }))).status, 409);
    assert.equal(await given(id), 12_000, 'nor does a creation that comes to nothing');
  });

  it('leaves the service’s own applications alone: E0000038', async () => {
    const before = await api.call('GET', '/apps/own');
    const [secret] = await secretIds('own');
    for (const [method, path, body] of [
      ['PUT', '', { label: 'Mine', settings: { oauthClient: { application_type: 'service' } } }],
      ['DELETE', ''],
      ['POST', '/lifecycle/deactivate'],
      ['POST', '/lifecycle/activate'],
      ['POST', '/credentials/secrets'],
      ['DELETE', `/credentials/secrets/${secret}`],
    ] as const) {
      const answer = await api.call(method, `/apps/own${path}`, body);
      assert.deepEqual([answer.status, answer.body.errorCode], [403, 'E0000038'], `${method} ${path}`);
    }
    assert.deepEqual((await api.call('GET', '/apps/own')).body, before.body);
    assert.deepEqual(await secretIds('own'), [secret]);
  });

  it('answers 404 for what is not there, whatever is asked of it', async () => {
    for (const id of ['nothing', '%00', 'x'.repeat(3000)]) {
      for (const [method, path, body] of [
        ['PUT', '', bodyWith('x')],
        ['DELETE', ''],
        ['POST', '/lifecycle/activate'],
        ['POST', '/lifecycle/deactivate'],
      ] as const) {
        const answer = await api.call(method, `/apps/${id}${path}`, body);
        assert.deepEqual([answer.status, answer.body.errorCode], [404, 'E0000007'], `${method} ${path}`);
      }
    }
  });

  it('is read by READ_ONLY_ADMIN and changed by SUPER_ADMIN alone; ORG_ADMIN has no part in it', async () => {
    const made = await create('Guarded');
    const [secret] = await secretIds(made.id);
    const user = api.admin.userId;
    const group = (await api.call<Named>('POST', '/groups', { profile: { name: 'Guarded' } })).body.id;
    const one = `/apps/${made.id}`;
    for (const assigned of [`${one}/users/${user}`, `${one}/groups/${group}`]) await api.call('PUT', assigned);
    const reads = [
      '/apps',
      one,
      `${one}/credentials/secrets`,
      `${one}/users`,
      `${one}/users/${user}`,
      `${one}/groups`,
      `${one}/groups/${group}`,
    ];
    const writes: [method: string, path: string, body?: unknown][] = [
      ['POST', '/apps', bodyWith('Never')],
      ['PUT', one, bodyWith('Never')],
      ['POST', `${one}/lifecycle/activate`],
      ['POST', `${one}/lifecycle/deactivate`],
      ['POST', `${one}/credentials/secrets`],
      ['DELETE', `${one}/credentials/secrets/${secret}`],
      ['PUT', `${one}/users/${user}`],
      ['DELETE', `${one}/users/${user}`],
      ['PUT', `${one}/groups/${group}`],
      ['DELETE', `${one}/groups/${group}`],
      ['DELETE', one],
    ];
    const reader = await tokenWith(api, 'READ_ONLY_ADMIN');
    const organization = await tokenWith(api, 'ORG_ADMIN');
    for (const path of reads) {
      assert.equal((await api.call('GET', path, undefined, reader)).status, 200, path);
      assert.equal((await api.call('GET', path, undefined, organization)).status, 403, path);
    }
    const events = await eventsOf(api, made.id);
    for (const [method, path, body] of writes) {
      for (const caller of [reader, organization]) {
        const answer = await api.call(method, path, body, caller);
        assert.deepEqual([answer.status, answer.body.errorCode], [403, 'E0000006'], `${method} ${path}`);
      }
    }
    assert.deepEqual((await api.call('GET', one)).body, withoutSecret(made));
    assert.deepEqual(await eventsOf(api, made.id), events);
  });
});
