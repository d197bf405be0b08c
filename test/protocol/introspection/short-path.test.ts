/** Introspection and userinfo answered without oidc-provider say, byte for byte, what the library's way says (RFC 7662, OpenID Connect Core section 5.3). */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { PassThrough } from 'node:stream';
import { type TestContext, test } from 'node:test';
import Koa from 'koa';
import { readText } from '../../../src/protocol/servers/form.ts';
import { afterwards } from '../../support/afterwards.ts';
import { countingProxy } from '../../support/counting-proxy.ts';
import { onServer, testDatabase } from '../../support/database.ts';
import { newSecretKey, startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { createClient, post, type TestClient, tokensFor } from '../servers/relying-party.ts';

const FORM = 'application/x-www-form-urlencoded';
const basic = ({ clientId, clientSecret }: TestClient): string => `Basic ${btoa(`${clientId}:${clientSecret}`)}`;

/** What a client sees, but for the time and the request's id. */
async function seen(response: Response) {
  const headers = Object.fromEntries(response.headers);
  for (const own of ['date', 'x-request-id']) delete headers[own];
  return { status: response.status, headers, text: await response.text() };
}

/** Counts the requests that oidc-provider is given. @returns how many since the last call */
function libraryCalls(t: TestContext): () => number {
  const handled = t.mock.method(Koa.prototype as unknown as { handleRequest(): Promise<void> }, 'handleRequest');
  return () => {
    const count = handled.mock.callCount();
    handled.mock.resetCalls();
    return count;
  };
}

test('what is plainly right is answered without the library, and as by it', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const grants = { grant_types: ['authorization_code', 'refresh_token', 'client_credentials'] };
  const [owner, other] = [await createClient(service, grants), await createClient(service, grants)];
  // Claims of its own, one of them in place of a standard one.
  for (const [name, claimType] of [
    ['plan', 'IDENTITY'],
    ['nickname', 'IDENTITY'],
    ['tier', 'RESOURCE'],
  ]) {
    const claim = { name, claimType, valueType: 'STATIC', value: `the ${name}` };
    assert.equal((await service.api('POST', '/authorizationServers/default/claims', claim)).status, 201);
  }
  const calls = libraryCalls(t);

  for (const serverId of ['built-in', 'default']) {
    const issuer = service.issuer(serverId);
    const browser = new UserAgent(service.baseUrl);
    const tokens = (await tokensFor(service, browser, user, owner, { serverId })).body;
    const profile = (await tokensFor(service, browser, user, owner, { serverId, scope: 'openid profile' })).body;
    const plain = (await post(service, serverId, 'token', owner, { grant_type: 'client_credentials' })).body;
    calls();

    /** Sends a request, and once more with a query, which only the library reads. */
    const compare = async (name: string, endpoint: string, init: RequestInit) => {
      const short = await seen(await fetch(`${issuer}/${endpoint}`, init));
      assert.equal(calls(), 0, `${name}: not answered shortly`);
      const long = await seen(await fetch(`${issuer}/${endpoint}?library`, init));
      assert.equal(calls(), 1, `${name}: not answered by the library`);
      assert.deepEqual(short, long, name);
      assert.equal(short.status, 200, name);
      return JSON.parse(short.text);
    };
    const values = { access: tokens.access_token, narrow: profile.access_token, refresh: tokens.refresh_token, plain: plain.access_token };
    for (const [name, token] of Object.entries(values)) {
      for (const [by, client] of Object.entries({ owner, other })) {
        for (const type of [FORM, `${FORM};charset=UTF-8`]) {
          const init = { method: 'POST', headers: { authorization: basic(client), 'content-type': type }, body: `token=${token}` };
          const answer = await compare(`introspection of ${name} by ${by}, ${serverId}`, 'introspect', init);
          assert.equal(answer.active, true);
        }
      }
    }
    for (const [name, token] of Object.entries({ access: tokens.access_token, narrow: profile.access_token })) {
      const answer = await compare(`userinfo by ${name}, ${serverId}`, 'userinfo', { headers: { authorization: `Bearer ${token}` } });
      assert.deepEqual([answer.sub, answer.plan], [user.id, serverId === 'default' ? 'the plan' : undefined]);
    }
  }
});

