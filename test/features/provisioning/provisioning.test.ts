/** Provisioning into another Gatehouse: its SCIM server is the target. */
import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { listen } from '../../support/listen.ts';
import { eventually } from '../../support/process.ts';
import { provisioningStory } from '../../support/provisioning.ts';
import { scimClient } from '../../support/scim.ts';
import { startService } from '../../support/service.ts';

test('users and groups are provisioned into another Gatehouse', async (t) => {
  const target = await startService(t);
  const { token } = await scimClient(target);
  await provisioningStory(t, { origin: target.listensAt, path: '/scim/v2', token });
});

/** A target that gives tokens for client credentials, and accepts each for three calls. */
async function oauthTarget(t: TestContext) {
  const [asked, users] = [[] as string[], [] as string[]];
  let [token, left] = ['', 0];
  const origin = await listen(t, '127.0.0.1', async (req, res) => {
    const body = await text(req);
    res.setHeader('content-type', 'application/json');
    if (req.url === '/token') {
      asked.push(`${req.headers.authorization} ${body}`);
      [token, left] = [`token-${asked.length}`, 3];
      return void res.end(JSON.stringify({ access_token: token, token_type: 'Bearer', expires_in: 3600 }));
    }
    if (left === 0 || req.headers.authorization !== `Bearer ${token}`) return void res.writeHead(401).end();
    left -= 1;
    if (req.method !== 'POST') return void res.end(JSON.stringify({ Resources: [] }));
    users.push(JSON.parse(body));
    res.writeHead(201).end(JSON.stringify({ id: String(users.length) }));
  });
  return { origin, asked, users };
}

test('OAuth client credentials get the token, again when it is refused; the mapping changes what is sent', async (t) => {
  const target = await oauthTarget(t);
  const service = await startService(t, { env: { ALLOW_PRIVATE_NETWORK: 'true' }, sendsOutbox: true });
  const { clientId: app } = await service.createApp({ application_type: 'service' });
  for (const n of [1, 2]) {
    const { id } = await service.createUser({ email: `user-${n}@oauth.example`, nickName: 'secret', department: 'Engines' });
    await service.api('PUT', `/apps/${app}/users/${id}`);
  }
  const answer = await service.api('PUT', `/apps/${app}/provisioning`, {
    baseUrl: `${target.origin}/scim`,
    auth: { type: 'OAUTH', tokenUrl: `${target.origin}/token`, clientId: 'a:b', scope: 'scim', secret: 'p%q' },
    mapping: { userName: 'email', nickName: null, 'urn:acme:1.0:User:unit.name': 'department' },
  });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  await eventually(() => target.users.length === 2, 'both are created');
  const [credentials, form] = String(target.asked[0]).split(' ').slice(1);
  assert.equal(Buffer.from(credentials ?? '', 'base64').toString(), 'a%3Ab:p%25q');
  assert.equal(form, 'grant_type=client_credentials&scope=scim');
  assert.ok(target.asked.length >= 2, 'the token was asked for again');
  const sent = target.users.map((user) => JSON.parse(JSON.stringify(user)));
  assert.deepEqual(sent.map(({ userName }) => userName).sort(), ['user-1@oauth.example', 'user-2@oauth.example']);
  for (const user of sent) assert.deepEqual([user.nickName, user['urn:acme:1.0:User'].unit.name], [undefined, 'Engines']);
});

