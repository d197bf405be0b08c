/** The prompt parameter and what it asks of the user (identity-service.md, "prompt rules"; decisions, "Authorize", the consent table). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeJwt } from 'jose';
import { moveClock } from '../../support/clock.ts';
import { serviceWithConsents } from '../../support/consents.ts';
import { type Service, startService } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';
import { answerOf, authorizeUrl, CALLBACK, createClient, tokensFor } from '../servers/relying-party.ts';

const SERVERS = ['built-in', 'default'];
const asksToSignIn = (page: Page): boolean => page.text.includes('id="sign-in-form"');
const asksForConsent = (page: Page): boolean => page.text.includes('id="consent"');
const arrived = (page: Page): boolean => page.url.href.startsWith(CALLBACK) && 'code' in answerOf(page);

/** What the browser sees: a page that asks, or the outcome. */
function outcome(page: Page): string {
  if (asksToSignIn(page)) return 'sign-in';
  if (asksForConsent(page)) return 'dialog';
  return arrived(page) ? 'code' : (answerOf(page).error ?? `${page.status} ${page.text}`);
}

/** Signs in for a request that asks for no consent. */
async function signedIn(service: Service, user: { login: string; password: string }, serverId = 'built-in'): Promise<UserAgent> {
  const { clientId } = await createClient(service);
  const browser = new UserAgent(service.baseUrl);
  assert(arrived(await browser.signIn(await browser.visit(authorizeUrl(service, serverId, { client_id: clientId })), user)));
  return browser;
}

for (const serverId of SERVERS) {
  test(`prompt with and without a session: ${serverId} server`, async (t) => {
    const service = await startService(t);
    const user = await service.createUser();
    const { clientId } = await createClient(service);
    const rows: [prompt: string | undefined, without: string, within: string][] = [
      [undefined, 'sign-in', 'code'],
      ['none', 'login_required', 'code'],
      ['login', 'sign-in', 'sign-in'],
      ['consent', 'sign-in', 'code'],
      ['login consent', 'sign-in', 'sign-in'],
      ['consent login', 'sign-in', 'sign-in'],
      ['none login', 'invalid_request', 'invalid_request'],
      ['none consent', 'invalid_request', 'invalid_request'],
      ['consent none', 'invalid_request', 'invalid_request'],
      ['LOGIN', 'invalid_request', 'invalid_request'],
      ['select_account', 'invalid_request', 'invalid_request'],
      ['assignment', 'invalid_request', 'invalid_request'],
    ];
    const browser = await signedIn(service, user, serverId);
    for (const [prompt, without, within] of rows) {
      const request = authorizeUrl(service, serverId, { client_id: clientId, prompt });
      assert.equal(outcome(await new UserAgent(service.baseUrl).visit(request)), without, `${prompt}, without a session`);
      assert.equal(outcome(await browser.visit(request)), within, `${prompt}, with a session`);
    }
  });

  test(`one scope of a request may be given and another not: only what is missing is asked for: ${serverId} server`, async (t) => {
    const service = await serviceWithConsents(t);
    const user = await service.createUser();
    const { clientId } = await createClient(service, { consent_method: 'REQUIRED' });
    const browser = await signedIn(service, user, serverId);
    const request = (scope: string, prompt?: string) => authorizeUrl(service, serverId, { client_id: clientId, scope, prompt });
    await browser.submit(await browser.visit(request('openid email')), 'consent', { decision: 'allow' });
    assert.equal(outcome(await browser.visit(request('openid email profile'))), 'code', 'a scope granted without a dialog joins silently');
    const dialog = await browser.visit(request('openid email phone'));
    assert.deepEqual(
      [...dialog.text.matchAll(/name="scope" value="([^"]*)"/g)].map(([, name]) => name),
      ['phone'],
    );
    assert.equal(outcome(await browser.visit(request('openid email phone', 'none'))), 'consent_required');
    await browser.submit(dialog, 'consent', { decision: 'allow', scope: 'phone' });
    assert.equal(outcome(await browser.visit(request('openid email phone', 'none'))), 'code');
  });
}