test('everything else goes the way of the library', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const client = await createClient(service, { allowed_origins: ['https://page.example'], refresh_token: { leeway: 0 } });
  const browser = new UserAgent(service.baseUrl);
  const { access_token: token, refresh_token: used } = (await tokensFor(service, browser, user, client)).body;
  assert.equal((await post(service, 'built-in', 'token', client, { grant_type: 'refresh_token', refresh_token: used })).status, 200);
  const calls = libraryCalls(t);
  const issuer = service.issuer('built-in');
  const wrong = basic({ clientId: client.clientId, clientSecret: 'wrong' });
  const right = basic(client);

  const introspections: [name: string, headers: Record<string, string>, body: string, status: number][] = [
    ['a wrong secret', { authorization: wrong }, `token=${token}`, 401],
    ['no credentials', {}, `token=${token}`, 400],
    ['two ways of authentication', { authorization: right }, `token=${token}&client_secret=${client.clientSecret}`, 400],
    ['an attestation beside the secret', { authorization: right, 'oauth-client-attestation': 'x' }, `token=${token}`, 400],
    ['another client_id in the form', { authorization: right }, `token=${token}&client_id=other`, 400],
    ['the token twice', { authorization: right }, `token=${token}&token=${token}`, 400],
    ['no token', { authorization: right }, 'token_type_hint=access_token', 400],
    ['another content type', { authorization: right, 'content-type': 'text/plain' }, `token=${token}`, 400],
    ['an unknown token', { authorization: right }, 'token=unknown', 200],
    ['a refresh token that was used', { authorization: right }, `token=${used}`, 200],
    ['a page of another origin', { authorization: right, origin: 'https://page.example' }, `token=${token}`, 200],
  ];
  for (const [name, headers, body, status] of introspections) {
    const response = await fetch(`${issuer}/introspect`, { method: 'POST', headers: { 'content-type': FORM, ...headers }, body });
    assert.deepEqual([response.status, calls()], [status, 1], name);
    const { active, error } = (await response.json()) as { active?: boolean; error?: string };
    if (status === 200) assert.equal(active, headers.origin !== undefined, name);
    else assert.equal(typeof error, 'string', name);
  }

  const bearers: [name: string, headers: Record<string, string>, status: number][] = [
    ['no token', {}, 401],
    ['an unknown token', { authorization: 'Bearer unknown' }, 401],
    ['a refresh token', { authorization: `Bearer ${used}` }, 401],
    ['a page of another origin', { authorization: `Bearer ${token}`, origin: 'https://page.example' }, 200],
  ];
  for (const [name, headers, status] of bearers) {
    const response = await fetch(`${issuer}/userinfo`, { headers });
    assert.deepEqual([response.status, calls()], [status, 1], name);
  }
});

test('a token with a field that the short way does not know goes the way of the library (RFC 9449 section 6.2)', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const client = await createClient(service);
  const { access_token: token } = (await tokensFor(service, new UserAgent(service.baseUrl), user, client)).body;
  const calls = libraryCalls(t);
  const ask = async () => {
    await post(service, 'built-in', 'introspect', client, { token });
    await fetch(`${service.issuer('built-in')}/userinfo`, { headers: { authorization: `Bearer ${token}` } });
    return calls();
  };
  assert.equal(await ask(), 0);
  await onServer(service.database.url, (sql) =>
    sql.query(`UPDATE oidc_payload SET payload = payload || '{"boundTo":"a key"}' WHERE model = 3`),
  );
  assert.equal(await ask(), 2);
});

test('who was deactivated, and what was deleted, is gone for the short way too', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const [client, asking] = [await createClient(service), await createClient(service)];
  const { access_token: token } = (await tokensFor(service, new UserAgent(service.baseUrl), user, client)).body;
  const answers = async () => [
    (await post(service, 'built-in', 'introspect', asking, { token })).body.active,
    (await fetch(`${service.issuer('built-in')}/userinfo`, { headers: { authorization: `Bearer ${token}` } })).status,
  ];
  assert.deepEqual(await answers(), [true, 200]);
  await service.api('POST', `/apps/${client.clientId}/lifecycle/deactivate`);
  assert.deepEqual(await answers(), [false, 401]);
  await service.api('POST', `/apps/${client.clientId}/lifecycle/activate`);
  assert.deepEqual(await answers(), [true, 200]);
  await service.api('POST', `/users/${user.id}/lifecycle/suspend`);
  assert.deepEqual(await answers(), [false, 401]);
});