test('a target in a private network is not called, and another host needs the secret again', async (t) => {
  const target = await oauthTarget(t);
  const service = await startService(t, { sendsOutbox: true });
  const { clientId: app } = await service.createApp({ application_type: 'service' });
  const { id } = await service.createUser();
  await service.api('PUT', `/apps/${app}/users/${id}`);
  const at = `/apps/${app}/provisioning`;
  const auth = { type: 'OAUTH', tokenUrl: `${target.origin}/token`, clientId: 'us' };
  assert.equal((await service.api('PUT', at, { baseUrl: target.origin, auth })).status, 400);
  const set = await service.api('PUT', at, { baseUrl: target.origin, auth: { ...auth, secret: 'hidden' } });
  assert.equal(set.status, 200, JSON.stringify(set.body));
  await eventually(async () => /public address/.test((await service.api('GET', at)).body.awayReason ?? ''), 'it is refused');
  assert.deepEqual([target.asked, target.users], [[], []]);
  const moved = await service.api('PUT', at, { baseUrl: target.origin, auth: { ...auth, tokenUrl: 'https://attacker.example/token' } });
  assert.equal(moved.status, 400);
  assert.match(JSON.stringify(moved.body), /auth\.secret/);
  for (const mapping of [{ active: 'login' }, { emails: 'email' }, { userName: 'noSuchField' }, { '__proto__.x': 'login' }]) {
    const body = { baseUrl: target.origin, auth: { ...auth, secret: 'x' }, mapping };
    assert.equal((await service.api('PUT', at, body)).status, 400, JSON.stringify(mapping));
  }
});

/** A target with some users from the start. It keeps what is sent, and notes each request. */
async function smallTarget(t: TestContext, users: Record<string, unknown>[]) {
  const requests: string[] = [];
  const origin = await listen(t, '127.0.0.1', async (req, res) => {
    const [url, body] = [new URL(req.url ?? '/', 'http://target.example'), await text(req)];
    requests.push(`${req.method} ${url.pathname}`);
    const id = url.pathname.split('/')[2];
    const at = users.findIndex((user) => user.id === id);
    if (req.method === 'PUT') users[at] = JSON.parse(body);
    if (req.method === 'DELETE') users.splice(at, 1);
    const [, field = '', value] = /^(\w+) eq "(.*)"$/.exec(url.searchParams.get('filter') ?? '') ?? [];
    const answer = id === undefined ? { Resources: users.filter((user) => user[field] === value) } : (users[at] ?? {});
    res.writeHead(200, { 'content-type': 'application/scim+json' }).end(JSON.stringify(answer));
  });
  return { origin, users, requests };
}

test('an account that was there before is deactivated where those of leavers are deleted; that of a former user is nobody else’s', async (t) => {
  const target = await smallTarget(t, [
    { id: '1', userName: 'ada@small.example', externalId: '00u-of-the-system-before', active: true },
    { id: '2', userName: 'bob@small.example', externalId: 'usr_whoHadTheNameBefore', active: false },
  ]);
  const service = await startService(t, { env: { ALLOW_PRIVATE_NETWORK: 'true' }, sendsOutbox: true });
  const { clientId: app } = await service.createApp({ application_type: 'service' });
  const [ada, bob] = [await service.createUser({ login: 'ada@small.example' }), await service.createUser({ login: 'bob@small.example' })];
  const settings = { baseUrl: target.origin, auth: { type: 'BEARER', secret: 'a-token' }, leavers: 'DELETE' };
  for (const { id } of [ada, bob]) await service.api('PUT', `/apps/${app}/users/${id}`);
  const answer = await service.api('PUT', `/apps/${app}/provisioning`, settings);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  await eventually(() => target.users[0]?.externalId === ada.id, 'Ada is linked');
  const failed = async () => (await service.api('GET', `/apps/${app}/provisioning/resources?state=FAILED`)).body;
  await eventually(async () => /another user of this service/.test(JSON.stringify(await failed())), 'Bob is refused');
  assert.deepEqual([target.users[1]?.externalId, target.users[1]?.active], ['usr_whoHadTheNameBefore', false]);

  await service.api('DELETE', `/apps/${app}/users/${ada.id}`);
  await eventually(() => target.users[0]?.active === false, 'Ada is deactivated');
  assert.deepEqual(
    target.requests.filter((request) => request.startsWith('DELETE')),
    [],
  );
});
