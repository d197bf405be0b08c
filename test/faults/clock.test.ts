/**
 * The clock of the machine set ten minutes forward and back under a running service, the real process: what expires expires, nothing lives for ever, nobody
 * who was let in is locked out, and keys are rotated on (issue 12, "Faults").
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose';
import { answerOf, authorizeUrl, CALLBACK, createClient, post, tokensFor, userinfo } from '../protocol/servers/relying-party.ts';
import { afterwards } from '../support/afterwards.ts';
import { onServer, startedDatabase } from '../support/database.ts';
import { eventually, runService } from '../support/process.ts';
import { STARTED } from '../support/service.ts';
import { UserAgent } from '../support/user-agent.ts';

const TEN_MINUTES = 600;
const QUARTER_HOUR = 900;
/** More than are let pass. */
const WRONG_SECRETS = 120;

test('the clock ten minutes forward and back: what expires expires, and whoever was let in stays in', async (t) => {
  const database = await startedDatabase();
  afterwards(t, () => database.drop());
  const file = path.join(mkdtempSync(path.join(os.tmpdir(), 'gatehouse-test-')), 'ahead');
  afterwards(t, () => rmSync(path.dirname(file), { recursive: true }));
  writeFileSync(file, '0');
  const NODE_OPTIONS = `--import ${new URL('moving-clock.js', import.meta.url).href}`;
  const service = await runService(t, { DATABASE_URL: database.url, ...STARTED, LOG_LEVEL: 'silent', NODE_OPTIONS, MOVING_CLOCK: file });
  /** As the management API tells the time, to a minute. */
  const ahead = async () => {
    const { body } = await service.api('POST', '/groups', { profile: { name: randomUUID() } });
    return Math.round((Date.parse(body.created) - Date.now()) / 60_000) * 60;
  };
  const setClock = async (seconds: number) => {
    writeFileSync(file, String(seconds));
    service.child.kill('SIGUSR2');
    await eventually(async () => (await ahead()) === seconds, 'the clock is moved');
  };
  const client = await createClient(service, { refresh_token: { leeway: 0 } });
  const machine = await createClient(service, { grant_types: ['client_credentials'], response_types: [], redirect_uris: [] });
  const user = await service.createUser();
  const browser = new UserAgent(service.baseUrl);
  const introspect = async (serverId: string, token: string) => (await post(service, serverId, 'introspect', client, { token })).body;
  const silent = async () =>
    answerOf(
      await browser.visit(
        authorizeUrl(service, 'built-in', { client_id: client.clientId, scope: 'openid offline_access', prompt: 'none' }),
      ),
    );
  const exchange = (code = '') =>
    post(service, 'built-in', 'token', client, { grant_type: 'authorization_code', code, redirect_uri: CALLBACK });
  const refresh = (serverId: string, token: string) =>
    post(service, serverId, 'token', client, { grant_type: 'refresh_token', refresh_token: token });
  const keys = async () => (await (await fetch(`${service.issuer('default')}/keys`)).json()) as JSONWebKeySet;
  const kid = (token: string) => decodeProtectedHeader(token).kid;

  const { body: opaque } = await tokensFor(service, browser, user, client);
  const { body: signed } = await tokensFor(service, browser, user, client, { serverId: 'default' });
  const { code: kept } = await silent();
  const { code: late } = await silent();

  await setClock(-TEN_MINUTES);
  // What was issued before is from the future now, as it is to a process whose clock is slow.
  assert.equal((await introspect('built-in', opaque.access_token)).active, true);
  assert.equal((await introspect('default', signed.access_token)).active, true);
  assert.equal((await userinfo(service, 'built-in', opaque.access_token)).status, 200);
  assert.equal((await userinfo(service, 'default', signed.access_token)).status, 200);
  assert.equal((await exchange(kept)).status, 200, 'a code that was just issued');
  assert.equal((await exchange(kept)).body.error, 'invalid_grant', 'and used');
  const { body: early } = await exchange((await silent()).code);
  assert.ok(early.access_token, 'the session goes on');
  assert.ok(Math.abs((decodeJwt(early.id_token).iat ?? 0) + TEN_MINUTES - Date.now() / 1000) < 120, 'the tokens tell the new time');
  const refreshed = await refresh('built-in', opaque.refresh_token);
  assert.equal(refreshed.status, 200);
  assert.equal((await refresh('built-in', opaque.refresh_token)).body.error, 'invalid_grant', 'rotation holds');

  const newcomer = await service.createUser();
  assert.ok((await tokensFor(service, new UserAgent(service.baseUrl), newcomer, client)).body.access_token, 'a sign-in begins and ends');
  await onServer(database.url, (sql) =>
    eventually(
      async () => (await sql.query('SELECT 1 FROM audit_events WHERE seal IS NULL')).rowCount === 0,
      'the audit log is sealed, though its last events are from the future',
    ),
  );

  await setClock(TEN_MINUTES);
  assert.equal((await exchange(late)).body.error, 'invalid_grant', 'a code of 300 seconds');
  const lasting = await introspect('default', signed.access_token);
  assert.equal(lasting.active, true);
  assert.equal((await silent()).error, undefined, 'the session is kept');
  const second = await tokensFor(service, new UserAgent(service.baseUrl), user, client, { serverId: 'default' });
  assert.equal(second.status, 200);
  const before = second.body.access_token;
  assert.equal((await service.api('POST', '/authorizationServers/default/credentials/lifecycle/keyRotate', { use: 'sig' })).status, 200);
  const rotated = await refresh('default', second.body.refresh_token);
  assert.equal(rotated.status, 200);
  assert.notEqual(kid(rotated.body.access_token), kid(before));

  for (let wrong = 0; wrong < WRONG_SECRETS; wrong += 20) {
    await Promise.all(
      Array.from({ length: 20 }, () =>
        post(service, 'default', 'token', { ...machine, clientSecret: 'wrong' }, { grant_type: 'client_credentials' }),
      ),
    );
  }
  const byMachine = async () => (await post(service, 'default', 'token', machine, { grant_type: 'client_credentials' })).status;
  await eventually(async () => (await byMachine()) === 429, 'the address is barred');

  await setClock(0);
  const verify = async (token: string): Promise<JWTPayload> =>
    (await jwtVerify(token, createLocalJWKSet(await keys()), { issuer: service.issuer('default'), clockTolerance: TEN_MINUTES + 60 }))
      .payload;
  assert.ok((await verify(before)).sub, 'the key that was retired in the future is published');
  assert.ok((await verify(rotated.body.access_token)).sub, 'and the one that signs');
  assert.equal((await service.api('POST', '/authorizationServers/default/credentials/lifecycle/keyRotate', { use: 'sig' })).status, 200);
  const once = await tokensFor(service, new UserAgent(service.baseUrl), user, client, { serverId: 'default' });
  assert.ok((await verify(once.body.access_token)).sub, 'and rotated again');
  assert.ok((await verify(before)).sub);
  assert.equal(await byMachine(), 429, 'going back lets nobody in');

  await setClock(TEN_MINUTES + QUARTER_HOUR + 60);
  assert.equal(await byMachine(), 200, 'a limit ends in time');
  await setClock(3600 + TEN_MINUTES + 120);
  for (const [serverId, token] of [
    ['built-in', opaque.access_token],
    ['built-in', early.access_token],
    ['default', signed.access_token],
    ['default', before],
  ] as const) {
    assert.equal((await introspect(serverId, token)).active, false, 'an hour after its issue by any of the clocks');
  }
  assert.equal(service.child.exitCode, null);
  assert.equal(await service.stop(), 0);
});
