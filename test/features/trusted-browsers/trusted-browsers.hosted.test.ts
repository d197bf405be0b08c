/** `settings/sign-in.rememberBrowserDays`: a browser that its user trusts is not asked for the second factor; what counts there, and what ends it. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { answerOf, authorizeUrl, CALLBACK, createClient, post } from '../../protocol/servers/relying-party.ts';
import { moveClock } from '../../support/clock.ts';
import { onServer } from '../../support/database.ts';
import { codeOf, type Enrolled, enrolledUser, ONE_FACTOR, TWO_FACTORS } from '../../support/factors.ts';
import { addPasskey } from '../../support/passkeys.ts';
import { type Service, startService } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';

const DAY = 86_400;
const COOKIE = 'gatehouse-trusted';

const asksForFactor = (page: Page, why?: string) => assert.match(page.text, /id="factor-form"/, why);
const isDone = (page: Page, why?: string) => assert.ok(answerOf(page).code, why ?? page.text.slice(0, 3000));
const setDays = (service: Service, rememberBrowserDays: number, more: Record<string, unknown> = {}) =>
  service.api('PUT', '/settings/sign-in', { rememberBrowserDays, sessionIdleMinutes: 43_200, sessionLifetimeDays: 365, ...more });

/** Steps of one application's users. */
async function shop(t: TestContext, days = 30) {
  const service = await startService(t);
  assert.equal((await setDays(service, days)).status, 200);
  const client = await createClient(service);
  const request = (parameters: Record<string, string> = {}) =>
    authorizeUrl(service, 'built-in', { client_id: client.clientId, prompt: 'login', ...parameters });
  const password = async (browser: UserAgent, user: { login: string; password: string }, parameters?: Record<string, string>) =>
    browser.signIn(await browser.visit(request(parameters)), user);
  /** Signs in with the code of the app. */
  const withCode = async (browser: UserAgent, user: Enrolled, typed: Record<string, string> = {}): Promise<Page> => {
    moveClock(t, 60);
    const page = await password(browser, user);
    asksForFactor(page);
    return browser.submit(page, 'factor-form', { passCode: codeOf(user.secret), ...typed });
  };
  /** A browser that its user trusts. */
  const trusted = async (user: Enrolled): Promise<UserAgent> => {
    const browser = new UserAgent(service.baseUrl);
    isDone(await withCode(browser, user, { trustBrowser: 'true' }));
    assert.ok(browser.cookie(COOKIE), 'the browser has a token');
    return browser;
  };
  const claimsOf = async (page: Page) => {
    const form = { grant_type: 'authorization_code', code: answerOf(page).code ?? '', redirect_uri: CALLBACK };
    const { body } = await post(service, 'built-in', 'token', client, form);
    return JSON.parse(Buffer.from(body.id_token.split('.')[1], 'base64url').toString());
  };
  return { service, request, password, withCode, trusted, claimsOf };
}

