/** oidc-provider's contract for adapters, for each model that is stored; what sessions keep beyond it stands in session-adapter.test.ts. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { errors } from 'oidc-provider';
import { epochSeconds } from '../../../src/platform/clock/clock.ts';
import { digest, Keyring, randomToken } from '../../../src/platform/crypto/secrets.ts';
import { DeviceCodeAdapter } from '../../../src/protocol/storage/device-code-adapter.ts';
import { InteractionOver } from '../../../src/protocol/storage/model-adapter.ts';
import type { ModelName } from '../../../src/protocol/storage/protocol-state.store.ts';
import { write } from '../../../src/protocol/storage/protocol-writes.store.ts';
import { currentRequest } from '../../../src/protocol/storage/request-state.ts';
import { moveClock, stopClock } from '../../support/clock.ts';
import { adapterFor, HOUR, inRequest, MODEL_NAMES, payloadOf, rows, twoServers } from './adapter-requests.ts';

test('the answer to an interaction changes it where it still waits, and brings none back (OpenID Connect Core section 3.1.2.3)', async (t) => {
  const { first, second } = await twoServers(t);
  const adapter = adapterFor('Interaction', first);
  const id = randomToken();
  const payload = payloadOf('Interaction', id, { acr: 'one' });
  await adapter.upsert(id, payload, HOUR);
  const answer = { ...payload, result: { login: { accountId: 'usr1' } } };
  await assert.rejects(adapterFor('Interaction', second).upsert(id, answer, HOUR), InteractionOver, 'it is another server’s');
  await adapter.upsert(id, answer, HOUR);
  const found = await adapter.find(id);
  assert.deepEqual([found?.result, found?.acr, found?.exp], [answer.result, 'one', payload.exp]);
  await adapter.destroy(id);
  await assert.rejects(adapter.upsert(id, answer, HOUR), InteractionOver);
  assert.equal(await adapter.find(id), undefined);
});

for (const model of MODEL_NAMES) {
  describe(`the adapter of ${model}`, () => {
    test('upsert, find, upsert again, destroy', async (t) => {
      const { first } = await twoServers(t);
      const adapter = adapterFor(model, first);
      const id = randomToken();
      assert.equal(await adapter.find(id), undefined);

      const payload = payloadOf(model, id, { acr: 'one', claims: { userinfo: { email: null } } });
      await adapter.upsert(id, payload, HOUR);
      const found = (await adapter.find(id)) ?? {};
      for (const [name, value] of Object.entries(payload)) assert.deepEqual(found[name], value, name);
      assert.equal(await adapter.find(randomToken()), undefined);

      await adapter.upsert(id, { ...payload, acr: 'two', exp: Number(payload.exp) + 1 }, HOUR + 1);
      const again = await adapter.find(id);
      assert.equal(again?.acr, 'two');
      assert.equal(again?.exp, Number(payload.exp) + 1);

      await adapter.destroy(id);
      assert.equal(await adapter.find(id), undefined);
      await adapter.destroy(id);
    });

    test('one id at two servers', async (t) => {
      const { first, second } = await twoServers(t);
      const id = randomToken();
      await adapterFor(model, first).upsert(id, payloadOf(model, id, { acr: 'first' }), HOUR);
      if (model === 'Session') {
        assert.equal((await adapterFor(model, second).find(id))?.acr, 'first', 'the session is everywhere the same');
        return;
      }
      assert.equal(await adapterFor(model, second).find(id), undefined, 'everything else is its own server’s');
      await adapterFor(model, second).upsert(id, payloadOf(model, id, { acr: 'second' }), HOUR);
      await adapterFor(model, second).destroy(id);
      assert.equal((await adapterFor(model, first).find(id))?.acr, 'first');
    });

    test('no column holds the id (RFC 6819 section 5.1.4.1.3)', async (t) => {
      const { first, database } = await twoServers(t);
      const id = randomToken();
      await adapterFor(model, first).upsert(id, payloadOf(model, id, { returnTo: `https://id.example/1/authorize/${id}` }), HOUR);
      const stored = await rows(database);
      assert.equal(stored.length, 1);
      assert.ok(stored[0]?.includes(digest(id)));
      assert.ok(!stored[0]?.includes(id), stored[0]);
    });

    test('ends at the very second of its expiry, by the clock of the service', async (t) => {
      stopClock(t);
      const { first } = await twoServers(t);
      const adapter = adapterFor(model, first);
      const id = randomToken();
      const payload = payloadOf(model, id);
      await adapter.upsert(id, payload, HOUR);
      moveClock(t, Number(payload.exp) - 1 - Date.now() / 1000);
      assert.ok(await adapter.find(id), 'a second before');
      moveClock(t, 1);
      assert.equal(await adapter.find(id), undefined, 'at the second');
    });

    test('without an exp the lifetime counts from now', async (t) => {
      stopClock(t);
      const { first } = await twoServers(t);
      const adapter = adapterFor(model, first);
      const id = randomToken();
      const { exp: _, ...payload } = payloadOf(model, id);
      await adapter.upsert(id, payload, 100);
      moveClock(t, 98);
      assert.ok(await adapter.find(id));
      moveClock(t, 3);
      assert.equal(await adapter.find(id), undefined);
    });

    test('findByUid and findByUserCode', async (t) => {
      const { first, second } = await twoServers(t);
      const id = randomToken();
      await adapterFor(model, first).upsert(id, payloadOf(model, id, { uid: 'the-uid', accountId: 'account' }), HOUR);
      const found = await adapterFor(model, second).findByUid('the-uid');
      assert.equal(found?.accountId, model === 'Session' ? 'account' : undefined);
      assert.equal(found?.jti, undefined, 'the cookie’s value cannot be told, for it is not stored');
      assert.equal(await adapterFor(model, first).findByUid('another'), undefined);
      assert.equal(await adapterFor(model, first).findByUserCode('the-uid'), undefined);
    });
  });
}

test('revokeByGrantId ends every token of the grant and no other (RFC 6749 section 4.1.2)', async (t) => {
  const { first } = await twoServers(t);
  const models: ModelName[] = ['AuthorizationCode', 'AccessToken', 'RefreshToken'];
  const save = (model: ModelName, id: string, grantId: string) =>
    adapterFor(model, first).upsert(id, payloadOf(model, id, { grantId }), HOUR);
  await Promise.all(models.flatMap((model) => [save(model, `${model} ended`, 'ended'), save(model, `${model} kept`, 'kept')]));
  await adapterFor('RefreshToken', first).revokeByGrantId('ended');
  for (const model of models) {
    assert.equal(await adapterFor(model, first).find(`${model} ended`), undefined);
    assert.ok(await adapterFor(model, first).find(`${model} kept`));
  }
});

for (const model of ['AuthorizationCode', 'RefreshToken'] as const) {
  test(`consume of ${model}: one of twenty parallel uses succeeds, the others write nothing (RFC 6749 section 4.1.2)`, async (t) => {
    const { first, database } = await twoServers(t);
    const id = randomToken();
    await adapterFor(model, first).upsert(id, payloadOf(model, id), HOUR);
    const uses = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) =>
        inRequest(first, async () => {
          await adapterFor(model, first).find(id);
          await adapterFor(model, first).consume(id);
          await adapterFor('AccessToken', first).upsert(`token ${index}`, payloadOf('AccessToken', `token ${index}`), HOUR);
          return index;
        }),
      ),
    );
    const winners = uses.filter((use) => use.status === 'fulfilled').map(({ value }) => value);
    assert.equal(winners.length, 1);
    for (const use of uses) if (use.status === 'rejected') assert.ok(use.reason instanceof errors.InvalidGrant, String(use.reason));
    assert.equal((await rows(database)).length, 2, 'the value that was used, and the token of the one who used it');
    assert.ok(await adapterFor('AccessToken', first).find(`token ${winners[0]}`));
    assert.equal(typeof (await adapterFor(model, first).find(id))?.consumed, 'number');
  });

  test(`consume of ${model}: a clock that is behind does not make a use the first one`, async (t) => {
    const { first, database } = await twoServers(t);
    const key = { model, id: digest('value'), serverKey: first.key };
    await adapterFor(model, first).upsert('value', payloadOf(model, 'value'), HOUR);
    const nothing = {
      inserts: [],
      sessions: [],
      extensions: [],
      answers: [],
      deletes: [],
      notes: [],
      sessionClients: [],
      events: [],
      bySession: false,
    };
    const use = (now: number) => write(database.pool, { ...nothing, uses: [{ ...key, leeway: 0 }] }, now);
    const now = Math.floor(Date.now() / 1000);
    await use(now + 1);
    await assert.rejects(use(now), { name: 'AlreadyUsed' });
  });
}

test('a refresh token within its leeway is not consumed yet, while its successor is unused (RFC 9700 section 4.14.2)', async (t) => {
  stopClock(t);
  const { first } = await twoServers(t);
  const adapter = adapterFor('RefreshToken', first);
  await adapter.upsert('value', { ...payloadOf('RefreshToken', 'value'), grantId: 'the family' }, HOUR);
  const use = (value: string, successor: string) =>
    inRequest(
      first,
      async () => {
        await adapter.consume(value);
        await adapter.upsert(successor, { ...payloadOf('RefreshToken', successor), grantId: 'the family' }, HOUR);
      },
      30,
    );
  const consumed = (value = 'value') => inRequest(first, async () => (await adapter.find(value))?.consumed !== undefined, 30);
  await use('value', 'first');
  assert.deepEqual([await consumed(), await consumed('first')], [false, false]);
  moveClock(t, 29);
  await use('value', 'second');
  assert.deepEqual([await consumed(), await consumed('first'), await consumed('second')], [false, true, false]);
  moveClock(t, 2);
  assert.equal(await consumed(), true, 'the leeway counts from the first use');
  await assert.rejects(use('value', 'third'), errors.InvalidGrant);
  await use('second', 'fourth');
  assert.equal(await consumed('second'), false);
  await use('fourth', 'fifth');
  assert.equal(await consumed('second'), true, 'its successor was used');
});

test('a refresh token that does not rotate and is revoked during its use issues nothing (RFC 7009 section 2.1)', async (t) => {
  const { first, database } = await twoServers(t);
  const adapter = adapterFor('RefreshToken', first);
  await adapter.upsert('value', payloadOf('RefreshToken', 'value'), HOUR);
  const use = (meanwhile: () => Promise<void>) =>
    inRequest(first, async () => {
      assert.ok(await adapter.find('value'));
      const key = { model: 'RefreshToken' as const, id: digest('value'), serverKey: first.key };
      currentRequest()?.writes.extensions.push({ ...key, expiresAt: Math.floor(Date.now() / 1000) + 2 * HOUR });
      await adapterFor('AccessToken', first).upsert('token', payloadOf('AccessToken', 'token'), HOUR);
      await meanwhile();
    });
  await use(async () => {});
  assert.equal((await rows(database)).length, 2);
  await adapterFor('AccessToken', first).destroy('token');
  await assert.rejects(
    use(() => inRequest(first, () => adapter.destroy('value'))),
    errors.InvalidGrant,
  );
  assert.deepEqual(await rows(database), []);
});

describe('what may be used once', () => {
  test('of twenty at once with one client assertion one is accepted, and again only after it expired (RFC 7523 section 3)', async (t) => {
    const { first, second, database } = await twoServers(t);
    const id = randomToken();
    const claim = (server = first) => server.claim(id, epochSeconds() + HOUR);
    const claims = await Promise.all(Array.from({ length: 20 }, () => claim()));
    assert.equal(claims.filter((isFirst) => isFirst).length, 1);
    assert.ok(await claim(second));
    assert.ok(!(await rows(database)).some((row) => row.includes(id)), 'the value is not stored');
    moveClock(t, HOUR);
    assert.ok(await claim());
  });
});

test('a failure of the service does not answer the request of a device; its user can try again (RFC 8628 section 3.5)', async (t) => {
  const { first } = await twoServers(t);
  const adapter = new DeviceCodeAdapter(first, new Keyring([randomBytes(32)]));
  const id = randomToken();
  const payload = payloadOf('DeviceCode', id, { userCode: 'BCDFGHJK' });
  await adapter.upsert(id, payload, HOUR);
  for (const error of ['server_error', 'temporarily_unavailable', 'invalid_request']) {
    await inRequest(first, () => adapter.upsert(id, { ...payload, error }, HOUR));
    assert.equal((await adapter.find(id))?.error, undefined);
  }
  await inRequest(first, () => adapter.upsert(id, { ...payload, error: 'access_denied' }, HOUR));
  assert.equal((await adapter.find(id))?.error, 'access_denied');
});
