/** A database lost and found again: in between every kind of caller is told to come back, and afterwards nothing needs a restart. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/platform/embedded-postgres/embedded-postgres.ts';
import { answerOf, authorizeUrl, createClient, post, SIGNED_OUT, tokensFor } from '../protocol/servers/relying-party.ts';
import { afterwards } from '../support/afterwards.ts';
import { dataDirectory, eventually, runService } from '../support/process.ts';
import { newSecretKey } from '../support/service.ts';
import { timingsOfProcess } from '../support/short-waits.ts';
import { type Page, UserAgent } from '../support/user-agent.ts';

test('a database lost and found again needs no restart', async (t) => {
  const dataDir = dataDirectory(t);
  const address = path.join(mkdtempSync(path.join(os.tmpdir(), 'gatehouse-test-')), 'address');
  afterwards(t, () => rmSync(path.dirname(address), { recursive: true }));
  // A server that starts again has another folder for its socket; the service shall know one address only.
  const startDatabase = async (): Promise<EmbeddedPostgres> => {
    const server = await startEmbeddedPostgres({ dataDir, say: () => {} });
    rmSync(address, { force: true });
    symlinkSync(server.connection.host ?? '', address);
    return server;
  };
  let database = await startDatabase();
  afterwards(t, () => database.stop());

  const { user: superuser, password, port } = database.connection;
  const DATABASE_URL = `postgres://${superuser}:${password}@localhost:${port}/postgres?host=${encodeURIComponent(address)}`;
  const soonForgotten = timingsOfProcess({ cache: 500 });
  const service = await runService(t, { DATABASE_URL, SECRET_KEY: newSecretKey(), LOG_LEVEL: 'silent', ...soonForgotten });
  const user = await service.createUser();
  const client = await createClient(service);
  const browser = new UserAgent(service.baseUrl);
  const { body: tokens } = await tokensFor(service, browser, user, client);
  const refresh = () => post(service, 'built-in', 'token', client, { grant_type: 'refresh_token', refresh_token: tokens.refresh_token });
  const assertTokenUnavailable = async () => {
    const { status, headers, body } = await refresh();
    assert.equal(status, 503);
    assert.equal(body.error, 'temporarily_unavailable');
    assert.match(headers.get('content-type') ?? '', /^application\/json/);
  };
  const authorization = authorizeUrl(service, 'built-in', { client_id: client.clientId });
  const readiness = async () => (await fetch(`${service.baseUrl}/health/ready`)).status;
  const newcomer = new UserAgent(service.baseUrl);
  const signInPage = await newcomer.visit(authorization);
  assert.equal(await readiness(), 200);

  await database.stop();
  // Also while the authorization server itself is still remembered.
  const logout = (agent: UserAgent, parameters: Record<string, string>) =>
    agent.visit(`${service.issuer('built-in')}/logout?${new URLSearchParams(parameters)}`);
  assertUnavailable(await logout(browser, { id_token_hint: tokens.id_token }));
  assertUnavailable(await logout(newcomer, { post_logout_redirect_uri: SIGNED_OUT }));
  await eventually(async () => (await readiness()) === 503, 'the service is not ready');
  assert.equal((await fetch(`${service.baseUrl}/health/live`)).status, 200);

  await assertTokenUnavailable();
  assert.equal((await service.api('GET', `/users/${user.id}`)).status, 503);
  assertUnavailable(await newcomer.visit(signInPage.url));
  assert.equal((await newcomer.signIn(signInPage, user)).status, 503);
  // While the application is still remembered the browser is sent back to it (RFC 6749 section 4.1.2.1), later it gets a page.
  let answer = await browser.visit(authorization);
  await eventually(async () => {
    if (answer.status === 503) return true;
    assert.equal(answerOf(answer).error, 'temporarily_unavailable', answer.url.href);
    answer = await browser.visit(authorization);
    return false;
  }, 'nothing is remembered any more');
  assertUnavailable(answer);
  await assertTokenUnavailable();

  database = await startDatabase();
  await eventually(async () => (await readiness()) === 200, 'the service is ready again');
  assert.equal((await refresh()).status, 200, 'a refresh token that met the outage is not spent');
  assert.match((await browser.visit(authorization)).url.href, /code=/, 'the browser is still signed in');
  assert.match((await newcomer.signIn(signInPage, user)).url.href, /code=/, 'the form opened before can be sent now');
  assert.equal((await service.api('GET', `/users/${user.id}`)).status, 200);
  assert.ok((await service.createUser()).id);
  assert.equal(await service.stop(), 0);
});

/** A page for people, that says when to come again. */
function assertUnavailable(page: Page): void {
  assert.equal(page.status, 503, page.url.href);
  assert.match(page.headers.get('content-type') ?? '', /^text\/html/);
  assert.match(page.headers.get('retry-after') ?? '', /^\d+$/);
  assert.match(page.text, /<h1/);
}
