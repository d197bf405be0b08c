/** SECRET_KEY is changed while the service lives (docs/how-to/rotate-the-secret-key.md): with both keys nothing is lost, after `gatehouse reseal` the new one is enough, and a wrong one is told in plain words. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { decodeJwt } from 'jose';
import { pino } from 'pino';
import { z } from 'zod';
import { verifyAuditLog } from '../../src/features/audit/audit-verification.service.ts';
import { beginCode } from '../../src/features/email-codes/email-codes.service.ts';
import { inboxMailer, readInbox } from '../../src/features/mail/dev-inbox.service.ts';
import { routeOf } from '../../src/features/mail/mail-route.service.ts';
import { requestReset } from '../../src/features/passwords/forgotten-password.service.ts';
import { findUnopenable, resealEverything } from '../../src/features/secret-keys/resealing.service.ts';
import { countByKey, SEALED_COLUMNS } from '../../src/features/secret-keys/sealed-values.store.ts';
import { readSettings } from '../../src/features/settings/settings.service.ts';
import { loadConfig } from '../../src/platform/config/config.ts';
import { sealing } from '../../src/platform/crypto/sealed.ts';
import { Keyring } from '../../src/platform/crypto/secrets.ts';
import { openDatabase } from '../../src/platform/database/database.ts';
import { openNotifications } from '../../src/platform/database/notifications.ts';
import { answerOf, authorizeUrl, CALLBACK, createClient, post, tokensFor } from '../protocol/servers/relying-party.ts';
import { afterwards } from '../support/afterwards.ts';
import { onServer, startedDatabase, type TestDatabase, testDatabase } from '../support/database.ts';
import { createHook, hookReceiver, signatureOf } from '../support/event-hooks.ts';
import { codeOf, enrolledUser, TWO_FACTORS } from '../support/factors.ts';
import { inlineHookBody, inlineReceiver, TOKENS } from '../support/inline-hooks.ts';
import { startMailServer } from '../support/mail.ts';
import { callCommand, eventually, freePort, type RunningService, run, runCommand, runService } from '../support/process.ts';
import { API_TOKEN, newSecretKey, STARTED } from '../support/service.ts';
import { UserAgent } from '../support/user-agent.ts';

const ringOf = (secretKey: string) => new Keyring(secretKey.split(',').map((key) => Buffer.from(key, 'base64url')));

/** What a service works with, without one that runs. */
async function servicesOn(t: TestContext, { url }: TestDatabase, secretKey: string) {
  const log = pino({ level: 'silent' });
  const database = await openDatabase({ connection: { connectionString: url }, onError: () => {} });
  afterwards(t, () => database.close());
  const notifications = await openNotifications({ connectionString: url }, log);
  afterwards(t, () => notifications.close());
  return { config: loadConfig({}), log, database, notifications, keyring: ringOf(secretKey) };
}

/** Every place that holds a sealed value, found by looking at everything that there is: `table.column` and the id of the key. */
const sealedAnywhere = ({ url }: TestDatabase): Promise<Set<string>> =>
  onServer(url, async (sql) => {
    const { rows } = await sql.query<{ name: string; column: string }>(
      `SELECT table_name AS name, column_name AS column FROM information_schema.columns
        WHERE table_schema = 'public' AND data_type IN ('text', 'jsonb', 'ARRAY')`,
    );
    const found = new Set<string>();
    for (const { name, column } of rows) {
      const values = await sql.query<{ id: string }>(
        `SELECT DISTINCT m[1] AS id FROM ${name}, regexp_matches("${column}"::text, 'v1\\.([A-Za-z0-9_-]{8})\\.[A-Za-z0-9_-]{38,}', 'g') AS m`,
      );
      for (const { id } of values.rows) found.add(`${name}.${column} ${id}`);
    }
    return found;
  });

const PLACES = Object.values(SEALED_COLUMNS).map(({ table, column }) => `${table}.${column}`);

