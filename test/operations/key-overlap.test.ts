/** Signing keys rotate by themselves with overlap (OpenID Connect Core section 10.1.1): a relying party that keeps the key set for a day never sees a signature that fails. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLocalJWKSet, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from 'jose';
import { pino } from 'pino';
import { maintainAllSigningKeys } from '../../src/features/authorization-servers/signing-keys.service.ts';
import { Keyring } from '../../src/platform/crypto/secrets.ts';
import { openDatabase } from '../../src/platform/database/database.ts';
import { openNotifications } from '../../src/platform/database/notifications.ts';
import { post } from '../protocol/servers/relying-party.ts';
import { afterwards } from '../support/afterwards.ts';
import { moveClock } from '../support/clock.ts';
import { STARTED, startService } from '../support/service.ts';

const HOUR = 3600;
const DAY = 24 * HOUR;

test('half a year by the hour of each rotation: tokens verify with keys as old as a day, and for as long as they live', {
  timeout: 600_000,
}, async (t) => {
  const service = await startService(t);
  const connection = { connectionString: service.database.url };
  const log = pino({ level: 'silent' });
  const database = await openDatabase({ connection, onError: () => {} });
  afterwards(t, () => database.close());
  const notifications = await openNotifications(connection, log);
  afterwards(t, () => notifications.close());
  const keyring = new Keyring([Buffer.from(STARTED.SECRET_KEY, 'base64url')]);
  const app = await service.createApp({ application_type: 'service' });

  const fetched = async () => (await (await fetch(`${service.issuer('default')}/keys`)).json()) as JSONWebKeySet;
  // Never asked for before its time, whatever key a token names: worse than any library behaves.
  let kept = { keys: await fetched(), since: 0 };
  let before: { readonly token: string; readonly issued: number } | undefined;
  const kids = new Set<string | undefined>();
  let now = 0;
  const pass = async (seconds: number) => {
    moveClock(t, seconds);
    now += seconds;
    await maintainAllSigningKeys({ database, notifications, keyring });
    if (now - kept.since >= DAY) kept = { keys: await fetched(), since: now };
    const { body, status } = await post(service, 'default', 'token', app, { grant_type: 'client_credentials' });
    assert.equal(status, 200, JSON.stringify(body));
    const verify = (token: string) =>
      jwtVerify(token, createLocalJWKSet(kept.keys), { issuer: service.issuer('default'), currentDate: new Date() });
    kids.add(decodeProtectedHeader(body.access_token).kid);
    await verify(body.access_token);
    // … and one of just before, with keys fetched just now: it outlives the rotation of its key.
    if (before !== undefined && now - before.issued < HOUR) {
      const fresh = createLocalJWKSet(await fetched());
      await jwtVerify(before.token, fresh, { issuer: service.issuer('default'), currentDate: new Date() });
      assert.equal((await post(service, 'default', 'introspect', app, { token: before.token })).body.active, true);
    }
    before = { token: body.access_token, issued: now };
  };

  for (let rotation = 1; rotation <= 2; rotation += 1) {
    const due = rotation * 90 * DAY;
    while (now < due - 30 * HOUR) await pass(Math.min(10 * DAY, due - 30 * HOUR - now));
    // The hours around it, at half past: the tokens of the half hour before are alive still.
    while (now < due + 30 * HOUR) await pass(Math.abs(now - due) < 2 * HOUR ? HOUR / 2 : 6 * HOUR);
    assert.equal(kids.size, rotation + 1, `rotation ${rotation} has come, by itself`);
  }
});
