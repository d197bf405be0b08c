/** What an organization demands beyond the service: a second factor, sessions and refresh tokens that end sooner. Only where somebody signs in for it. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import {
  answerOf,
  authorizeUrl,
  CALLBACK,
  challengeOf,
  createClient,
  post,
  type TestClient,
  verifier,
} from '../../protocol/servers/relying-party.ts';
import { moveClock } from '../../support/clock.ts';
import { codeOf, enrolledUser, secretOn, TWO_FACTORS, trustedBrowserOf } from '../../support/factors.ts';
import { startService } from '../../support/service.ts';
import { createOrg } from '../../support/tenants.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';

async function start(t: TestContext) {
  const service = await startService(t);
  const ok = async (method: string, path: string, body?: unknown) => {
    const answer = await service.api(method, path, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const [acme, bolt] = [await createOrg(service, 'Acme'), await createOrg(service, 'Bolt')];
  const client = await createClient(service);
  const request = (parameters: Record<string, string> = {}, { clientId }: TestClient = client) =>
    authorizeUrl(service, 'default', { client_id: clientId, scope: 'openid offline_access organization', ...parameters });
  const join = async (userId: string, ...orgIds: readonly string[]) => {
    for (const orgId of orgIds) await ok('PUT', `/account/org/${orgId}/member/${userId}`, {});
  };
  /** A member who has signed in, for no organization. */
  const signedIn = async (...orgIds: readonly string[]) => {
    const user = await service.createUser();
    await join(user.id, ...orgIds);
    await ok('POST', `/users/${user.id}`, { credentials: { password: { value: user.password } } });
    const browser = new UserAgent(service.baseUrl);
    isDone(await browser.signIn(await browser.visit(request()), user));
    return { user, browser };
  };
  const policy = (orgId: string, body: Record<string, unknown>) => ok('PUT', `/account/org/${orgId}/policy`, body);
  return { service, ok, acme, bolt, client, request, join, signedIn, policy };
}

const isDone = (page: Page) => assert.ok(answerOf(page).code, page.text);
const asksToSignIn = (page: Page) => assert.match(page.text, /id="sign-in-form"/);
const asksToEnrol = (page: Page) => assert.match(page.text, /id="enroll-form"/);
const enrol = async (browser: UserAgent, page: Page) => {
  const shown = await browser.submit(page, 'enroll-form', { passCode: codeOf(secretOn(page)) });
  return browser.submit(shown, 'enrolled-form');
};
const claimsIn = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());

test('a second factor that an organization requires is asked for where somebody signs in for it, and the page says why', async (t) => {
  const { service, acme, bolt, request, signedIn, policy } = await start(t);
  await policy(acme, { mfa: 'REQUIRED' });
  const { user, browser } = await signedIn(acme, bolt);
  isDone(await browser.visit(request({ prompt: 'none' })));
  isDone(await browser.visit(request({ prompt: 'none', organization: bolt })));
  const refused = answerOf(await browser.visit(request({ prompt: 'none', organization: acme })));
  assert.equal(refused.error, 'login_required');
  const { body: events } = await service.api('GET', `/logs?filter=${encodeURIComponent('eventType eq "app.oauth2.as.authorize"')}`);
  assert.ok(JSON.stringify(events).includes('"demandedBy":"ORGANIZATION"'), JSON.stringify(events));

  const asked = await browser.visit(request({ organization: 'Acme' }));
  asksToEnrol(asked);
  assert.ok(asked.text.includes(user.login));
  assert.match(asked.text, /Your organization requires two-step verification\./);
  isDone(await enrol(browser, asked));
  isDone(await browser.visit(request({ prompt: 'none', organization: acme })));

  const { browser: other } = await signedIn(acme);
  await policy(acme, {});
  isDone(await other.visit(request({ prompt: 'none', organization: acme })));
});