test('the whole consent table: prompt, consent method, consent of the scope, given before or not', async (t) => {
  const service = await serviceWithConsents(t);
  const user = await service.createUser();
  const methods = ['TRUSTED', 'REQUIRED'] as const;
  const prompts = [undefined, 'none', 'login', 'consent', 'login consent', 'consent login'];
  const scopes = { IMPLICIT: 'openid profile', REQUIRED: 'openid email', FLEXIBLE: 'openid phone' } as const;
  const browser = await signedIn(service, user, 'default');

  for (const method of methods) {
    for (const [consent, scope] of Object.entries(scopes)) {
      for (const before of [false, true]) {
        for (const [turn, prompt] of prompts.entries()) {
          // The table is that of every server, so they take turns.
          const serverId = SERVERS[(turn + Number(before)) % SERVERS.length] ?? '';
          const { clientId } = await createClient(service, { consent_method: method });
          if (before) {
            const dialog = await browser.visit(authorizeUrl(service, serverId, { client_id: clientId, scope, prompt: 'consent' }));
            if (asksForConsent(dialog)) {
              const { origin } = new URL(CALLBACK);
              const { url } = await browser.submit(dialog, 'consent', {
                decision: 'allow',
                ...(consent === 'FLEXIBLE' && { scope: 'phone' }),
              });
              assert.equal(url.origin, origin);
            }
          }
          const first = await browser.visit(authorizeUrl(service, serverId, { client_id: clientId, scope, prompt }));
          const title = `${serverId}: prompt ${prompt}, application ${method}, scope ${consent}, ${before ? 'given' : 'not given'} before`;
          const authenticates = prompt?.includes('login') === true;
          assert.equal(asksToSignIn(first), authenticates, title);
          const page = authenticates ? await browser.signIn(first, user) : first;

          // The table of decisions.md, row by row.
          const shown =
            prompt?.includes('consent') === true ? consent !== 'IMPLICIT' : method === 'REQUIRED' && consent !== 'IMPLICIT' && !before;
          const expected = !shown ? 'code' : prompt === 'none' ? 'consent_required' : 'dialog';
          assert.equal(outcome(page), expected, title);
        }
      }
    }
  }
});

test('whether the built-in server asks depends on the consent of its scopes, which an administrator changes', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const browser = await signedIn(service, user);
  const scopes = '/authorizationServers/built-in/scopes';
  const email = (await service.api('GET', scopes)).body.find(({ name }: { name: string }) => name === 'email');
  const outcomes = async () => {
    const found: string[] = [];
    for (const consent_method of ['TRUSTED', 'REQUIRED'])
      for (const prompt of [undefined, 'consent']) {
        const { clientId } = await createClient(service, { consent_method });
        found.push(outcome(await browser.visit(authorizeUrl(service, 'built-in', { client_id: clientId, scope: 'openid email', prompt }))));
      }
    return found;
  };
  assert.deepEqual(await outcomes(), ['code', 'code', 'code', 'code'], 'IMPLICIT, as it comes');
  for (const [consent, expected] of [
    ['REQUIRED', ['code', 'dialog', 'dialog', 'dialog']],
    ['FLEXIBLE', ['code', 'dialog', 'dialog', 'dialog']],
    ['IMPLICIT', ['code', 'code', 'code', 'code']],
  ] as const) {
    assert.equal((await service.api('PUT', `${scopes}/${email.id}`, { ...email, consent })).status, 200, consent);
    assert.deepEqual(await outcomes(), expected, consent);
  }
});

