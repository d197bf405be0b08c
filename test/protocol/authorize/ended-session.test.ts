/**
 * An authorization request whose session is ended at the very moment of its answer (OpenID Connect Back-Channel Logout 1.0 section 2.5): nothing is
 * issued, and it is asked anew with all its parameters, however it came. The moment is made: the session's row is held while the request waits for it.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SignJWT } from 'jose';
import { onServer } from '../../support/database.ts';
import { eventually } from '../../support/process.ts';
import { setScope } from '../../support/scopes.ts';
import { startService } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';
import { answerOf, authorizeUrl, CALLBACK, challengeOf, createClient, post, verifier } from '../servers/relying-party.ts';

const SECRET = 'a secret of an application that is long enough';

test('a request that a logout wins against is asked anew, with all its parameters', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const client = await createClient(service, {}, { client_secret: SECRET });
  const asking = await createClient(service, { consent_method: 'REQUIRED' });
  await setScope(service, 'email', { consent: 'REQUIRED' });
  const { url: database } = service.database;

  /** @returns a browser that is signed in, and nobody else is */
  async function signedIn(): Promise<UserAgent> {
    await onServer(database, (sql) => sql.query('DELETE FROM oidc_payload'));
    const browser = new UserAgent(service.baseUrl);
    const page = await browser.signIn(await browser.visit(authorizeUrl(service, 'default', { client_id: client.clientId })), user);
    assert.ok(answerOf(page).code);
    await onServer(database, (sql) => sql.query('DELETE FROM oidc_payload WHERE model <> 1'));
    return browser;
  }
  /** Ends the session after the request has found it and before it is answered. */
  async function overtaken<T>(ask: () => Promise<T>): Promise<T> {
    return onServer(database, async (sql) => {
      await sql.query('BEGIN');
      await sql.query('SELECT 1 FROM oidc_payload WHERE model = 1 FOR UPDATE');
      const asked = ask();
      await eventually(
        () =>
          onServer(database, async (other) => {
            const { rowCount } = await other.query(
              "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
            );
            return rowCount === 1;
          }),
        'the answer waits for the session',
      );
      await sql.query('DELETE FROM browser_session_clients');
      await sql.query('DELETE FROM oidc_payload WHERE model = 1');
      await sql.query('COMMIT');
      return asked;
    });
  }
  const issued = () =>
    onServer(database, async (sql) => (await sql.query('SELECT 1 FROM oidc_payload WHERE model IN (2, 3, 4)')).rowCount ?? 0);
  /** Signs in at the page that the browser was led to, and exchanges the code. */
  async function finishSignIn(browser: UserAgent, page: Page, state: string, form: Record<string, string> = {}): Promise<void> {
    assert.equal(await issued(), 0, 'nothing was issued');
    assert.match(page.text, /id="sign-in-form"/);
    const answer = answerOf(await browser.signIn(page, user));
    assert.equal(answer.state, state);
    const exchange = { grant_type: 'authorization_code', code: answer.code ?? '', redirect_uri: CALLBACK, ...form };
    assert.equal((await post(service, 'default', 'token', client, exchange)).status, 200);
  }
  const request = (parameters: Record<string, string | undefined> = {}) =>
    authorizeUrl(service, 'default', { client_id: client.clientId, ...parameters });

  await t.test('by GET: sent to this server’s own address, and no cookie changes', async () => {
    const browser = await signedIn();
    const proof = verifier();
    const url = request({
      code_challenge: challengeOf(proof),
      login_hint: 'ada & co',
      max_age: '4000',
      claims: '{"userinfo":{"email":null}}',
    });
    const answer = await overtaken(() => browser.send(url));
    assert.equal(answer.status, 303);
    assert.deepEqual(answer.headers.getSetCookie(), []);
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    const again = new URL(answer.headers.get('location') ?? '', service.baseUrl);
    assert.equal(again.origin + again.pathname, url.origin + url.pathname);
    const asked = Object.fromEntries(again.searchParams);
    assert.deepEqual(asked, { ...Object.fromEntries(url.searchParams), code_challenge_method: 'S256' });
    await finishSignIn(browser, await browser.visit(again), 'some-state', { code_verifier: proof });
  });

  await t.test('with prompt=none: login_required at the application, with its state', async () => {
    const browser = await signedIn();
    const page = await overtaken(() => browser.visit(request({ prompt: 'none', state: 'quiet' })));
    assert.equal(page.url.origin + page.url.pathname, CALLBACK);
    const { error, state } = answerOf(page);
    assert.deepEqual([error, state, await issued()], ['login_required', 'quiet', 0]);
  });

  await t.test('posted', async () => {
    const browser = await signedIn();
    const { origin, pathname, searchParams } = request({ state: 'posted' });
    const page = await overtaken(() => browser.visit(`${origin}${pathname}`, { method: 'POST', body: new URLSearchParams(searchParams) }));
    await finishSignIn(browser, page, 'posted');
  });

  await t.test('with a request object, which counts once: its parameters and those beside it', async () => {
    const browser = await signedIn();
    const proof = verifier();
    const object = { state: 'signed', code_challenge: challengeOf(proof), jti: 'once' };
    const jwt = await new SignJWT(object)
      .setProtectedHeader({ alg: 'HS256' })
      .setIssuer(client.clientId)
      .setAudience(service.issuer('default'))
      .setIssuedAt()
      .setExpirationTime('1m')
      .sign(new TextEncoder().encode(SECRET));
    const page = await overtaken(() => browser.visit(request({ request: jwt, state: 'beside' })));
    await finishSignIn(browser, page, 'signed', { code_verifier: proof });
  });

  await t.test('with a sessionToken, which counts once: who was signed in by it signs in', async () => {
    const browser = await signedIn();
    const answer = await fetch(`${service.listensAt}/api/v1/authn`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: user.login, password: user.password }),
    });
    const { sessionToken } = (await answer.json()) as { sessionToken: string };
    const page = await overtaken(() => browser.visit(request({ sessionToken, state: 'by-token' })));
    assert.ok(!page.url.href.includes(sessionToken));
    await finishSignIn(browser, page, 'by-token');
  });

  await t.test('at the step after the consent page', async () => {
    const browser = await signedIn();
    const consent = await browser.visit(request({ client_id: asking.clientId, scope: 'openid email', prompt: 'consent', state: 'asked' }));
    const page = await overtaken(() => browser.submit(consent, 'consent', { decision: 'allow' }));
    assert.equal(await issued(), 0);
    assert.match(page.text, /id="sign-in-form"/);
    const asked = await browser.signIn(page, user);
    assert.match(asked.text, /<form id="consent"/, 'prompt=consent asks again');
  });
});