test('no sealed column is forgotten: each that is named so is known, and whatever seals is', async (t) => {
  const database = await testDatabase();
  afterwards(t, () => database.drop());
  const { rows } = await onServer(database.url, (sql) =>
    sql.query<{ place: string }>(
      "SELECT table_name || '.' || column_name AS place FROM information_schema.columns WHERE table_schema = 'public' AND column_name LIKE '%sealed%' AND data_type = 'text' ORDER BY 1",
    ),
  );
  for (const { place } of rows)
    assert.ok(PLACES.includes(place), `${place} is not in SEALED_COLUMNS: what it holds would be lost with the former key`);
  // Whoever seals into a place of another name comes by here: add the place to SEALED_COLUMNS, its context to resealing.ts, a value of it to the test below, and the file here.
  const source = fileURLToPath(new URL('../../../src/', import.meta.url));
  const sealers = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && /[kK]eyring\.seal\(/.test(readFileSync(`${source}/${file}`, 'utf8')))
    .sort();
  assert.deepEqual(sealers, [
    'features/applications/sealed-secrets.service.ts',
    'features/authorization-servers/signing-keys.service.ts',
    'features/email-codes/email-codes.service.ts',
    'features/event-hooks/hook-secrets.service.ts',
    'features/idempotency/idempotency.service.ts',
    'features/identity-providers/identity-providers.service.ts',
    'features/mail/dev-inbox.service.ts',
    'features/mail/mail-settings.service.ts',
    'features/mail/mail.service.ts',
    'features/message-factors/factor-codes.service.ts',
    'features/message-factors/message-enrolment.service.ts',
    'features/passwords/forgotten-password.service.ts',
    'features/provisioning/provisioning.service.ts',
    'features/second-factors/one-time-codes.service.ts',
    'features/secret-keys/resealing.service.ts',
    'features/signals/signal-streams.service.ts',
    'features/subjects/pairwise-subjects.service.ts',
    // Cursors of lists: clients keep them, no table does.
    'platform/crypto/cursors.ts',
    // For half an hour at most; its notes in the outbox are in test/protocol/ciba/sign-in-requests.test.ts (decision 57).
    'protocol/storage/sign-in-request-adapter.ts',
  ]);
});

test('what a browser keeps opens under each key that is listed, and under no other', async () => {
  const [old, fresh] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const options = { kind: 'kept', schema: z.object({ it: z.string() }), seconds: 60 };
  const sealed = await sealing({ ...options, keys: [old] }).seal({ it: 'opens' });
  assert.deepEqual(await sealing({ ...options, keys: [fresh, old] }).open(sealed), { it: 'opens' });
  assert.equal(await sealing({ ...options, keys: [fresh] }).open(sealed), undefined);
  const anew = await sealing({ ...options, keys: [fresh, old] }).seal({ it: 'opens' });
  assert.deepEqual(await sealing({ ...options, keys: [fresh] }).open(anew), { it: 'opens' }, 'the first key seals');
});

/** A call that may be repeated. */
async function repeatable(service: RunningService) {
  const response = await fetch(`${service.listensAt}/api/v1/groups`, {
    method: 'POST',
    headers: { authorization: `SSWS ${API_TOKEN}`, 'content-type': 'application/json', 'idempotency-key': 'of-the-former-key' },
    body: JSON.stringify({ profile: { name: 'Repeated' } }),
  });
  return { status: response.status, body: (await response.json()) as { id: string } };
}