test('an application that is barred while the body of its request is under way is not heard any more (RFC 9700 section 2.5)', async (t) => {
  const service = await startService(t);
  const grants = { grant_types: ['client_credentials'], response_types: [] };
  const [client, other] = [await createClient(service, grants), await createClient(service, grants)];
  const { access_token: token } = (await post(service, 'built-in', 'token', client, { grant_type: 'client_credentials' })).body;
  const body = `token=${token}`;
  const headers = { authorization: basic(client), 'content-type': FORM, 'content-length': body.length };
  const early = request(`${service.issuer('built-in')}/introspect`, { method: 'POST', headers });
  const answered = once(early, 'response');
  early.write(body.slice(0, 1));
  // Its head has arrived before the others: each of them is answered.
  for (let tries = 0; tries < 101; tries += 1) {
    await post(service, 'built-in', 'introspect', { ...client, clientSecret: 'wrong' }, { token });
  }
  early.end(body.slice(1));
  const [response] = (await answered) as [IncomingMessage];
  response.resume();
  assert.equal(response.statusCode, 429);

  const calls = libraryCalls(t);
  assert.equal((await post(service, 'built-in', 'introspect', other, { token })).body.active, true);
  assert.equal(calls(), 0, 'who is not barred is answered shortly all the same');
});

test('where the database is away, the library says so for both ways alike', async (t) => {
  const own = await testDatabase();
  afterwards(t, () => own.drop());
  const database = await countingProxy(t, own);
  const service = await startService(t, { beside: { database, secretKey: newSecretKey() } });
  const [known, unknown] = [await createClient(service), await createClient(service)];
  await post(service, 'built-in', 'introspect', known, { token: 'any' });
  database.shut();
  const init = { method: 'POST', headers: { authorization: basic(unknown), 'content-type': FORM }, body: 'token=any' };
  const address = `${service.issuer('built-in')}/introspect`;
  const [short, long] = [await seen(await fetch(address, init)), await seen(await fetch(`${address}?library`, init))];
  assert.deepEqual(short, long);
  assert.equal(short.status, 503);
  assert.equal(short.headers['retry-after'], '5');
  const { error, error_description: description } = JSON.parse(short.text);
  assert.deepEqual([error, typeof description], ['temporarily_unavailable', 'string']);
});

test('where the database fails the short way, the library asks nothing again: one that hangs would be waited for twice', async (t) => {
  const own = await testDatabase();
  afterwards(t, () => own.drop());
  const database = await countingProxy(t, own);
  const service = await startService(t, { beside: { database, secretKey: newSecretKey() } });
  const grants = { grant_types: ['client_credentials'], response_types: [] };
  const [known, unknown] = [await createClient(service, grants), await createClient(service, grants)];
  // Remembered; what looks a token up was prepared by no connection yet.
  const { access_token: token } = (await post(service, 'built-in', 'token', known, { grant_type: 'client_credentials' })).body;
  await onServer(own.url, (client) =>
    client.query(`CREATE FUNCTION fail() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no memory' USING ERRCODE = 'out_of_memory'; END $$;
      ALTER TABLE applications RENAME TO kept_applications; CREATE VIEW applications AS SELECT * FROM kept_applications WHERE fail();
      ALTER TABLE oidc_payload RENAME TO kept_payload; CREATE VIEW oidc_payload AS SELECT * FROM kept_payload WHERE fail()`),
  );
  const asked = async (work: Promise<{ status: number }>) => {
    database.taken();
    assert.equal((await work).status, 503);
    return database.taken().filter((text) => /from "applications"|FROM oidc_payload/.test(text)).length;
  };
  assert.equal(await asked(post(service, 'built-in', 'introspect', unknown, { token })), 1, 'for an application');
  assert.equal(await asked(post(service, 'built-in', 'introspect', known, { token })), 1, 'for a token');
  const userinfo = fetch(`${service.issuer('built-in')}/userinfo`, { headers: { authorization: `Bearer ${token}` } });
  assert.equal(await asked(userinfo), 1, 'for a token at userinfo');
});

test('a body that breaks off is waited for by nobody', async () => {
  const body = () => new PassThrough() as PassThrough & IncomingMessage;
  const [breaking, broken] = [body(), body()];
  const reading = readText(breaking, 100);
  breaking.destroy(new Error('aborted'));
  await assert.rejects(reading, /aborted/);
  broken.destroy();
  await assert.rejects(readText(broken, 100), /cut off/);
});
