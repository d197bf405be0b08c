/** Authorization details that nobody should send: each is refused with invalid_authorization_details, and none costs more than another request. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, createClient, post } from '../servers/relying-party.ts';
import { ACCOUNTS, bank, EVERY_GRANT, PAYMENT } from './details.ts';

const deep = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

const WRONG: Readonly<Record<string, readonly [details: string, why: RegExp]>> = {
  'no JSON': ['[{', /must be JSON/],
  'an object': [JSON.stringify(ACCOUNTS), /must be a JSON array/],
  'a list of texts': ['["accounts"]', /must be a JSON object/],
  'no type': ['[{"actions":["list"]}]', /type must be a string/],
  'a type that is no text': ['[{"type":["accounts"]}]', /type must be a string/],
  'an unknown type': ['[{"type":"shares"}]', /does not have this type/],
  'the name of a member of every object': ['[{"type":"constructor"}]', /does not have this type/],
  'actions that are no list': ['[{"type":"accounts","actions":"list"}]', /actions must be a list of strings/],
  'a prototype': ['[{"type":"accounts","__proto__":{"admin":true}}]', /must not have a member __proto__/],
  'a prototype inside': ['[{"type":"accounts","of":[{"__proto__":1}]}]', /must not have a member __proto__/],
  'too deep': [`[{"type":"accounts","deep":${deep(12)}}]`, /nested too deeply/],
  'much too deep': [`[{"type":"accounts","deep":${'['.repeat(3000)}${']'.repeat(3000)}}]`, /nested too deeply/],
  'too many': [JSON.stringify(Array(21).fill({ type: 'accounts' })), /more than 20/],
  'a control character': ['[{"type":"accounts","name":"a\\u0000b"}]', /control characters/],
  'half a character': ['[{"type":"accounts","name":"\\ud800"}]', /control characters/],
  'a number beyond all': ['[{"type":"accounts","limit":1e999}]', /number that is too large/],
  'a field too much': [JSON.stringify([{ ...PAYMENT, note: 'x' }]), /does not match the schema.*additional properties/],
  'a field too little': [JSON.stringify([{ type: 'payment', creditor: 'Fern' }]), /does not match the schema.*amount/],
  'a value that no pattern has': [
    JSON.stringify([{ ...PAYMENT, amount: { value: '1e9', currency: 'EUR' } }]),
    /\/amount\/value must match pattern/,
  ],
  'no date': [JSON.stringify([{ ...PAYMENT, when: 'tomorrow' }]), /\/when must match format/],
};

test('what no detail may be is refused at the token endpoint and pushed, in few words of ASCII', async (t) => {
  const { service, client, token } = await bank(t);
  for (const [what, [authorization_details, why]] of Object.entries(WRONG)) {
    const { status, body } = await token({ grant_type: 'client_credentials', authorization_details });
    assert.deepEqual([status, body.error], [400, 'invalid_authorization_details'], what);
    assert.match(body.error_description, why, what);
    assert.match(body.error_description, /^[\x20\x21\x23-\x5b\x5d-\x7e]{1,300}$/, what);
    const request = {
      response_type: 'code',
      redirect_uri: 'https://app.example/callback',
      scope: 'openid',
      state: 's',
      authorization_details,
    };
    const pushed = await post(service, 'bank', 'par', client, { client_id: client.clientId, code_challenge: 'x'.repeat(43), ...request });
    assert.equal(pushed.status, 400, what);
    assert.match(pushed.body.error, /^invalid_(authorization_details|request)$/, what);
  }
  const huge = await token({
    grant_type: 'client_credentials',
    authorization_details: JSON.stringify([{ type: 'accounts', x: 'x'.repeat(9000) }]),
  });
  assert.deepEqual([huge.status, huge.body.error], [400, 'invalid_authorization_details']);
});

test('an authorization request is told by redirect; with a token of the authorize endpoint there are no details', async (t) => {
  const { reach } = await bank(
    t,
    {},
    { grant_types: ['authorization_code', 'implicit'], response_types: ['code', 'code token', 'id_token'] },
  );
  const unknown = answerOf((await reach([{ type: 'shares' }])).page);
  assert.deepEqual([unknown.error, unknown.state], ['invalid_authorization_details', 'some-state']);
  for (const response_type of ['code token', 'id_token']) {
    const { error, error_description } = answerOf((await reach([ACCOUNTS], { response_type, scope: 'openid' })).page);
    assert.equal(error, 'invalid_request', response_type);
    assert.match(error_description ?? '', /authorization_details requires the response type code/);
  }
});

test('a type must be the application’s own, also where the server has it', async (t) => {
  const { service, token } = await bank(t);
  const stranger = await createClient(service, { ...EVERY_GRANT, authorization_details_types: ['payment'] });
  const bare = await createClient(service, { grant_types: ['client_credentials'], response_types: [], redirect_uris: [] });
  for (const by of [stranger, bare]) {
    const { status, body } = await token({ grant_type: 'client_credentials', authorization_details: JSON.stringify([ACCOUNTS]) }, by);
    assert.deepEqual([status, body.error], [400, 'invalid_authorization_details']);
    assert.match(body.error_description, /may not use this type/);
  }
  const allowed = await token({ grant_type: 'client_credentials', authorization_details: JSON.stringify([PAYMENT]) }, stranger);
  assert.equal(allowed.status, 200);
});

test('twice is invalid_request, and an empty list asks for nothing', async (t) => {
  const { service, client, token } = await bank(t);
  const authorization = `Basic ${Buffer.from(`${client.clientId}:${client.clientSecret}`).toString('base64')}`;
  const one = encodeURIComponent(JSON.stringify([ACCOUNTS]));
  const twice = await fetch(`${service.issuer('bank')}/token`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/x-www-form-urlencoded' },
    body: `grant_type=client_credentials&authorization_details=${one}&authorization_details=${one}`,
  });
  assert.equal(twice.status, 400);
  const empty = await token({ grant_type: 'client_credentials', authorization_details: '[]' });
  assert.deepEqual([empty.status, empty.body.authorization_details], [200, undefined]);
});

test('the consent page shows what an application wrote as text of its own', async (t) => {
  const { reach } = await bank(t);
  const { page } = await reach([{ ...PAYMENT, creditor: '<b>Bank</b> \u202Emoc.live' }]);
  assert.match(page.text, /to <bdi>&lt;b&gt;Bank&lt;\/b&gt; \u202Emoc\.live<\/bdi>/);
});
