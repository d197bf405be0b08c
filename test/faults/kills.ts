/**
 * kill -9 in the middle of everything that changes something, over and over (issue 12, "Faults"): a code is used at most once, a refresh token never has
 * two successors, a consent is whole or not there, and what was acknowledged is there, with exactly one audit event.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { rowKey } from '../../src/protocol/storage/row-keys.ts';
import { answerOf, authorizeUrl, CALLBACK, createClient, post, type TestClient } from '../protocol/servers/relying-party.ts';
import { afterwards } from '../support/afterwards.ts';
import { onServer, startedDatabase } from '../support/database.ts';
import { dataDirectory, freePort, gone, postmasterOf, type RunningService, runCommand, runService } from '../support/process.ts';
import { STARTED } from '../support/service.ts';
import { UserAgent } from '../support/user-agent.ts';

/** Milliseconds over which the requests of a round begin. */
const SPREAD = 60;
/** Of each kind in a round. */
const EACH = 3;
const TOKEN_MODELS = { code: 2, access: 3, refresh: 4 };

interface Person {
  readonly login: string;
  readonly password: string;
  /** Where he is signed in. */
  readonly browser: UserAgent;
}

/** What a round has ready before the kill. */
interface Round {
  readonly codes: readonly string[];
  readonly refreshTokens: readonly string[];
  readonly dialogs: readonly { readonly client: TestClient; allow(): Promise<unknown> }[];
}

const exchange = (service: RunningService, client: TestClient, code: string) =>
  post(service, 'built-in', 'token', client, { grant_type: 'authorization_code', code, redirect_uri: CALLBACK });
const refresh = (service: RunningService, client: TestClient, token: string) =>
  post(service, 'built-in', 'token', client, { grant_type: 'refresh_token', refresh_token: token });
const isActive = async (service: RunningService, client: TestClient, token: string): Promise<boolean> =>
  (await post(service, 'built-in', 'introspect', client, { token })).body.active;

/** Without a dialog: the user is signed in. */
async function newCode(service: RunningService, { browser }: Person, client: TestClient): Promise<string> {
  const url = authorizeUrl(service, 'built-in', { client_id: client.clientId, scope: 'openid offline_access', prompt: 'none' });
  const { code } = answerOf(await browser.visit(url));
  assert.ok(code !== undefined);
  return code;
}

async function prepare(service: RunningService, person: Person, client: TestClient): Promise<Round> {
  const each = Array.from({ length: EACH }, (_, index) => index);
  const codes = await Promise.all(each.map(() => newCode(service, person, client)));
  const refreshTokens = await Promise.all(
    each.map(async () => (await exchange(service, client, await newCode(service, person, client))).body.refresh_token as string),
  );
  const dialogs = await Promise.all(
    each.map(async () => {
      const asking = await createClient(service, { consent_method: 'REQUIRED' });
      // A browser of its own: whoever is cut off while his session is renewed has to sign in again.
      const window = new UserAgent(service.baseUrl);
      const page = await window.visit(authorizeUrl(service, 'built-in', { client_id: asking.clientId, scope: 'openid email' }));
      const dialog = await window.signIn(page, person);
      assert.match(dialog.text, /id="consent"/);
      return { client: asking, allow: () => window.submit(dialog, 'consent', { decision: 'allow' }) };
    }),
  );
  return { codes, refreshTokens, dialogs };
}

/** What the management API creates, by names of its own; @returns what was acknowledged, under the path that shows it */
const changes = (service: RunningService, acknowledged: Set<string>) => {
  const create = (path: string, body: (name: string) => object) => async () => {
    const name = `killed-${randomBytes(6).toString('hex')}`;
    const answer = await service.api('POST', path, body(name));
    assert.ok(answer.status === 200 || answer.status === 201, JSON.stringify(answer.body));
    acknowledged.add(`${path}/${answer.body.id ?? answer.body.orgId}`);
  };
  return [
    create('/account/org', (orgName) => ({ orgName })),
    create('/users', (login) => ({ profile: { login } })),
    create('/apps', (label) => ({
      ...{ name: 'oidc_client', label, signOnMode: 'OPENID_CONNECT' },
      settings: { oauthClient: { redirect_uris: [CALLBACK], grant_types: ['authorization_code'], response_types: ['code'] } },
    })),
  ];
};

/** Begins all of it within a moment, the last after the kill, which comes after so many answers. @returns what was answered; undefined: cut off */
async function killAmid<T>(service: RunningService, answers: number, work: readonly (() => Promise<T>)[]): Promise<(T | undefined)[]> {
  let left = answers;
  let kill = (): void => {};
  const killed = new Promise<void>((resolve) => {
    kill = resolve;
  }).then(() => service.child.kill('SIGKILL'));
  const results = work.map(async (begin, index) => {
    await (index === work.length - 1 ? killed : wait(Math.random() * SPREAD));
    const result = await begin().catch((error: unknown) => {
      // What was answered with something else than expected is no victim of the kill.
      if (error instanceof assert.AssertionError) throw error;
      return undefined;
    });
    left -= 1;
    if (left === 0) kill();
    return result;
  });
  const all = await Promise.all(results);
  assert.equal(await service.ended, 'SIGKILL');
  return all;
}