test('SECRET_KEY changes: old and new, then everything is sealed again, then the new one alone', { timeout: 600_000 }, async (t) => {
  const database = await startedDatabase();
  afterwards(t, () => database.drop());
  const [former, fresh] = [STARTED.SECRET_KEY, newSecretKey()];
  const [formerId, freshId] = [ringOf(former).id, ringOf(fresh).id];
  const receiver = await hookReceiver(t);
  const mailServer = await startMailServer(t);
  const env = { PORT: await freePort(), DATABASE_URL: database.url, ALLOW_PRIVATE_NETWORK: 'true', LOG_LEVEL: 'fatal' };
  const nowhere = { SMTP_URL: `smtp://127.0.0.1:${await freePort()}`, MAIL_FROM: 'id@gatehouse.example' };

  // Something of everything that is sealed, under the former key.
  const before = await runService(t, { ...env, ...nowhere, SECRET_KEY: former });
  const user = await before.createUser({ email: 'somebody@example.com' });
  const client = await createClient(before);
  const browser = new UserAgent(before.baseUrl);
  const factored = await enrolledUser(before);
  const enrolling = new UserAgent(before.baseUrl);
  const demanding = authorizeUrl(before, 'built-in', { client_id: client.clientId, acr_values: TWO_FACTORS });
  const half = await enrolling.signIn(await enrolling.visit(demanding), await before.createUser());
  assert.match(half.text, /id="enroll-form"/);
  const visitor = new UserAgent(before.baseUrl);
  const signInPage = await visitor.visit(authorizeUrl(before, 'built-in', { client_id: client.clientId }));
  const headers = [{ key: 'X-Of-The-Receiver', value: 'a header that only the receiver knows' }];
  const scheme = { type: 'HEADER', key: 'Authorization', value: 'Basic of-the-receiver' };
  const hook = await createHook(before, receiver.uri, ['group.lifecycle.create'], { headers, authScheme: scheme });
  const second = await before.api('POST', `/eventHooks/${hook.id}/credentials/secret`);
  const inlined = await inlineReceiver(t);
  const { body: inlineHook } = await before.api(
    'POST',
    '/inlineHooks',
    inlineHookBody(TOKENS, inlined.uri, {}, { headers, authScheme: scheme }),
  );
  inlined.secret = (await before.api('POST', `/inlineHooks/${inlineHook.id}/credentials/secret`)).body.signingSecret;
  assert.equal(second.status, 201, JSON.stringify(second.body));
  const credentials = { client: { client_id: 'gatehouse', client_secret: 'known to the provider' } };
  const provider = { name: 'Provider', type: 'OIDC', protocol: { issuer: { url: 'https://idp.example' }, credentials } };
  const made = await before.api('POST', '/idps', provider);
  assert.ok(made.status < 300, JSON.stringify(made.body));
  const first = await repeatable(before);
  assert.equal(first.status, 200, JSON.stringify(first.body));
  const relay = { host: 'mail.invalid', username: 'gate', password: 'known to the mail server', fromAddress: 'id@example.com' };
  assert.equal((await before.api('PUT', '/settings/mail', relay)).status, 200);
  const telephony = { url: 'http://127.0.0.1:9/sms', secret: `whsec_${'A'.repeat(43)}=`, prefixes: ['+49'] };
  assert.equal((await before.api('PUT', '/settings/telephony', telephony)).status, 200);
  const target = { status: 'INACTIVE', baseUrl: 'http://127.0.0.1:9/scim', auth: { type: 'BEARER', secret: 'known-to-the-target' } };
  assert.equal((await before.api('PUT', `/apps/${client.clientId}/provisioning`, target)).status, 200);
  const stream = {
    applicationId: client.clientId,
    events: ['https://schemas.openid.net/secevent/risc/event-type/account-purged'],
    delivery: { method: 'PUSH', endpointUrl: 'http://127.0.0.1:9/events', authorizationHeader: 'Bearer known-to-the-receiver' },
  };
  assert.equal((await before.api('POST', '/ssf/streams', stream)).status, 200);
  assert.equal((await before.api('PUT', '/settings/sign-in', { messageFactors: ['sms'] })).status, 200);
  const phone = { factorType: 'sms', provider: 'OKTA', profile: { phoneNumber: '+4930901820' } };
  const { id: phoned } = await before.createUser();
  assert.equal((await before.api('POST', `/users/${phoned}/factors?activate=true`, phone)).status, 200);
  assert.equal((await before.api('POST', `/users/${user.id}/lifecycle/expire_password`)).status, 200);
  assert.equal((await before.api('POST', `/users/${user.id}/lifecycle/reset_password?sendEmail=true`)).status, 200);
  const { body: jwks } = await before.api('GET', '/authorizationServers/built-in/credentials/keys');
  const other = await before.createUser({ email: 'other@example.com' });
  const { body: others } = await tokensFor(before, browser, other, client);
  const sector = await createClient(before, { subject_type: 'pairwise' });
  const { body: paired } = await tokensFor(before, browser, other, sector);
  assert.equal(await before.stop(), 0);
  const services = await servicesOn(t, database, former);
  const letter = {
    to: 'kept@example.com',
    subject: 'Kept',
    text: 'in the inbox',
    html: '',
    messageId: 'kept@x',
    language: 'en',
    senderName: '',
  };
  await inboxMailer(services).send(letter as never);
  await requestReset(services, 'other@example.com', { actor: { id: 'x', type: 'User', displayName: 'x' } });
  const code = { purpose: 'SIGN_IN', path: '/interaction/x/y', query: '', name: 'other@example.com' } as const;
  await beginCode(services, code, { actor: { id: 'x', type: 'User', displayName: 'x' } });
  // Its code is there until it is mailed.
  await onServer(database.url, (sql) => sql.query("UPDATE outbox SET due = now() + interval '1 hour' WHERE kind = 'email-code'"));
  for (const place of Object.values(SEALED_COLUMNS)) {
    assert.deepEqual(
      [...(await countByKey(services.database.knex, place)).keys()],
      [formerId],
      `${place.table}.${place.column} holds something`,
    );
  }
  for (const found of await sealedAnywhere(database))
    assert.ok(PLACES.includes(found.split(' ')[0] ?? ''), `${found} is not in SEALED_COLUMNS`);

  await t.test('a new key alone is refused at the start, and what is missing is told', async () => {
    const wrong = run(t, { ...env, SECRET_KEY: fresh });
    assert.equal(await wrong.ended, 1);
    assert.match(wrong.output.stderr, /^SECRET_KEY does not have the key that encrypted the secrets in this database\./);
    assert.match(wrong.output.stderr, new RegExp(`\\d+ values in signing_keys \\(${formerId}\\)`));
    assert.ok(!wrong.output.stderr.includes(former) && !wrong.output.stdout.includes('ready'));
  });

  let between = await runService(t, { ...env, ...nowhere, SECRET_KEY: `${fresh},${former}` });
  await t.test('with both keys sessions, tokens, forms and repeated calls go on', async () => {
    const silent = answerOf(await browser.visit(authorizeUrl(between, 'built-in', { client_id: client.clientId, prompt: 'none' })));
    assert.ok(silent.code !== undefined, JSON.stringify(silent));
    assert.equal((await visitor.signIn(signInPage, other)).url.origin, new URL(CALLBACK).origin, 'a form of the time before');
    const wrongFirst = await post(between, 'built-in', 'introspect', client, { token: others.access_token });
    assert.equal(wrongFirst.body.active, true);
    assert.deepEqual((await repeatable(between)).body, first.body);
  });

  await t.test('gatehouse reseal, beside the running service, twice', async () => {
    const done = runCommand(t, 'reseal', { ...env, SECRET_KEY: `${fresh},${former}` });
    assert.equal(await done.ended, 0, done.output.stderr);
    for (const { table } of Object.values(SEALED_COLUMNS))
      assert.match(done.output.stdout, new RegExp(`^${table}: \\d+ values encrypted again$`, 'm'));
    const again = await callCommand({ ...env, SECRET_KEY: `${fresh},${former}` }, 'reseal');
    assert.equal(again.code, 0);
    assert.equal(
      again.stdout,
      `All stored secrets are encrypted with the first key (${freshId}). You can remove the other keys from SECRET_KEY.\n`,
    );
    for (const found of await sealedAnywhere(database)) assert.ok(found.endsWith(freshId), found);
    const filter = encodeURIComponent('eventType eq "system.secret_key.reseal"');
    const { body: events } = await between.api('GET', `/logs?filter=${filter}`);
    assert.equal(events.length, 1, 'a change that is told once');
    assert.equal(await between.stop(), 0);
  });

  await onServer(database.url, (sql) => sql.query('UPDATE outbox SET due = now()'));
  between = await runService(t, { ...env, ...mailServer.env, SECRET_KEY: fresh });
  await t.test('the new key alone is enough for everything', async () => {
    const silent = answerOf(await browser.visit(authorizeUrl(between, 'built-in', { client_id: client.clientId, prompt: 'none' })));
    assert.ok(silent.code !== undefined, `the session got a signature by the new key meanwhile: ${JSON.stringify(silent)}`);
    const refreshed = await post(between, 'built-in', 'token', client, {
      grant_type: 'refresh_token',
      refresh_token: others.refresh_token,
    });
    assert.equal(refreshed.status, 200, `client secret and signing key: ${JSON.stringify(refreshed.body)}`);
    assert.deepEqual((await between.api('GET', '/authorizationServers/built-in/credentials/keys')).body, jwks);
    const again = await post(between, 'built-in', 'token', sector, { grant_type: 'refresh_token', refresh_token: paired.refresh_token });
    assert.equal(decodeJwt(again.body.id_token).sub, decodeJwt(paired.id_token).sub, 'the secret of pairwise subjects');
    const linkTo = (address: string) => mailServer.mails.some(({ to, link }) => to === address && link.includes('/choose-password/'));
    await eventually(() => linkTo('somebody@example.com'), 'a letter comes that waited');
    await eventually(() => linkTo('other@example.com'), 'and what a request led to that waited');
    await between.api('POST', '/groups', { profile: { name: 'News' } });
    const message = (await receiver.received(2)).find(({ event }) => event.target[0]?.displayName === 'News');
    assert.ok(message !== undefined);
    assert.equal(message.headers['x-of-the-receiver'], headers[0]?.value);
    assert.equal(message.headers.authorization, scheme.value);
    const signatures = String(message.headers['webhook-signature']).split(' ');
    for (const secret of [hook.secret, second.body.signingSecret]) assert.ok(signatures.includes(signatureOf(secret, message)));
    const { body: tried } = await between.api('POST', `/inlineHooks/${inlineHook.id}/execute`);
    assert.deepEqual([tried.outcome, inlined.asked[0]?.headers.authorization], ['ANSWERED', scheme.value]);
    const stepped = new UserAgent(between.baseUrl);
    const asked = await stepped.signIn(await stepped.visit(authorizeUrl(between, 'built-in', { client_id: client.clientId })), factored);
    const passed = await stepped.submit(asked, 'factor-form', { passCode: codeOf(factored.secret, 1) });
    assert.ok(answerOf(passed).code, 'the authenticator app');
    const now = await servicesOn(t, database, fresh);
    assert.equal((await readInbox(now)).find(({ to }) => to === letter.to)?.text, letter.text);
    const route = routeOf(now.config, now.keyring, await readSettings(now, 'mail'));
    assert.ok(route.kind === 'server' && route.server.url.includes(encodeURIComponent(relay.password)), 'the mail server’s password');
    const audit = await callCommand({ ...env, SECRET_KEY: fresh }, 'audit', 'verify');
    assert.equal(audit.code, 0, audit.stdout);
  });

  assert.equal(await between.stop(), 0);
  await t.test('in batches of one, by two at once: each value once; what does not open is told and left', async () => {
    const third = newSecretKey();
    const both = await servicesOn(t, database, `${third},${fresh}`);
    const { knex } = both.database;
    // Nobody is there to take it out of the outbox.
    await requestReset(await servicesOn(t, database, fresh), 'other@example.com', { actor: { id: 'x', type: 'User', displayName: 'x' } });
    const [{ id: lost } = { id: '' }] = await knex('application_secrets').select<{ id: string }[]>('id').limit(1);
    const kept = await knex('application_secrets').where({ id: lost }).first<{ secret_sealed: string }>('secret_sealed');
    await knex('application_secrets')
      .where({ id: lost })
      .update({ secret_sealed: ringOf(newSecretKey()).seal('lost', 'anywhere') });
    assert.deepEqual((await findUnopenable(both)).length, 0, 'no key is gone: nothing is looked at');
    const rounds = await Promise.all([resealEverything(both, 1), resealEverything(both, 1)]);
    for (const { unopened } of rounds) assert.deepEqual([...unopened], [['application_secrets', 1]]);
    for (const place of [SEALED_COLUMNS.signingKeys, SEALED_COLUMNS.outbox]) {
      assert.deepEqual([...(await countByKey(knex, place)).keys()], [both.keyring.id], place.table);
    }
    const signing = rounds.map(({ resealed }) => resealed.get('signing_keys') ?? 0);
    assert.equal(
      signing.reduce((sum, one) => sum + one),
      (await countByKey(knex, SEALED_COLUMNS.signingKeys)).get(both.keyring.id),
    );
    const alone = { ...both, keyring: ringOf(third) };
    assert.deepEqual(
      (await findUnopenable(alone)).map(({ table, count }) => [table, count]),
      [['application_secrets', 1]],
      'a key is gone: everything is looked at',
    );
    await knex('application_secrets')
      .where({ id: lost })
      .update(kept ?? {});
    assert.equal((await resealEverything(both)).unopened.size, 0);
    assert.deepEqual(await findUnopenable(alone), []);
    assert.equal((await verifyAuditLog(alone)).mistake, undefined, 'no service has run: reseal itself let the new key vouch for the log');
    // By the command alone, which no start with that key has come before.
    await resealEverything({ ...both, keyring: ringOf(`${newSecretKey()},${third}`) });
    assert.ok((await findUnopenable(alone)).length > 5, 'whoever starts without the key that it sealed with looks, and is told');
  });
});