test('a trusted browser is not asked for the second factor', async (t) => {
  const { service, request, password, withCode, trusted, claimsOf } = await shop(t);

  await t.test('for as long as the policy says; amr and acr claim one factor, and every other browser is asked', async (t) => {
    const user = await enrolledUser(service);
    const browser = new UserAgent(service.baseUrl);
    const offered = await password(browser, user);
    assert.match(offered.text, /Don’t ask again in this browser for 30 days/);
    const done = await withCode(browser, user, { trustBrowser: 'true' });
    assert.deepEqual((await claimsOf(done)).amr, ['pwd', 'otp', 'mfa'], 'the first time it was used');
    const again = await password(browser, user);
    isDone(again);
    const { amr, acr } = await claimsOf(again);
    assert.deepEqual([amr, acr], [['pwd'], ONE_FACTOR]);
    asksForFactor(await password(new UserAgent(service.baseUrl), user));
    moveClock(t, 29 * DAY);
    isDone(await password(browser, user));
    moveClock(t, 2 * DAY);
    asksForFactor(await password(browser, user));
  });

  await t.test('only where the box is ticked', async () => {
    const user = await enrolledUser(service);
    const browser = new UserAgent(service.baseUrl);
    isDone(await withCode(browser, user));
    assert.equal(browser.cookie(COOKIE), undefined);
    asksForFactor(await password(browser, user));
  });

  await t.test('the database has the digest of the token alone', async () => {
    const user = await enrolledUser(service);
    const token = (await trusted(user)).cookie(COOKIE) ?? '';
    assert.match(token, /^[\w-]{43}$/);
    const { rows } = await onServer(service.database.url, (sql) =>
      sql.query('SELECT row_to_json(b)::text AS row FROM trusted_browsers b WHERE user_id = $1', [user.id]),
    );
    assert.equal(rows.length, 1);
    assert.ok(!rows[0].row.includes(token));
  });

  await t.test('two users of one browser trust it each for themselves', async () => {
    const [one, other] = [await enrolledUser(service), await enrolledUser(service)];
    const browser = await trusted(one);
    isDone(await withCode(browser, other, { trustBrowser: 'true' }));
    isDone(await password(browser, one));
    isDone(await password(browser, other));
  });

  await t.test('the log tells it, with the facts that decided', async () => {
    const user = await enrolledUser(service);
    const browser = await trusted(user);
    isDone(await password(browser, user));
    const filter = encodeURIComponent(`actor.id eq "${user.id}"`);
    const { body } = await service.api('GET', `/logs?filter=${filter}&sortOrder=DESCENDING`);
    const added = body.filter(({ eventType }: { eventType: string }) => eventType === 'user.mfa.trusted_browser.add');
    assert.equal(added.length, 1);
    const [{ debugContext }] = body.filter(({ eventType }: { eventType: string }) => eventType === 'user.session.start');
    assert.match(JSON.stringify(debugContext), /"trustedBrowser":true/);
  });

  await t.test('a request or an application that asks for two factors gets two', async (t) => {
    const user = await enrolledUser(service);
    const browser = await trusted(user);
    asksForFactor(await password(browser, user, { acr_values: TWO_FACTORS }), 'acr_values');
    const strict = await createClient(service, { mfa_required: true });
    asksForFactor(await password(browser, user, { client_id: strict.clientId }), 'mfa_required');
    isDone(await password(browser, user));
    moveClock(t, 60);
    const stepUp = await browser.visit(request({ prompt: '', acr_values: TWO_FACTORS }));
    asksForFactor(stepUp, 'step-up');
    const { acr } = await claimsOf(await browser.submit(stepUp, 'factor-form', { passCode: codeOf(user.secret) }));
    assert.equal(acr, TWO_FACTORS);
  });

  await t.test('a policy for everyone is met by trust, also by the session that it began; a request for two factors is not', async () => {
    const user = await enrolledUser(service);
    const browser = await trusted(user);
    await setDays(service, 30, { mfa: 'EVERYONE' });
    try {
      isDone(await password(browser, user));
      isDone(await browser.visit(request({ prompt: 'none' })));
      assert.equal(answerOf(await browser.visit(request({ prompt: 'none', acr_values: TWO_FACTORS }))).error, 'login_required');
      const { body } = await service.api('GET', `/users/${user.id}/trustedBrowsers`);
      await service.api('DELETE', `/users/${user.id}/trustedBrowsers/${body[0].id}`);
      assert.equal(answerOf(await browser.visit(request({ prompt: 'none' }))).error, 'login_required');
      asksForFactor(await browser.visit(request({ prompt: '' })));
    } finally {
      await setDays(service, 30);
    }
  });

  await t.test('a change of one’s own security asks for the factor all the same', async (t) => {
    const user = await enrolledUser(service);
    const browser = await trusted(user);
    isDone(await password(browser, user));
    const page = await browser.visit('/account/security');
    const asked = await browser.submit(page, 'recovery-codes-form');
    assert.match(asked.text, /id="sign-in-form"/);
    const factor = await browser.signIn(asked, user);
    asksForFactor(factor);
    moveClock(t, 60);
    const back = await browser.submit(factor, 'factor-form', { passCode: codeOf(user.secret) });
    assert.equal(back.url.pathname, '/account/security');
  });

  await t.test('a shorter period applies to browsers that are trusted already; 0 ends all trust', async (t) => {
    const user = await enrolledUser(service);
    const browser = await trusted(user);
    moveClock(t, 3 * DAY);
    isDone(await password(browser, user));
    await setDays(service, 2);
    try {
      asksForFactor(await password(browser, user));
      await setDays(service, 0);
      const page = await password(browser, user);
      asksForFactor(page);
      assert.doesNotMatch(page.text, /trust-browser/);
      assert.deepEqual((await service.api('GET', `/users/${user.id}/trustedBrowsers`)).body, []);
    } finally {
      await setDays(service, 30);
    }
  });

  await t.test('at most twenty of one user: the oldest ends', async () => {
    const user = await enrolledUser(service);
    const first = await trusted(user);
    for (let turn = 0; turn < 20; turn += 1) await trusted(user);
    assert.equal((await service.api('GET', `/users/${user.id}/trustedBrowsers?limit=200`)).body.length, 20);
    asksForFactor(await password(first, user));
  });
});

