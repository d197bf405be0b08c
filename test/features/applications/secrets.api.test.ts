import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { eventsOf, type Named } from '../../api/administrators.ts';
import { causes, type ManagementApi, startManagementApi } from '../../support/management-api.ts';

interface Secret extends Named {
  status: string;
  created: string;
  lastUpdated: string;
  client_secret?: string;
}

describe('apps/{id}/credentials/secrets: two at once, for rotation (management API, "Resources")', () => {
  let api: ManagementApi;
  before(async () => {
    api = await startManagementApi();
  });
  after(() => api.close());

  const createApp = async (token_endpoint_auth_method?: string): Promise<string> => {
    const oauthClient = { redirect_uris: ['https://app.example/callback'] };
    const body = { label: 'Rotating', credentials: { oauthClient: { token_endpoint_auth_method } }, settings: { oauthClient } };
    const { status, body: app } = await api.call<Named>('POST', '/apps', body);
    assert.equal(status, 200);
    return app.id;
  };
  const pathOf = (id: string) => `/apps/${id}/credentials/secrets`;
  const list = async (id: string) => (await api.call<Secret[]>('GET', pathOf(id))).body;

  it('tells a new secret once, lists it without its value, and keeps value and digest out of the audit log', async () => {
    const id = await createApp();
    const [first] = await list(id);
    const { status, body: made } = await api.call<Secret>('POST', pathOf(id));
    assert.equal(status, 201);
    const { client_secret, ...facts } = made;
    assert.match(client_secret ?? '', /^[\w-]{43}$/);
    assert.deepEqual(await list(id), [first, facts]);
    assert.deepEqual(Object.keys(facts).sort(), ['created', 'id', 'lastUpdated', 'lastUsed', 'status']);

    const chosen = { client_secret: 'chosen by its owner, at least thirty-two' };
    await api.call('DELETE', `${pathOf(id)}/${first?.id}`);
    const second = await api.call<Secret>('POST', pathOf(id), chosen);
    assert.equal(second.body.client_secret, chosen.client_secret);
    assert.deepEqual((await eventsOf(api, id)).slice(1), [
      ['application.oauth2.client_secret.create', undefined, { secretId: made.id }],
      ['application.oauth2.client_secret.delete', { secretId: first?.id }, undefined],
      ['application.oauth2.client_secret.create', undefined, { secretId: second.body.id }],
    ]);
    const { knex } = api.services.database;
    const stored = JSON.stringify([await knex('audit_events').select('*'), await knex('application_secrets').select('*')]);
    assert.ok(!stored.includes('thirty-two') && !stored.includes(client_secret ?? ''));
  });

  it('makes one of twenty: the application then has two, and the others are told E0000038', async () => {
    // Several times: the first ones still wait for connections, and so for each other.
    for (let round = 0; round < 4; round += 1) {
      const id = await createApp();
      const answers = await Promise.all(Array.from({ length: 20 }, () => api.call('POST', pathOf(id))));
      assert.deepEqual(answers.map(({ status }) => status).sort(), [201, ...Array(19).fill(403)]);
      const refused = answers.find(({ status }) => status === 403);
      assert.equal(refused?.body.errorCode, 'E0000038');
      assert.match(refused?.body.errorSummary ?? '', /Delete one first/);
      assert.equal((await list(id)).length, 2);
    }
  });

  it('deletes one, never the last, not even when both go at once', async () => {
    const id = await createApp();
    await api.call('POST', pathOf(id));
    const answers = await Promise.all((await list(id)).map((secret) => api.call('DELETE', `${pathOf(id)}/${secret.id}`)));
    assert.deepEqual(answers.map(({ status, body }) => [status, body?.errorCode]).sort(), [
      [204, undefined],
      [403, 'E0000038'],
    ]);
    assert.equal((await list(id)).length, 1);
  });

  for (const method of ['none', 'private_key_jwt']) {
    it(`has none with ${method}`, async () => {
      const jwks = { keys: [{ kty: 'EC', crv: 'P-256', x: 'AQ', y: 'AQ' }] };
      const oauthClient = { redirect_uris: ['https://app.example/callback'], ...(method === 'none' ? {} : { jwks }) };
      const credentials = { oauthClient: { token_endpoint_auth_method: method } };
      const { body: app } = await api.call<Named>('POST', '/apps', { label: 'x', credentials, settings: { oauthClient } });
      assert.deepEqual(await list(app.id), []);
      const answer = await api.call('POST', pathOf(app.id));
      assert.deepEqual([answer.status, answer.body.errorCode], [403, 'E0000038']);
    });
  }

  it('refuses a weak secret, an unknown field and what is not there', async () => {
    const id = await createApp();
    const other = await createApp();
    const [foreign] = await list(other);
    await api.call('POST', pathOf(other));
    for (const [body, cause] of [
      [{ client_secret: 'short' }, 'client_secret: must have at least 32 characters'],
      [{ colour: 1 }, 'colour: is not a field of this resource'],
    ] as const) {
      const weak = await api.call('POST', pathOf(id), body);
      assert.deepEqual([weak.status, causes(weak)], [400, [cause]]);
    }
    for (const [method, path] of [
      ['DELETE', `${pathOf(id)}/nothing`],
      ['DELETE', `${pathOf(id)}/%00`],
      ['DELETE', `${pathOf(id)}/${foreign?.id}`],
      ['POST', pathOf('nothing')],
      ['GET', pathOf('nothing')],
    ] as const) {
      const answer = await api.call(method, path);
      assert.deepEqual([answer.status, answer.body.errorCode], [404, 'E0000007'], `${method} ${path}`);
    }
    assert.equal((await list(other)).length, 2);
  });

  it('answers a call repeated with its Idempotency-Key with the same secret, and makes no second one', async () => {
    const id = await createApp();
    const call = () => api.call<Secret>('POST', pathOf(id), undefined, { 'idempotency-key': `rotate ${id}`.replace(' ', '-') });
    const [first, again] = [await call(), await call()];
    assert.equal(first.status, 201);
    assert.deepEqual(again.body, first.body);
    assert.equal((await list(id)).length, 2);
  });
});