test('the chosen organization stays chosen over the second factor, and over the sign-in that it asks for', async (t) => {
  const { service, acme, bolt, request, signedIn, policy } = await start(t);
  await policy(acme, { mfa: 'REQUIRED', sessionLifetimeHours: 2 });
  const client = await createClient(service, { organization: 'REQUIRED' });
  const claimsOf = async (page: Page) => {
    const form = { grant_type: 'authorization_code', code: answerOf(page).code ?? '', redirect_uri: CALLBACK };
    return claimsIn((await post(service, 'default', 'token', client, form)).body.id_token);
  };
  const { user, browser } = await signedIn(bolt, acme);
  const choice = await browser.visit(request({}, client));
  assert.match(choice.text, /id="choose-organization"/);
  const asked = await browser.submit(choice, 'choose-organization', { organization: acme });
  asksToEnrol(asked);
  const secret = secretOn(asked);
  const claims = await claimsOf(await enrol(browser, asked));
  assert.deepEqual([claims.org_id, claims.acr], [acme, TWO_FACTORS]);

  moveClock(t, 2 * 3600 + 1);
  const over = await browser.visit(request({}, client));
  asksToSignIn(over);
  const factor = await browser.signIn(over, user);
  const again = await claimsOf(await browser.submit(factor, 'factor-form', { passCode: codeOf(secret) }));
  assert.equal(again.org_id, acme, 'without another choice');
});

test('a trusted browser does not replace the second factor of an organization', async (t) => {
  const { service, ok, acme, request, join, policy } = await start(t);
  await ok('PUT', '/settings/sign-in', { rememberBrowserDays: 30 });
  const user = await enrolledUser(service);
  await join(user.id, acme);
  await ok('POST', `/users/${user.id}`, { credentials: { password: { value: user.password } } });
  moveClock(t, 60);
  const browser = await trustedBrowserOf(service, user);
  await policy(acme, { mfa: 'REQUIRED' });
  const page = await browser.visit(request({ organization: acme, prompt: 'login' }));
  const asked = await browser.signIn(page, user);
  assert.match(asked.text, /id="factor-form"/);
  moveClock(t, 60);
  isDone(await browser.submit(asked, 'factor-form', { passCode: codeOf(user.secret) }));
});

test('a session is over for the organization after its lifetime, and without a sign-in for it, and goes on for all else', async (t) => {
  const { acme, bolt, request, signedIn, policy } = await start(t);
  await policy(acme, { sessionIdleMinutes: 30, sessionLifetimeHours: 2 });
  const { user, browser } = await signedIn(acme, bolt);
  const silently = async (organization: string) => answerOf(await browser.visit(request({ prompt: 'none', organization })));
  for (const minutes of [29, 29, 29]) {
    moveClock(t, minutes * 60);
    assert.ok((await silently(acme)).code, 'each use for the organization counts');
  }
  moveClock(t, 29 * 60);
  assert.ok((await silently(bolt)).code);
  moveClock(t, 2 * 60);
  assert.equal((await silently(acme)).error, 'login_required', 'a use for another organization does not count');
  assert.equal((await silently(acme)).error, 'login_required', 'neither does the refused one');
  assert.ok((await silently(bolt)).code);
  const page = await browser.visit(request({ organization: acme }));
  asksToSignIn(page);
  isDone(await browser.signIn(page, user));
  assert.ok((await silently(acme)).code);
  for (const minutes of [25, 25, 25, 25, 19]) {
    moveClock(t, minutes * 60);
    assert.ok((await silently(acme)).code);
  }
  moveClock(t, 2 * 60);
  assert.equal((await silently(acme)).error, 'login_required', 'two hours after the sign-in');
});

