import assert from 'node:assert/strict';
import { test } from 'node:test';
import { moveClock } from '../../support/clock.ts';
import { onServer } from '../../support/database.ts';
import { newSecretKey, startService } from '../../support/service.ts';
import { type JsonAnswer, post, type TestClient } from '../servers/relying-party.ts';

const isBarred = ({ status, body, headers }: JsonAnswer): void => {
  assert.deepEqual([status, body.error], [429, 'temporarily_unavailable'], JSON.stringify(body));
  const retryAfter = Number(headers.get('retry-after'));
  assert.ok(retryAfter > 0 && retryAfter <= 900, `Retry-After ${retryAfter}`);
  assert.equal(headers.get('content-type'), 'application/json;charset=UTF-8');
  assert.equal(headers.get('www-authenticate'), null);
};

test('failures by address, on two processes over one database (decisions, "Users sign in")', async (t) => {
  const secretKey = newSecretKey();
  // Behind a proxy, so that a test can come from several addresses.
  const env = { SECRET_KEY: secretKey, TRUST_PROXY: '1' };
  const first = await startService(t, { env });
  const second = await startService(t, { env, beside: { database: first.database, secretKey } });
  const settings = { grant_types: ['client_credentials', 'password'], response_types: [] };
  const [client, other] = [await first.createApp(settings), await first.createApp(settings)];
  const user = await first.createUser();

  const call = async (
    service: typeof first,
    address: string,
    endpoint: string,
    { clientId, clientSecret }: TestClient,
    form: Record<string, string>,
  ) => {
    const response = await fetch(`${service.issuer('built-in')}/${endpoint}`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`,
        'content-type': 'application/x-www-form-urlencoded',
        'x-forwarded-for': address,
      },
      body: new URLSearchParams(form),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
  };
  const CLIENT_CREDENTIALS = { grant_type: 'client_credentials' };
  const wrong = { ...client, clientSecret: 'wrong' };

  await t.test('wrong client secrets count per application and address; a right one from elsewhere always works', async (t) => {
    const [attacker, owner] = ['203.0.113.1', '203.0.113.2'];
    const tries = await Promise.all(
      Array.from({ length: 100 }, (_, n) => {
        const [service, endpoint] = [n % 2 === 0 ? first : second, ['token', 'introspect', 'revoke'][n % 3] ?? ''];
        return call(service, attacker, endpoint, wrong, { ...CLIENT_CREDENTIALS, token: 'x' });
      }),
    );
    assert.deepEqual(new Set(tries.map(({ status }) => status)), new Set([401]));
    for (const service of [first, second]) {
      isBarred(await call(service, attacker, 'token', wrong, CLIENT_CREDENTIALS));
      isBarred(await call(service, attacker, 'token', client, CLIENT_CREDENTIALS));
      isBarred(await call(service, attacker, 'introspect', client, { token: 'x' }));
      isBarred(await call(service, attacker, 'revoke', client, { token: 'x' }));
      assert.equal((await call(service, owner, 'token', client, CLIENT_CREDENTIALS)).status, 200);
      assert.equal((await call(service, attacker, 'token', other, CLIENT_CREDENTIALS)).status, 200);
    }
    moveClock(t, 901);
    assert.equal((await call(first, attacker, 'token', client, CLIENT_CREDENTIALS)).status, 200);
  });

  await t.test('a client that has no secret, or that there is not, is not counted', async () => {
    const { clientId } = await first.createApp({ application_type: 'browser', redirect_uris: ['https://app.example/callback'] });
    await Promise.all(
      Array.from({ length: 110 }, (_, n) =>
        call(first, '203.0.113.3', 'token', { clientId: n % 2 ? clientId : 'none', clientSecret: 'x' }, CLIENT_CREDENTIALS),
      ),
    );
    const { rows } = await onServer(first.database.url, (sql) =>
      sql.query(`SELECT key FROM failures_by_address WHERE key LIKE '%203.0.113.3'`),
    );
    assert.deepEqual(rows, []);
    const answer = await post(first, 'built-in', 'introspect', { clientId, clientSecret: undefined }, { token: 'x' });
    assert.equal(answer.status, 200);
  });

  await t.test('wrong passwords at both: 429 with Retry-After at the password grant and authn, from that address alone', async () => {
    const attacker = '203.0.113.9';
    const passwordGrant = (service: typeof first, address: string, username: string, password: string) =>
      call(service, address, 'token', client, { grant_type: 'password', username, password });
    const authn = (address: string, username: string, password: string) =>
      fetch(`${second.baseUrl}/api/v1/authn`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
        body: JSON.stringify({ username, password }),
      });
    for (let n = 0; n < 100; n += 10) {
      const statuses = await Promise.all(
        Array.from({ length: 10 }, async (_, m) =>
          m % 2 === 0
            ? (await passwordGrant(first, attacker, `nobody-${n + m}`, 'x')).status
            : (await authn(attacker, `nobody-${n + m}`, 'x')).status,
        ),
      );
      assert.deepEqual(new Set(statuses), new Set([400, 401]));
    }
    isBarred(await passwordGrant(second, attacker, user.login, user.password));
    const refused = await authn(attacker, user.login, user.password);
    assert.equal(refused.status, 429);
    assert.ok(Number(refused.headers.get('retry-after')) > 0);
    assert.equal(((await refused.json()) as { errorCode: string }).errorCode, 'E0000047');
    assert.equal((await passwordGrant(second, '203.0.113.10', user.login, user.password)).status, 200);
  });

  await t.test('thirty wrong passwords at once, on both: the account is locked on both, once', async () => {
    const { id, login, password } = await first.createUser();
    const passwordGrant = (service: typeof first, given: string) =>
      call(service, '203.0.113.20', 'token', client, { grant_type: 'password', username: login, password: given });
    await Promise.all(Array.from({ length: 30 }, (_, n) => passwordGrant(n % 2 === 0 ? first : second, 'wrong')));
    for (const service of [first, second]) assert.equal((await passwordGrant(service, password)).body.error, 'invalid_grant');
    const locks = await first.api('GET', `/logs?filter=${encodeURIComponent('eventType eq "user.account.lock"')}&limit=200`);
    const mine = locks.body.filter((event: { target: { id: string }[] }) => event.target.some((target) => target.id === id));
    assert.equal(mine.length, 1);
    assert.equal((await first.api('GET', `/users/${id}`)).body.status, 'LOCKED_OUT');
  });
});