test('trust ends', async (t) => {
  const { service, password, trusted } = await shop(t);
  /** A page of the account in another browser, after both factors. */
  const freshlyAt = async (path: string, user: Enrolled) => {
    const other = new UserAgent(service.baseUrl);
    moveClock(t, 60);
    const asked = await other.signIn(await other.visit(path), user);
    return { other, page: await other.submit(asked, 'factor-form', { passCode: codeOf(user.secret) }) };
  };
  const endings: Readonly<Record<string, (user: Enrolled, browser: UserAgent) => Promise<unknown>>> = {
    'with a password that an administrator sets': ({ id, password: value }) =>
      service.api('POST', `/users/${id}`, { credentials: { password: { value } } }),
    'with a password that the user chooses on the account page': async (user) => {
      const { other, page } = await freshlyAt('/account/password', user);
      const done = await other.submit(page, 'password-form', { current: user.password, password: `another ${user.password}` });
      assert.equal(done.status, 200, done.text);
    },
    'with a password that is chosen by the link of an e-mail': async ({ id }) => {
      const { body } = await service.api('POST', `/users/${id}/lifecycle/reset_password?sendEmail=false`);
      const other = new UserAgent(service.baseUrl);
      await other.submit(await other.visit(body.resetPasswordUrl), 'choose-password-form', { password: 'chosen by the link' });
    },
    'with a passkey that the user adds': async (user) => {
      const { other, page } = await freshlyAt('/account/security', user);
      await addPasskey(other, page);
    },
    'with a second factor that the user removes': async (user) => {
      const { other, page } = await freshlyAt('/account/security', user);
      assert.match((await other.submit(page, 'remove-form')).text, /Removed\./);
    },
    'with codes by e-mail that are set up': async ({ id }) => {
      await setDays(service, 30, { messageFactors: ['email'] });
      await service.api('POST', `/users/${id}`, { profile: { email: `${id}@example.com` } });
      const { status, body } = await service.api('POST', `/users/${id}/factors?activate=true`, { factorType: 'email', provider: 'OKTA' });
      assert.equal(status, 200, JSON.stringify(body));
      await setDays(service, 30);
    },
    'when an administrator resets all factors': ({ id }) => service.api('POST', `/users/${id}/lifecycle/reset_factors`),
    'with a second factor that is reset and set up again': async (user) => {
      const { body } = await service.api('GET', `/users/${user.id}/factors`);
      await service.api('DELETE', `/users/${user.id}/factors/${body[0].id}`);
    },
    'with new recovery codes': async (user) => {
      const { other, page } = await freshlyAt('/account/security', user);
      assert.match((await other.submit(page, 'recovery-codes-form')).text, /id="recovery-codes"/);
    },
    'when an administrator ends all sessions': ({ id }) => service.api('DELETE', `/users/${id}/sessions`),
    'with a suspension': async ({ id }) => {
      await service.api('POST', `/users/${id}/lifecycle/suspend`);
      await service.api('POST', `/users/${id}/lifecycle/unsuspend`);
    },
    'when an administrator ends it': async ({ id }) => {
      const { body } = await service.api('GET', `/users/${id}/trustedBrowsers`);
      assert.equal((await service.api('DELETE', `/users/${id}/trustedBrowsers/${body[0].id}`)).status, 204);
      assert.equal((await service.api('DELETE', `/users/${id}/trustedBrowsers/${body[0].id}`)).status, 404);
    },
    'when an administrator ends all of it': ({ id }) => service.api('DELETE', `/users/${id}/trustedBrowsers`),
    'when the user ends it': async (user, browser) => {
      await password(browser, user);
      const page = await browser.visit('/account/security');
      assert.match(page.text, /id="trusted-browsers"/);
      const ended = await browser.submit(page, 'end-trust-1');
      assert.match(ended.text, /The browser is no longer trusted/);
      assert.doesNotMatch(ended.text, /id="trusted-browsers"/);
    },
    'when the user signs out everywhere else': async (user, browser) => {
      const other = new UserAgent(service.baseUrl);
      await password(browser, user);
      const page = await browser.visit('/account/sessions');
      if (/id="end-others-form"/.test(page.text)) await browser.submit(page, 'end-others-form');
      else {
        await password(other, user);
        await browser.submit(await browser.visit('/account/sessions'), 'end-others-form');
      }
    },
  };
  for (const [how, end] of Object.entries(endings)) {
    await t.test(how, async () => {
      const user = await enrolledUser(service);
      const browser = await trusted(user);
      isDone(await password(browser, user), how);
      await end(user, browser);
      const { rows } = await onServer(service.database.url, (sql) =>
        sql.query('SELECT count(*)::int AS n FROM trusted_browsers WHERE user_id = $1', [user.id]),
      );
      assert.equal(rows[0].n, 0, how);
    });
  }
});