for (const rotates of [true, false]) {
  test(`refresh tokens of the organization end with its sessions${rotates ? '' : ', also where none is rotated'}`, async (t) => {
    const { service, acme, bolt, signedIn, policy } = await start(t);
    await policy(acme, { sessionIdleMinutes: 30, sessionLifetimeHours: 2 });
    const client = await createClient(service, { refresh_token: { rotation_type: rotates ? 'ROTATE' : 'STATIC' } });
    const { browser } = await signedIn(acme, bolt);
    const tokensFor = async (organization: string) => {
      const code_verifier = verifier();
      const page = await browser.visit(
        authorizeUrl(service, 'default', {
          ...{ client_id: client.clientId, scope: 'openid offline_access organization', prompt: 'none', organization },
          code_challenge: challengeOf(code_verifier),
        }),
      );
      const form = { grant_type: 'authorization_code', code: answerOf(page).code ?? '', redirect_uri: CALLBACK, code_verifier };
      return (await post(service, 'default', 'token', client, form)).body.refresh_token as string;
    };
    const refresh = async (token: string) =>
      (await post(service, 'default', 'token', client, { grant_type: 'refresh_token', refresh_token: token })).body;
    const first = await tokensFor(acme);
    const idle = await tokensFor(acme);
    const other = await tokensFor(bolt);
    const told = (await post(service, 'default', 'introspect', client, { token: first })).body;
    assert.equal(told.exp - told.iat, 30 * 60);
    let token = first;
    for (const minutes of [29, 29, 29, 29]) {
      moveClock(t, minutes * 60);
      const refreshed = await refresh(token);
      token = refreshed.refresh_token ?? token;
      assert.ok(refreshed.access_token, JSON.stringify(refreshed));
    }
    assert.equal((await refresh(idle)).error, 'invalid_grant');
    moveClock(t, 5 * 60);
    assert.equal((await refresh(token)).error, 'invalid_grant', 'two hours after the sign-in');
    assert.equal((await post(service, 'default', 'introspect', client, { token })).body.active, false);
    assert.ok((await refresh(other)).access_token);
  });
}

test('a policy that becomes stricter ends refresh tokens that are there', async (t) => {
  const { service, acme, client, request, signedIn, policy } = await start(t);
  const { browser } = await signedIn(acme);
  const page = await browser.visit(request({ prompt: 'none', organization: acme }));
  const form = { grant_type: 'authorization_code', code: answerOf(page).code ?? '', redirect_uri: CALLBACK };
  const { refresh_token: token } = (await post(service, 'default', 'token', client, form)).body;
  assert.ok(token);
  moveClock(t, 3600 + 1);
  await policy(acme, { sessionLifetimeHours: 1 });
  const refreshed = await post(service, 'default', 'token', client, { grant_type: 'refresh_token', refresh_token: token });
  assert.equal(refreshed.body.error, 'invalid_grant');
});

test('what is longer than the service, or no policy, is refused; the simulator tells the policy', async (t) => {
  const { service, ok, acme, client, signedIn, policy } = await start(t);
  const path = `/account/org/${acme}/policy`;
  assert.deepEqual(await ok('GET', path), { mfa: 'INHERIT', sessionIdleMinutes: null, sessionLifetimeHours: null });
  await ok('PUT', '/settings/sign-in', { sessionIdleMinutes: 60, sessionLifetimeDays: 1 });
  for (const [field, value] of [
    ['sessionIdleMinutes', 61],
    ['sessionIdleMinutes', 0],
    ['sessionLifetimeHours', 25],
    ['sessionLifetimeHours', 1.5],
    ['mfa', 'OPTIONAL'],
    ['rules', []],
  ] as const) {
    const { status, body } = await service.api('PUT', path, { [field]: value });
    assert.equal(status, 400, `${field} ${JSON.stringify(value)}`);
    assert.ok(JSON.stringify(body).includes(field), JSON.stringify(body));
  }
  const set = { mfa: 'REQUIRED', sessionIdleMinutes: 60, sessionLifetimeHours: 24 };
  assert.deepEqual(await policy(acme, set), set);
  assert.deepEqual(await ok('GET', path), set);
  const { user } = await signedIn(acme);
  const question = { client_id: client.clientId, user: user.id, grant_type: 'authorization_code', scopes: ['openid'] };
  const simulated = await ok('POST', '/authorizationServers/default/simulate', { ...question, organization: 'Acme' });
  assert.deepEqual(simulated.organization_policy, set);
  assert.equal((await ok('POST', '/authorizationServers/default/simulate', question)).organization_policy, null);
  const { body: events } = await service.api('GET', `/logs?filter=${encodeURIComponent('eventType eq "org.policy.update"')}`);
  assert.equal(events.length, 1);
  assert.ok(JSON.stringify(events).includes('"sessionLifetimeHours":24'), JSON.stringify(events));
});