test('prompt=login authenticates anew: another auth_time, and another user may sign in', async (t) => {
  const service = await startService(t);
  const [user, other] = [await service.createUser(), await service.createUser()];
  const { clientId } = await createClient(service, { grant_types: ['implicit'], response_types: ['id_token'] });
  const request = (prompt?: string) => authorizeUrl(service, 'built-in', { client_id: clientId, response_type: 'id_token', prompt });
  const claimsOf = (page: Page) => decodeJwt(answerOf(page).id_token ?? '');
  const browser = new UserAgent(service.baseUrl);
  const first = claimsOf(await browser.signIn(await browser.visit(request()), user));
  moveClock(t, 30);
  assert.equal(claimsOf(await browser.visit(request())).auth_time, first.auth_time, 'silent: the sign-in of before');
  const again = claimsOf(await browser.signIn(await browser.visit(request('login')), user));
  assert.ok(Number(again.auth_time) >= Number(first.auth_time) + 30);
  const form = await browser.visit(request('login'));
  assert.equal(outcome(await browser.visit(request('login'))), 'sign-in', 'a page left open answers no other request');
  assert.equal(claimsOf(await browser.signIn(form, other)).sub, other.id);
  assert.equal(claimsOf(await browser.visit(request())).sub, other.id);
});

test('consents are remembered per user, application, authorization server and scope, and outlive the session', async (t) => {
  const service = await serviceWithConsents(t);
  const [user, other] = [await service.createUser(), await service.createUser()];
  const [app, otherApp] = await Promise.all([1, 2].map(() => createClient(service, { consent_method: 'REQUIRED' })));
  assert(app !== undefined && otherApp !== undefined);
  const browser = await signedIn(service, user);
  const stranger = await signedIn(service, other);
  const ask = async (agent: UserAgent, serverId: string, clientId: string, scope: string) =>
    outcome(await agent.visit(authorizeUrl(service, serverId, { client_id: clientId, scope })));

  const dialog = await browser.visit(authorizeUrl(service, 'default', { client_id: app.clientId, scope: 'openid email' }));
  assert(arrived(await browser.submit(dialog, 'consent', { decision: 'allow' })));
  assert.equal(await ask(browser, 'default', app.clientId, 'openid email'), 'code');
  assert.equal(await ask(stranger, 'default', app.clientId, 'openid email'), 'dialog', 'another user');
  assert.equal(await ask(browser, 'default', otherApp.clientId, 'openid email'), 'dialog', 'another application');
  assert.equal(await ask(browser, 'built-in', app.clientId, 'openid email'), 'dialog', 'another server');
  assert.equal(await ask(browser, 'default', app.clientId, 'openid phone'), 'dialog', 'another scope');
  assert.equal(await ask(await signedIn(service, user), 'default', app.clientId, 'openid email'), 'code', 'another session');
});

test('a denial is access_denied in the place of the response mode, remembers nothing, and is no sign-out', async (t) => {
  const service = await serviceWithConsents(t);
  const user = await service.createUser();
  const settings = { consent_method: 'REQUIRED', grant_types: ['authorization_code', 'implicit'], response_types: ['code', 'token'] };
  const { clientId } = await createClient(service, settings);
  const browser = await signedIn(service, user);
  const request = (parameters: Record<string, string>) =>
    authorizeUrl(service, 'built-in', { client_id: clientId, scope: 'openid email', ...parameters });
  for (const [parameters, place] of [
    [{}, 'search'],
    [{ response_mode: 'fragment' }, 'hash'],
    [{ response_type: 'token' }, 'hash'],
  ] as const) {
    const dialog = await browser.visit(request(parameters));
    const denied = await browser.submit(dialog, 'consent', { decision: 'deny' });
    assert.deepEqual(Object.keys(answerOf(denied)).sort(), ['error', 'error_description', 'iss', 'state']);
    assert.deepEqual([answerOf(denied).error, answerOf(denied).state], ['access_denied', 'some-state']);
    assert.match(denied.url[place], /error=access_denied/);
    assert.equal(outcome(await browser.visit(request({ ...parameters, prompt: 'none' }))), 'consent_required');
  }
  const byForm = await browser.submit(await browser.visit(request({ response_mode: 'form_post' })), 'consent', { decision: 'deny' });
  assert.match(byForm.text, /name="error" value="access_denied"/);
  const givenUp = await new UserAgent(service.baseUrl).visit(request({}));
  assert.match(givenUp.text, /id="cancel"/, 'a sign-in may be given up as well');
});

