/**
 * Whose session a browser gets (OWASP ASVS 5.0 V7.2.4, V7.6.2; RFC 9700 section 4.7; RFC 6819 sections 4.4.1.5, 4.4.1.6 and 4.4.1.10): nobody is signed in as
 * somebody else, and nobody signs somebody else in as himself.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, authorizeUrl, CALLBACK, createClient, post } from '../protocol/servers/relying-party.ts';
import { onServer } from '../support/database.ts';
import { enrolledUser } from '../support/factors.ts';
import { startService } from '../support/service.ts';
import { UserAgent } from '../support/user-agent.ts';

test('fixation by the cookies of an interaction', async (t) => {
  const service = await startService(t);
  const client = await createClient(service);
  const consenting = await createClient(service, { consent_method: 'REQUIRED' });
  const request = (clientId = client.clientId, more = {}) => authorizeUrl(service, 'default', { client_id: clientId, ...more });
  const began = async (more = {}) => {
    const attacker = new UserAgent(service.baseUrl);
    const page = await attacker.visit(request(client.clientId, more));
    assert.match(page.url.pathname, /^\/interaction\//);
    return { attacker, page, resume: `${service.issuer('default')}/authorize/${page.url.pathname.split('/').at(-1)}` };
  };

  await t.test('who signs in by an interaction that somebody planted signs nobody else in (CVE-2026-7507, Hydra #770)', async () => {
    const victim = await service.createUser();
    const { attacker, page, resume } = await began();
    const browser = new UserAgent(service.baseUrl);
    browser.plant(attacker, 'gatehouse-interaction');
    // Without the second cookie the victim comes no further: his sign-in waits for whoever has it.
    await browser.signIn(await browser.visit(page.url), victim);
    const end = await attacker.visit(resume);
    assert.deepEqual([end.url.origin, end.status], [service.baseUrl, 410], end.text);
    assert.equal((await attacker.visit('/account')).url.pathname, '/signin', 'he is signed in nowhere');
    const again = await attacker.visit(request(client.clientId, { prompt: 'none' }));
    assert.equal(answerOf(again).error, 'login_required');
  });

  await t.test('with both cookies planted the answer goes to the browser of who signed in, and to the application alone', async () => {
    const victim = await service.createUser();
    const { attacker, page, resume } = await began();
    const browser = new UserAgent(service.baseUrl);
    browser.plant(attacker, 'gatehouse-');
    const end = await browser.signIn(await browser.visit(page.url), victim);
    assert.ok(end.url.href.startsWith(CALLBACK), end.text);
    const late = await attacker.visit(resume);
    assert.equal(late.status, 410, late.text);
  });

  await t.test('a sign-in that waits for its second step goes on in the browser of its first step alone', async () => {
    const own = await enrolledUser(service);
    const [attacker, browser, known] = [new UserAgent(service.baseUrl), new UserAgent(service.baseUrl), new UserAgent(service.baseUrl)];
    const victim = await service.createUser();
    await known.signIn(await known.visit('/signin'), victim);
    const page = await attacker.signIn(await attacker.visit('/signin'), own);
    assert.match(page.text, /id="factor-form"/);
    for (const other of [browser, known.only('gatehouse-device')]) {
      other.plant(attacker, 'gatehouse-sign-in');
      assert.match((await other.visit('/signin')).text, /id="sign-in-form"/);
    }
    assert.match((await attacker.visit('/signin')).text, /id="factor-form"/, 'there it waits still');
    // A state that a former version began, beside this one, says nothing of a browser.
    await onServer(service.database.url, (sql) => sql.query('UPDATE sign_in_states SET device_hash = NULL'));
    browser.plant(attacker, 'gatehouse-sign-in');
    assert.match((await browser.visit('/signin')).text, /id="factor-form"/);
  });

  await t.test('an interaction that began with a session belongs to it, whoever has its cookies', async () => {
    const [victim, own] = [await service.createUser(), await service.createUser()];
    const attacker = new UserAgent(service.baseUrl);
    assert.ok(answerOf(await attacker.signIn(await attacker.visit(request()), own)).code);
    const page = await attacker.visit(request(client.clientId, { prompt: 'login' }));
    const browser = new UserAgent(service.baseUrl);
    browser.plant(attacker, 'gatehouse-interaction');
    const action = { method: 'POST', body: new URLSearchParams({ username: victim.login, password: victim.password }) };
    const shown = [await browser.visit(page.url), await browser.visit(`${page.url.pathname}/login`, action)];
    for (const { status, text } of shown) assert.deepEqual([status >= 400, /id="sign-in-form"/.test(text)], [true, false]);
    assert.match((await attacker.visit(page.url)).text, /id="sign-in-form"/, 'his own goes on');
  });

  await t.test('the session cookie of before a sign-in is worth nothing after it', async () => {
    const victim = await service.createUser();
    const attackers = await service.createUser();
    const attacker = new UserAgent(service.baseUrl);
    await attacker.signIn(await attacker.visit(request()), attackers);
    const browser = new UserAgent(service.baseUrl);
    browser.plant(attacker, 'gatehouse-session');
    const end = await browser.signIn(await browser.visit(request(client.clientId, { prompt: 'login' })), victim);
    assert.ok(answerOf(end).code);
    assert.notEqual(browser.cookie('gatehouse-session'), attacker.cookie('gatehouse-session'));
    assert.equal((await attacker.visit('/account')).url.pathname, '/signin');
  });

  await t.test(
    'nobody’s consent is taken from another’s browser: the dialog belongs to the session (RFC 6819 section 4.4.1.4)',
    async () => {
      const [owner, stranger] = [await service.createUser(), await service.createUser()];
      const browser = new UserAgent(service.baseUrl);
      const scope = { scope: 'openid profile' };
      await service.api('POST', '/authorizationServers/default/scopes', { name: 'orders', consent: 'REQUIRED' });
      const dialog = await browser.signIn(await browser.visit(request(consenting.clientId, { scope: `${scope.scope} orders` })), owner);
      assert.match(dialog.text, /id="consent"/);
      const other = new UserAgent(service.baseUrl);
      await other.signIn(await other.visit('/signin'), stranger);
      other.plant(browser, 'gatehouse-interaction');
      other.plant(browser, 'gatehouse-resume');
      const taken = await other.submit(dialog, 'consent', { decision: 'allow' });
      assert.equal(answerOf(taken).code, undefined, taken.url.href);
      const asked = await browser.visit(request(consenting.clientId, { scope: `${scope.scope} orders` }));
      assert.match(asked.text, /id="consent"/, 'and nothing is remembered of it');
    },
  );
});

test('an answer for one interaction, server or application is worth nothing for another (RFC 9700 section 4.5)', async (t) => {
  const service = await startService(t);
  const [first, second] = [await createClient(service), await createClient(service)];
  const user = await service.createUser();
  const browser = new UserAgent(service.baseUrl);
  const page = await browser.visit(authorizeUrl(service, 'default', { client_id: first.clientId }));
  const uid = page.url.pathname.split('/').at(-1) ?? '';
  const elsewhere = await browser.visit(`/interaction/built-in/${uid}?application=${second.clientId}`);
  assert.ok([403, 410].includes(elsewhere.status), `${elsewhere.status}`);
  for (const path of [`${service.issuer('built-in')}/authorize/${uid}`, `${service.issuer('default')}/authorize/${uid}x`]) {
    const ended = await browser.visit(path);
    assert.equal(ended.status, 410, path);
  }
  // What the address says beside it changes neither application nor redirect URI nor response type (CVE-2026-7571).
  const signedIn = await browser.signIn(page, user);
  assert.ok(signedIn.url.href.startsWith(`${CALLBACK}?code=`), signedIn.url.href);
  const next = await browser.visit(authorizeUrl(service, 'default', { client_id: first.clientId, prompt: 'login' }));
  const tampered = new URLSearchParams({ response_type: 'token', client_id: second.clientId, redirect_uri: 'https://evil.example/' });
  const form = {
    method: 'POST',
    body: new URLSearchParams({ ...Object.fromEntries(tampered), username: user.login, password: user.password }),
  };
  const end = await browser.visit(`${next.url.pathname}/login?${tampered}`, form);
  assert.ok(end.url.href.startsWith(`${CALLBACK}?code=`), end.url.href);
  const { body } = await post(service, 'default', 'token', first, {
    grant_type: 'authorization_code',
    code: answerOf(end).code ?? '',
    redirect_uri: CALLBACK,
  });
  assert.ok(body.access_token, JSON.stringify(body));
});