const tokensOfCode = (sql: pg.Client, code: string) =>
  sql.query<{ used: boolean; access: number; refresh: number }>(
    `SELECT c.consumed_at IS NOT NULL AS used,
       count(t.id) FILTER (WHERE t.model = ${TOKEN_MODELS.access})::integer AS access,
       count(t.id) FILTER (WHERE t.model = ${TOKEN_MODELS.refresh})::integer AS refresh
     FROM oidc_payload c LEFT JOIN oidc_payload t ON t.grant_id = c.grant_id AND t.model IN (${TOKEN_MODELS.access}, ${TOKEN_MODELS.refresh})
     WHERE c.id = $1 AND c.model = ${TOKEN_MODELS.code} GROUP BY c.consumed_at`,
    [rowKey(code)],
  );

/** Of the family of a refresh token: those that can be used. */
const usableInFamily = (sql: pg.Client, token: string) =>
  sql.query<{ usable: number; access: number }>(
    `SELECT count(*) FILTER (WHERE f.model = ${TOKEN_MODELS.refresh} AND f.consumed_at IS NULL)::integer AS usable,
       count(*) FILTER (WHERE f.model = ${TOKEN_MODELS.access})::integer AS access
     FROM oidc_payload t JOIN oidc_payload f ON f.grant_id = t.grant_id WHERE t.id = $1 AND t.model = ${TOKEN_MODELS.refresh}`,
    [rowKey(token)],
  );

/** Everything that the API has created has exactly one event of it, and each event what it tells of. */
const unmatched = (sql: pg.Client) =>
  sql.query<{ kind: string; id: string; events: number }>(
    `WITH things AS (
       SELECT 'org.lifecycle.create' AS kind, id FROM organizations WHERE name LIKE 'killed-%'
       UNION ALL SELECT 'user.lifecycle.create', id FROM users WHERE login LIKE 'killed-%'
       UNION ALL SELECT 'application.lifecycle.create', id FROM applications WHERE label LIKE 'killed-%'),
     events AS (SELECT event_type AS kind, target->0->>'id' AS id, count(*)::integer AS events FROM audit_events
       WHERE event_type IN (SELECT kind FROM things) AND target->0->>'displayName' LIKE 'killed-%' GROUP BY 1, 2)
     SELECT coalesce(t.kind, e.kind) AS kind, coalesce(t.id, e.id) AS id, coalesce(events, 0) AS events
     FROM things t FULL JOIN events e ON t.kind = e.kind AND t.id = e.id WHERE t.id IS NULL OR e.events IS DISTINCT FROM 1`,
  );

const consentsIn = (sql: pg.Client, clientId: string) =>
  sql.query<{ rows: number; events: number }>(
    `SELECT (SELECT count(*) FROM consents WHERE application_id = $1 AND scope = 'email')::integer AS rows,
       (SELECT count(*) FROM audit_events WHERE event_type = 'app.oauth2.as.consent.grant' AND target->0->>'id' = $1)::integer AS events`,
    [clientId],
  );