test('an optional scope that is not ticked is not granted, and prompt=consent may take it back', async (t) => {
  const service = await serviceWithConsents(t);
  const user = await service.createUser();
  const settings = { consent_method: 'REQUIRED', grant_types: ['implicit'], response_types: ['token'] };
  const { clientId } = await createClient(service, settings);
  const browser = await signedIn(service, user);
  const request = (prompt?: string) =>
    authorizeUrl(service, 'default', { client_id: clientId, scope: 'openid email phone', response_type: 'token', prompt });
  const allow = async (page: Page, typed: Record<string, string>) => {
    const { scope, access_token: token = '' } = answerOf(await browser.submit(page, 'consent', { decision: 'allow', ...typed }));
    assert.equal(decodeJwt(token).scope, scope, 'and the token holds as much');
    return scope;
  };
  assert.equal(await allow(await browser.visit(request()), {}), 'openid email');
  assert.equal(await allow(await browser.visit(request('consent')), { scope: 'phone' }), 'openid email phone');
  assert.equal(answerOf(await browser.visit(request())).scope, 'openid email phone', 'remembered');
  assert.equal(await allow(await browser.visit(request('consent')), { scope: 'openid' }), 'openid email', 'taken back');
  assert.equal(
    await allow(await browser.visit(request('consent')), { scope: 'admin' }),
    'openid email',
    'what was not offered is not granted',
  );
});

test('where nothing at all is granted the answer is access_denied, with a description', async (t) => {
  const service = await serviceWithConsents(t);
  const user = await service.createUser();
  const browser = await signedIn(service, user);
  const settings = { grant_types: ['authorization_code', 'implicit'], response_types: ['code', 'token'] };
  const asking = await createClient(service, { ...settings, consent_method: 'REQUIRED' });
  const trusted = await createClient(service, settings);
  const denied = (page: Page) => {
    const answer = answerOf(page);
    assert.deepEqual(Object.keys(answer).sort(), ['error', 'error_description', 'iss', 'state']);
    assert.deepEqual([answer.error, answer.state], ['access_denied', 'some-state']);
  };
  for (const serverId of SERVERS) {
    for (const response_type of ['code', 'token']) {
      const request = (clientId: string, scope: string) => authorizeUrl(service, serverId, { client_id: clientId, scope, response_type });
      denied(await browser.submit(await browser.visit(request(asking.clientId, 'phone')), 'consent', { decision: 'allow' }));
      denied(await browser.visit(request(trusted.clientId, 'offline_access')));
    }
  }
});

test('offline_access is a scope like others: no prompt=consent is needed, and only code with refresh tokens enabled grants it', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const browser = await signedIn(service, user);
  const client = await createClient(service);
  const without = await createClient(service, { grant_types: ['authorization_code'] });
  const implicit = await createClient(service, { grant_types: ['implicit', 'refresh_token'], response_types: ['token'] });
  for (const serverId of SERVERS) {
    const scope = 'openid offline_access';
    const { body } = await tokensFor(service, browser, user, client, { serverId, scope });
    assert.deepEqual([typeof body.refresh_token, body.scope], ['string', scope]);
    const { body: bare } = await tokensFor(service, browser, user, client, { serverId, scope: 'openid' });
    assert.deepEqual([bare.refresh_token, bare.scope], [undefined, 'openid'], 'not requested at the authorize endpoint');
    const { body: narrow } = await tokensFor(service, browser, user, without, { serverId, scope });
    assert.deepEqual([narrow.refresh_token, narrow.scope], [undefined, 'openid'], 'the application has no refresh tokens');
    const token = authorizeUrl(service, serverId, { client_id: implicit.clientId, response_type: 'token', scope });
    assert.equal(answerOf(await browser.visit(token)).scope, 'openid', 'no code, no refresh token');
  }
});
