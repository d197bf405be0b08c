/** The second step of a sign-in on the hosted pages: an authenticator app (RFC 6238), recovery codes, enrolment; without JavaScript. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, authorizeUrl, CALLBACK, createClient, post } from '../../protocol/servers/relying-party.ts';
import { moveClock } from '../../support/clock.ts';
import { onServer } from '../../support/database.ts';
import { codeOf, enrolledUser, recoveryCodesOn, secretOn, TWO_FACTORS, wrongCode } from '../../support/factors.ts';
import { startService, startTwo } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';

test('the second step of a sign-in', async (t) => {
  const service = await startService(t);
  const client = await createClient(service);
  const request = (parameters: Record<string, string> = {}) =>
    authorizeUrl(service, 'built-in', { client_id: client.clientId, ...parameters });
  const newBrowser = () => new UserAgent(service.baseUrl);
  const asked = async (user: { login: string; password: string }, browser = newBrowser()) => {
    const page = await browser.signIn(await browser.visit(request({ prompt: 'login' })), user);
    assert.match(page.text, /id="factor-form"/);
    return { browser, page };
  };
  const claimsOf = async (code = '') => {
    const { body } = await post(service, 'built-in', 'token', client, { grant_type: 'authorization_code', code, redirect_uri: CALLBACK });
    return JSON.parse(Buffer.from(body.id_token.split('.')[1], 'base64url').toString());
  };

  await t.test('asks who has a factor for its code, and tells amr, acr and auth_time (OpenID Connect Core 2, RFC 8176)', async () => {
    const user = await enrolledUser(service);
    const { browser, page } = await asked(user);
    assert.ok(page.text.includes(user.login));
    const before = Math.floor(Date.now() / 1000);
    const claims = await claimsOf(answerOf(await browser.submit(page, 'factor-form', { passCode: ` ${codeOf(user.secret, 1)} ` })).code);
    assert.deepEqual([claims.sub, claims.amr, claims.acr], [user.id, ['pwd', 'otp', 'mfa'], TWO_FACTORS]);
    assert.ok(claims.auth_time >= before - 1 && claims.auth_time <= Date.now() / 1000);
  });

  await t.test('a code is good once, whoever uses it (RFC 6238 section 5.2); of twenty at once for one', async (t) => {
    const user = await enrolledUser(service);
    const first = await asked(user);
    assert.equal((await first.browser.submit(first.page, 'factor-form', { passCode: user.usedCode })).status, 400, 'used to enrol');
    moveClock(t, 60);
    const waiting = await Promise.all(Array.from({ length: 20 }, () => asked(user)));
    const passCode = codeOf(user.secret);
    const ends = await Promise.all(waiting.map(({ browser, page }) => browser.submit(page, 'factor-form', { passCode })));
    assert.equal(ends.filter((page) => answerOf(page).code !== undefined).length, 1);
    moveClock(t, 3600);
    const again = await asked(user);
    assert.ok(answerOf(await again.browser.submit(again.page, 'factor-form', { passCode: codeOf(user.secret) })).code);
  });

  await t.test('one state token used twenty times at once finishes one sign-in', async (t) => {
    const user = await enrolledUser(service);
    moveClock(t, 60);
    const { browser, page } = await asked(user);
    const codes = [codeOf(user.secret, -1), codeOf(user.secret), codeOf(user.secret, 1)];
    const ends = await Promise.all(
      Array.from({ length: 20 }, (_, turn) => browser.window().submit(page, 'factor-form', { passCode: codes[turn % 3] ?? '' })),
    );
    const finished = ends.filter(({ url }) => url.origin === new URL(CALLBACK).origin);
    assert.ok(finished.length >= 1);
    const { rows } = await onServer(service.database.url, (sql) =>
      sql.query(
        `SELECT count(*)::int AS n FROM audit_events WHERE event_type = 'user.authentication.auth_via_mfa' AND outcome->>'result' = 'SUCCESS' AND actor->>'id' = $1`,
        [user.id],
      ),
    );
    assert.equal(rows[0].n, 1);
  });

  await t.test('accepts the codes of one step before and after, and no others', async (t) => {
    const user = await enrolledUser(service);
    moveClock(t, 300);
    for (const [ahead, status] of [
      [-2, 400],
      [2, 400],
      [-1, 200],
      [1, 200],
    ] as const) {
      const { browser, page } = await asked(user);
      assert.equal(
        (await browser.submit(page, 'factor-form', { passCode: codeOf(user.secret, ahead) })).status === 400,
        status === 400,
        `${ahead}`,
      );
    }
  });

  await t.test('five wrong codes end the sign-in: the password is asked for again', async () => {
    const user = await enrolledUser(service);
    const { browser, page } = await asked(user);
    let shown = page;
    for (let turn = 1; turn <= 4; turn += 1) {
      shown = await browser.submit(shown, 'factor-form', { passCode: wrongCode(user.secret) });
      assert.deepEqual([shown.status, /id="error-summary"/.test(shown.text)], [400, true], `${turn}`);
    }
    const last = await browser.submit(shown, 'factor-form', { passCode: wrongCode(user.secret) });
    assert.match(last.text, /id="sign-in-form"/);
    assert.match(last.text, /Sign in again/);
    const late = await browser.submit(page, 'factor-form', { passCode: codeOf(user.secret, 1) });
    assert.match(late.text, /id="sign-in-form"/);
  });

  await t.test('ten wrong codes lock, whatever password is typed between them; a right code is refused like a wrong one', async (t) => {
    const user = await enrolledUser(service);
    for (let turn = 0; turn < 2; turn += 1) {
      const { browser, page } = await asked(user);
      let shown = page;
      for (let wrong = 0; wrong < 5; wrong += 1) {
        if (/id="factor-form"/.test(shown.text)) shown = await browser.submit(shown, 'factor-form', { passCode: wrongCode(user.secret) });
      }
    }
    const locked = await asked(user);
    const refused = await locked.browser.submit(locked.page, 'factor-form', { passCode: codeOf(user.secret, 1) });
    assert.equal(refused.status, 400);
    const recovery = await locked.browser.submit(refused, 'recovery-form', { recoveryCode: user.recoveryCodes[0] ?? '' });
    assert.equal(recovery.status, 400);
    moveClock(t, 61);
    const after = await asked(user);
    assert.ok(
      answerOf(await after.browser.submit(after.page, 'recovery-form', { recoveryCode: user.recoveryCodes[0] ?? '' })).code,
      'not used up',
    );
  });

  await t.test('a recovery code is good once, of twenty at once for one, in whatever case and grouping', async () => {
    const user = await enrolledUser(service);
    const [one = '', two = ''] = user.recoveryCodes;
    const { browser, page } = await asked(user);
    assert.ok(answerOf(await browser.submit(page, 'recovery-form', { recoveryCode: ` ${one.toUpperCase().replaceAll('-', ' ')}` })).code);
    const next = await asked(user);
    assert.equal((await next.browser.submit(next.page, 'recovery-form', { recoveryCode: one })).status, 400);
    const waiting = await Promise.all(Array.from({ length: 20 }, () => asked(user)));
    const ends = await Promise.all(waiting.map((each) => each.browser.submit(each.page, 'recovery-form', { recoveryCode: two })));
    assert.equal(ends.filter((end) => answerOf(end).code !== undefined).length, 1);
    const other = await enrolledUser(service);
    const foreign = await asked(other);
    assert.equal((await foreign.browser.submit(foreign.page, 'recovery-form', { recoveryCode: user.recoveryCodes[5] ?? '' })).status, 400);
  });

  await t.test('the page can be loaded again, in another language too, and leads back to the password and to the application', async () => {
    const user = await enrolledUser(service);
    const { browser, page } = await asked(user);
    assert.match((await browser.visit(page.url)).text, /id="factor-form"/);
    const german = await browser.visit(new URL('?language=de', page.url));
    assert.match(german.text, /Bestätigen Sie/);
    assert.match((await browser.submit(page, 'restart-form')).text, /id="sign-in-form"/);
    assert.match((await browser.visit(page.url)).text, /id="sign-in-form"/);
    const other = await asked(user);
    const cancel = /action="([^"]*\/cancel[^"]*)"/.exec(other.page.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const left = await other.browser.visit(new URL(cancel, other.page.url), { method: 'POST', headers: { origin: service.baseUrl } });
    assert.equal(answerOf(left).error, 'access_denied');
  });

  await t.test('the step belongs to its browser and place, and ends after ten minutes', async (t) => {
    const user = await enrolledUser(service);
    const { browser, page } = await asked(user);
    const stranger = newBrowser();
    assert.ok((await stranger.submit(page, 'factor-form', { passCode: codeOf(user.secret, 1) })).status >= 400);
    const standalone = newBrowser();
    const csrf = /name="csrf" value="([^"]+)"/.exec((await standalone.visit('/signin')).text)?.[1] ?? '';
    const cookies = { 'gatehouse-form': standalone.cookie('gatehouse-form'), 'gatehouse-sign-in': browser.cookie('gatehouse-sign-in') };
    const moved = await fetch(`${service.baseUrl}/signin/factor`, {
      method: 'POST',
      body: new URLSearchParams({ csrf, passCode: codeOf(user.secret, 1) }),
      headers: {
        origin: service.baseUrl,
        cookie: Object.entries(cookies)
          .map(([name, value]) => `${name}=${value}`)
          .join('; '),
      },
      redirect: 'manual',
    });
    assert.match(await moved.text(), /id="sign-in-form"/, 'its state token is worth nothing at another place');
    moveClock(t, 601);
    assert.match((await browser.submit(page, 'factor-form', { passCode: codeOf(user.secret) })).text, /id="sign-in-form"/);
  });

  await t.test('no step outlives its user: suspended, or with another password', async () => {
    for (const step of ['suspend', 'expire_password'] as const) {
      const user = await enrolledUser(service);
      const { browser, page } = await asked(user);
      await service.api('POST', `/users/${user.id}/lifecycle/${step}`);
      const end = await browser.submit(page, 'factor-form', { passCode: codeOf(user.secret, 1) });
      assert.match(end.text, /id="sign-in-form"/, step);
    }
  });

  await t.test('/signin asks for the factor too', async () => {
    const user = await enrolledUser(service);
    const browser = newBrowser();
    const page = await browser.signIn(await browser.visit('/signin'), user);
    assert.match(page.text, /id="factor-form"/);
    assert.equal(browser.cookie('gatehouse-session'), undefined);
    assert.match((await browser.visit('/signin')).text, /id="factor-form"/);
    const home = await browser.submit(page, 'factor-form', { passCode: codeOf(user.secret, 1) });
    assert.match(home.text, /id="sign-out"/);
    const { code } = answerOf(await browser.visit(request({ prompt: 'none' })));
    assert.deepEqual((await claimsOf(code)).amr, ['pwd', 'otp', 'mfa']);
  });

  await t.test('enrolment: QR code, secret in text, a code to confirm, recovery codes shown once', async () => {
    const user = await service.createUser();
    const browser = newBrowser();
    const page = await browser.signIn(await browser.visit(request({ acr_values: TWO_FACTORS })), user);
    assert.match(page.text, /<svg[^>]*viewBox/);
    const secret = secretOn(page);
    assert.match(secret, /^[A-Z2-7]{32}$/);
    assert.equal(secretOn(await browser.visit(page.url)), secret, 'loaded again it is the same');
    const wrong = await browser.submit(page, 'enroll-form', { passCode: wrongCode(secret) });
    assert.deepEqual([wrong.status, secretOn(wrong)], [400, secret]);
    const shown = await browser.submit(wrong, 'enroll-form', { passCode: codeOf(secret) });
    const codes = recoveryCodesOn(shown);
    assert.deepEqual([codes.length, new Set(codes).size], [10, 10]);
    for (const code of codes) assert.match(code, /^[0-9a-z]{4}(-[0-9a-z]{4}){3}$/);
    const reloaded = await browser.submit(wrong, 'enroll-form', { passCode: codeOf(secret) });
    assert.deepEqual(recoveryCodesOn(reloaded), []);
    assert.ok(!reloaded.text.includes(secret.slice(0, 8)));
    const claims = await claimsOf(answerOf(await browser.submit(reloaded, 'enrolled-form')).code);
    assert.deepEqual([claims.amr, claims.acr], [['pwd', 'otp', 'mfa'], TWO_FACTORS]);
    const { body } = await service.api('GET', `/logs?filter=${encodeURIComponent('eventType eq "user.mfa.factor.activate"')}&limit=200`);
    assert.ok(body.some(({ actor }: { actor: { id: string } }) => actor.id === user.id));
    assert.ok(!JSON.stringify(body).includes(secret));
  });

  await t.test(
    'who began two enrolments has one factor, and two at once are not told apart by the loser as a failure of the service',
    async () => {
      const user = await service.createUser();
      const begun = await Promise.all(
        Array.from({ length: 2 }, async () => {
          const browser = newBrowser();
          return { browser, page: await browser.signIn(await browser.visit(request({ acr_values: TWO_FACTORS })), user) };
        }),
      );
      const ends = await Promise.all(
        begun.map(({ browser, page }) => browser.submit(page, 'enroll-form', { passCode: codeOf(secretOn(page)) })),
      );
      assert.deepEqual(ends.map((page) => recoveryCodesOn(page).length).sort(), [0, 10]);
      assert.ok(ends.every(({ status }) => status === 200));
      assert.equal((await service.api('GET', `/users/${user.id}/factors`)).body.length, 1);
    },
  );
});

test('two processes use one code up', async (t) => {
  const [first, second] = await startTwo(t);
  const user = await enrolledUser(first);
  const passCode = codeOf(user.secret, 1);
  const waiting = await Promise.all(
    Array.from({ length: 10 }, async (_, turn) => {
      const browser = new UserAgent(turn % 2 === 0 ? first.baseUrl : second.listensAt);
      const answer = await fetch(`${turn % 2 === 0 ? first.listensAt : second.listensAt}/api/v1/authn`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ username: user.login, password: user.password }),
      });
      return {
        browser,
        body: (await answer.json()) as { stateToken: string; _embedded: { factors: { id: string }[] } },
        at: turn % 2 === 0 ? second.listensAt : first.listensAt,
      };
    }),
  );
  const statuses = await Promise.all(
    waiting.map(async ({ body, at }) => {
      const answer = await fetch(`${at}/api/v1/authn/factors/${body._embedded.factors[0]?.id}/verify`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ stateToken: body.stateToken, passCode }),
      });
      await answer.arrayBuffer();
      return answer.status;
    }),
  );
  assert.equal(statuses.filter((status) => status === 200).length, 1, String(statuses));
});
