/** Polls while a user has not answered (RFC 8628 section 3.5, CIBA section 11): honest clients always get authorization_pending, impatient ones slow_down. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { afterwards } from '../../support/afterwards.ts';
import { moveClock, stopClock } from '../../support/clock.ts';
import { countingProxy } from '../../support/counting-proxy.ts';
import { testDatabase } from '../../support/database.ts';
import { newSecretKey, startService, startTwo } from '../../support/service.ts';
import { poll, request, reviewed, SETTINGS, signedIn } from '../ciba/sign-in-requests.ts';
import { createClient, post } from '../servers/relying-party.ts';

const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code';

test('while a user decides, a hundred polls of ten applications each get authorization_pending, for one read and one write', async (t) => {
  stopClock(t);
  const own = await testDatabase();
  afterwards(t, () => own.drop());
  const database = await countingProxy(t, own);
  const service = await startService(t, { beside: { database, secretKey: newSecretKey() } });
  const user = await service.createUser();
  const waiting = [];
  for (let n = 0; n < 10; n += 1) {
    const by = await createClient(service, SETTINGS);
    waiting.push({ by, id: (await request(service, by, { login_hint: user.login })).body.auth_req_id as string });
  }
  const said: string[] = [];
  const costs: number[] = [];
  for (let round = 0; round < 10; round += 1) {
    database.taken();
    const answers = await Promise.all(waiting.map(({ by, id }) => poll(service, by, id)));
    said.push(...answers.map(({ body }) => body.error));
    const statements = database.taken().filter((text) => /\boidc_payload\b/.test(text));
    costs.push(statements.length);
    assert.equal(statements.filter((text) => /\bupdate\b/i.test(text)).length, 10, 'each poll is one update');
    moveClock(t, 5);
  }
  assert.deepEqual(said, Array(100).fill('authorization_pending'));
  assert.ok(Math.max(...costs) <= 20, costs.join());

  const browser = await signedIn(service, user);
  for (const _ of waiting) await browser.submit(await reviewed(browser), 'request-form', { confirm: 'yes' });
  for (const { by, id } of waiting) assert.equal((await poll(service, by, id)).status, 200);
});

test('who polls too early gets slow_down, whichever process is asked, and the tokens as soon as the user has answered', async (t) => {
  stopClock(t);
  const [first, second] = await startTwo(t);
  const user = await first.createUser();
  const [one, other] = [await createClient(first, SETTINGS), await createClient(first, SETTINGS)];
  const { auth_req_id: id } = (await request(first, one, { login_hint: user.login })).body;
  const { auth_req_id: another } = (await request(first, other, { login_hint: user.login })).body;
  const many = await Promise.all(Array.from({ length: 20 }, (_, n) => poll(n % 2 === 0 ? first : second, one, id)));
  assert.deepEqual(many.map(({ body }) => body.error).sort(), ['authorization_pending', ...Array(19).fill('slow_down')]);
  assert.deepEqual([...new Set(many.map(({ status }) => status))], [400]);
  assert.equal((await poll(second, other, another)).body.error, 'authorization_pending', 'each request by itself');
  assert.equal((await poll(second, other, id)).body.error, 'invalid_grant', 'of another application');
  moveClock(t, 3);
  assert.equal((await poll(second, one, id)).body.error, 'slow_down');
  moveClock(t, 1);
  assert.equal((await poll(second, one, id)).body.error, 'authorization_pending', 'a second early is late on the way');
  const browser = await signedIn(first, user);
  for (let n = 0; n < 2; n += 1) await browser.submit(await reviewed(browser), 'request-form', { confirm: 'yes' });
  assert.equal((await poll(second, one, id)).status, 200);
});

test('devices are slowed down in the same way, and a code that has expired is expired', async (t) => {
  stopClock(t);
  const service = await startService(t);
  const settings = { application_type: 'native', grant_types: [DEVICE], response_types: [], redirect_uris: [] };
  const one = await createClient(service, settings);
  const { body } = await post(service, 'built-in', 'device_authorization', one, { client_id: one.clientId, scope: 'openid' });
  const ask = async () => {
    const form = { client_id: one.clientId, grant_type: DEVICE, device_code: body.device_code };
    return (await post(service, 'built-in', 'token', one, form)).body.error;
  };
  assert.deepEqual([await ask(), await ask()], ['authorization_pending', 'slow_down']);
  moveClock(t, 10);
  assert.equal(await ask(), 'authorization_pending');
  moveClock(t, 600);
  assert.deepEqual([await ask(), await ask()], ['expired_token', 'expired_token']);
});