/** Kills the service so many times amid exchanges, refreshes, consents and changes. */
export async function killAmidRequests(t: TestContext, rounds: number): Promise<void> {
  const database = await startedDatabase();
  afterwards(t, () => database.drop());
  await onServer(database.url, (sql) => sql.query("UPDATE scopes SET consent = 'REQUIRED' WHERE name = 'email'"));
  const env = { DATABASE_URL: database.url, ...STARTED, PORT: await freePort(), LOG_LEVEL: 'silent' };
  let service = await runService(t, env);
  const client = await createClient(service, { consent_method: 'TRUSTED', refresh_token: { leeway: 0 } });
  const user = await service.createUser();
  const person: Person = { ...user, browser: new UserAgent(service.baseUrl) };
  await person.browser.signIn(await person.browser.visit(authorizeUrl(service, 'built-in', { client_id: client.clientId })), user);
  const acknowledged = new Set<string>();
  const count = { answered: 0, cut: 0 };

  for (let round = 0; round < rounds; round += 1) {
    const { codes, refreshTokens, dialogs } = await prepare(service, person, client);
    const running = service;
    const work = [
      ...codes.map((code) => () => exchange(running, client, code)),
      ...refreshTokens.map((token) => () => refresh(running, client, token)),
      ...dialogs.map(({ allow }) => allow),
      ...changes(running, acknowledged),
      ...changes(running, acknowledged),
    ];
    const answers = await killAmid<unknown>(running, 1 + ((round * 5) % (work.length - 2)), work);
    for (const answer of answers) count[answer === undefined ? 'cut' : 'answered'] += 1;
    service = await runService(t, env);

    await onServer(database.url, async (sql) => {
      for (const [index, code] of codes.entries()) {
        const answer = answers[index] as Awaited<ReturnType<typeof exchange>> | undefined;
        const [found] = (await tokensOfCode(sql, code)).rows;
        const expected = found?.used ? { used: true, access: 1, refresh: 1 } : { used: false, access: 0, refresh: 0 };
        assert.deepEqual(found, expected, 'a code that was used has its tokens, and only then');
        if (answer !== undefined) {
          assert.deepEqual([answer.status, found?.used], [200, true], JSON.stringify(answer.body));
          assert.equal(await isActive(service, client, answer.body.access_token), true, 'tokens that were handed out are good');
        }
        const second = await exchange(service, client, code);
        assert.equal(second.status, found?.used ? 400 : 200, 'a code that was not used can be');
        if (second.status === 200) assert.equal((await exchange(service, client, code)).body.error, 'invalid_grant');
      }
      for (const [index, token] of refreshTokens.entries()) {
        const answer = answers[codes.length + index] as Awaited<ReturnType<typeof refresh>> | undefined;
        assert.equal((await usableInFamily(sql, token)).rows[0]?.usable, 1, 'one of a family can be used, old or new');
        if (answer !== undefined) {
          assert.equal(answer.status, 200, JSON.stringify(answer.body));
          assert.equal(await isActive(service, client, token), false);
          assert.equal(
            (await refresh(service, client, answer.body.refresh_token)).status,
            200,
            'the successor that was handed out is good',
          );
        } else if (await isActive(service, client, token)) {
          assert.equal((await refresh(service, client, token)).status, 200, 'one that was not used can be');
          assert.equal((await refresh(service, client, token)).body.error, 'invalid_grant');
        }
      }
      for (const [index, { client: asking }] of dialogs.entries()) {
        const answer = answers[codes.length + refreshTokens.length + index] as { url: URL } | undefined;
        const [{ rows = -1, events = -1 } = {}] = (await consentsIn(sql, asking.clientId)).rows;
        assert.ok(rows === events && rows < 2, `consent and event: ${rows}, ${events}`);
        if (answer !== undefined) assert.equal(rows, 1, answer.url.href);
        const url = authorizeUrl(service, 'built-in', { client_id: asking.clientId, scope: 'openid email', prompt: 'none' });
        const { code, error } = answerOf(await person.browser.visit(url));
        assert.deepEqual([code !== undefined, error], rows === 1 ? [true, undefined] : [false, 'consent_required']);
      }
      assert.deepEqual((await unmatched(sql)).rows, [], 'what there is, and what is told of it');
    });
    for (const path of acknowledged) assert.equal((await service.api('GET', path)).status, 200, path);
    if (round % 10 === 9) acknowledged.clear();
  }
  t.diagnostic(`${rounds} kills: ${count.answered} requests were answered, ${count.cut} cut off`);
  assert.ok(count.answered > 0 && count.cut > 0);
  assert.equal(await service.stop(), 0);
  const verified = runCommand(t, 'audit', env, 'verify');
  assert.equal(await verified.ended, 0, verified.output.stdout + verified.output.stderr);
}

/** Kills the service on its embedded database: once alone, once with the server of the database. */
export async function killOnEmbeddedDatabase(t: TestContext): Promise<void> {
  const env = { DATA_DIR: dataDirectory(t), PORT: await freePort(), LOG_LEVEL: 'silent', ADMIN_API_TOKEN: STARTED.ADMIN_API_TOKEN };
  const acknowledged = new Set<string>();
  let service = await runService(t, env);
  for (const isAlone of [true, false]) {
    const running = service;
    const postmaster = postmasterOf(env.DATA_DIR) ?? 0;
    const before = acknowledged.size;
    const killed = killAmid(running, 6, Array.from({ length: 5 }, () => changes(running, acknowledged)).flat());
    if (!isAlone) {
      await running.ended;
      process.kill(postmaster, 'SIGKILL');
      await gone(postmaster);
    }
    await killed;
    service = await runService(t, env);
    assert.equal(postmasterOf(env.DATA_DIR) === postmaster, isAlone, 'the server that still runs is joined');
    assert.ok(acknowledged.size > before);
    for (const path of acknowledged) assert.equal((await service.api('GET', path)).status, 200, path);
  }
  assert.equal(await service.stop(), 0);
  assert.equal(postmasterOf(env.DATA_DIR), undefined, 'the last one out stops the database');
}
