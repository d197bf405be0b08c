/** When applications and their secrets were last used: noted whatever way a request takes, written together, and no request costs a statement more. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, authorizeUrl, createClient, post, type TestClient, tokensFor, userinfo } from '../../protocol/servers/relying-party.ts';
import { afterwards } from '../../support/afterwards.ts';
import { countingProxy } from '../../support/counting-proxy.ts';
import { onServer, testDatabase } from '../../support/database.ts';
import { eventually } from '../../support/process.ts';
import { newSecretKey, type Service, startService } from '../../support/service.ts';
import { withTimings } from '../../support/short-waits.ts';
import { UserAgent } from '../../support/user-agent.ts';

const GRANTS = { grant_types: ['authorization_code', 'refresh_token', 'client_credentials'] };
const usedAt = async (service: Service, { clientId }: TestClient): Promise<string | null> =>
  (await service.api('GET', `/apps/${clientId}`)).body.lastUsed;
const used = (service: Service, client: TestClient): Promise<string> =>
  eventually(() => usedAt(service, client), 'the last use is written');
const grant = { grant_type: 'client_credentials' };

test('an application is used by a token, by introspection, by userinfo and by a sign-in; not by what is refused', async (t) => {
  const service = await startService(t, { sendsOutbox: true });
  const user = await service.createUser();
  const browser = new UserAgent(service.baseUrl);
  const [machine, refused, asking, web, last] = await Promise.all([1, 2, 3, 4, 5].map(() => createClient(service, GRANTS)));
  assert(machine !== undefined && refused !== undefined && asking !== undefined && web !== undefined && last !== undefined);

  assert.equal(await usedAt(service, machine), null);
  const begun = Date.now();
  assert.equal((await post(service, 'default', 'token', machine, grant)).status, 200);
  const at = Date.parse(await used(service, machine));
  assert.ok(at >= begun && at <= Date.now());

  assert.equal((await post(service, 'default', 'token', { ...refused, clientSecret: 'x'.repeat(43) }, grant)).status, 401);
  assert.equal((await post(service, 'default', 'token', refused, { ...grant, scope: 'nothing-of-this-name' })).status, 400);
  await browser.visit(authorizeUrl(service, 'default', { client_id: web.clientId }));
  // A later use that is written tells that those before it were not.
  assert.equal((await post(service, 'default', 'introspect', asking, { token: 'unknown' })).status, 200);
  await used(service, asking);
  assert.deepEqual([await usedAt(service, refused), await usedAt(service, web)], [null, null]);

  const url = authorizeUrl(service, 'default', { client_id: web.clientId });
  assert.ok(answerOf(await browser.signIn(await browser.visit(url), user)).code);
  await used(service, web);

  const reading = await createClient(service, GRANTS);
  const { body } = await tokensFor(service, browser, user, reading, { serverId: 'default', scope: 'openid profile' });
  // The sign-in and the token are two uses, which may be written apart: both are when a later one is.
  assert.equal((await post(service, 'default', 'token', last, grant)).status, 200);
  await used(service, last);
  // A use within the next minute is not written again; one after it is.
  await onServer(service.database.url, (client) =>
    client.query("UPDATE applications SET last_used = now() - interval '2 minutes' WHERE id = $1", [reading.clientId]),
  );
  const before = await usedAt(service, reading);
  assert.equal((await userinfo(service, 'default', body.access_token)).status, 200);
  await eventually(async () => (await usedAt(service, reading)) !== before, 'userinfo counts as a use');
});

test('each secret has its own last use, and an inactive one is refused until it is active again', async (t) => {
  const service = await startService(t, { sendsOutbox: true });
  const client = await createClient(service, GRANTS);
  const path = `/apps/${client.clientId}/credentials/secrets`;
  const list = async () => (await service.api('GET', path)).body;
  const [first] = await list();
  const { body: second } = await service.api('POST', path);
  const token = async (clientSecret: string) => (await post(service, 'default', 'token', { ...client, clientSecret }, grant)).status;
  const uses = async () => (await list()).map(({ lastUsed }: { lastUsed: string | null }) => lastUsed !== null);

  assert.equal(await token(client.clientSecret ?? ''), 200);
  await eventually(async () => (await uses())[0], 'the older secret is used');
  assert.deepEqual(await uses(), [true, false]);
  assert.equal(await token(second.client_secret), 200);
  await eventually(async () => (await uses())[1], 'the newest secret is used');

  const step = async (id: string, verb: string) => {
    const { status, body } = await service.api('POST', `${path}/${id}/lifecycle/${verb}`);
    return [status, body.status ?? body.errorCode];
  };
  assert.deepEqual(await step(first.id, 'deactivate'), [200, 'INACTIVE']);
  assert.deepEqual([await token(client.clientSecret ?? ''), await token(second.client_secret)], [401, 200]);
  assert.deepEqual(await step(second.id, 'deactivate'), [403, 'E0000038'], 'the last active one stays active');
  assert.equal((await service.api('DELETE', `${path}/${second.id}`)).status, 403, 'and is not deleted');
  assert.deepEqual(await step(first.id, 'activate'), [200, 'ACTIVE']);
  assert.deepEqual(await step(first.id, 'activate'), [200, 'ACTIVE'], 'again: nothing happens');
  assert.equal(await token(client.clientSecret ?? ''), 200);
  assert.deepEqual(await step('nothing', 'activate'), [404, 'E0000007']);
  const events = (await service.api('GET', `/logs?q=client_secret&since=2020-01-01T00:00:00Z`)).body;
  assert.deepEqual(
    events
      .filter(({ eventType }: { eventType: string }) => /activate$/.test(eventType))
      .map(({ eventType, debugContext }: { eventType: string; debugContext: { after: unknown } }) => [eventType, debugContext.after]),
    [
      ['application.oauth2.client_secret.deactivate', { secretId: first.id, status: 'INACTIVE' }],
      ['application.oauth2.client_secret.activate', { secretId: first.id, status: 'ACTIVE' }],
    ],
  );
});

test('two hundred requests of two applications are written as one statement, also when the process ends', async (t) => {
  withTimings(t, { usesPause: 3_600_000 });
  const own = await testDatabase();
  afterwards(t, () => own.drop());
  const database = await countingProxy(t, own);
  const beside = { database, secretKey: newSecretKey() };
  const writes = () => database.taken().filter((text) => text.includes('SET last_used'));
  const clients: TestClient[] = [];
  await t.test('requests write no last use', async (process) => {
    const service = await startService(process, { beside, sendsOutbox: true });
    clients.push(await createClient(service, GRANTS), await createClient(service, GRANTS));
    for (let round = 0; round < 10; round += 1) {
      const answers = await Promise.all(
        clients.flatMap((client) => Array.from({ length: 10 }, () => post(service, 'default', 'token', client, grant))),
      );
      assert.ok(answers.every(({ status }) => status === 200));
    }
    assert.deepEqual(writes(), []);
  });
  assert.equal(writes().length, 1, 'the end of the process writes them');
  const service = await startService(t, { beside });
  for (const client of clients) assert.notEqual(await usedAt(service, client), null);
});
