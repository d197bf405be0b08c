/**
 * An expired password of somebody with a second factor: the factor is proved first, and what was proved then counts for the new password. Who merely
 * knows an expired password sets no other one (OWASP Forgot Password Cheat Sheet; Multifactor Authentication Cheat Sheet).
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, authorizeUrl, CALLBACK, createClient, post } from '../../protocol/servers/relying-party.ts';
import { moveClock } from '../../support/clock.ts';
import { onServer } from '../../support/database.ts';
import { codeOf, type Enrolled, enrolledUser, TWO_FACTORS, wrongCode } from '../../support/factors.ts';
import { startService } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';

const NEW = 'violet engines hum';
const FORM = 'choose-password-form';

test('an expired password and a second factor', async (t) => {
  const service = await startService(t);
  const client = await createClient(service);
  const expired = async (): Promise<Enrolled> => {
    const user = await enrolledUser(service);
    assert.equal((await service.api('POST', `/users/${user.id}/lifecycle/expire_password`)).status, 200);
    return user;
  };
  const newBrowser = () => new UserAgent(service.baseUrl);
  const request = (parameters: Record<string, string> = {}) =>
    authorizeUrl(service, 'built-in', { client_id: client.clientId, ...parameters });
  const asksForFactor = (page: Page) => assert.match(page.text, /id="factor-form"/);
  const asksForPassword = (page: Page) => assert.match(page.text, /id="choose-password-form"/);
  const asksToSignIn = (page: Page) => assert.match(page.text, /id="sign-in-form"/);
  const claimsOf = async (page: Page) => {
    const { code = '' } = answerOf(page);
    const { body } = await post(service, 'built-in', 'token', client, { grant_type: 'authorization_code', code, redirect_uri: CALLBACK });
    return JSON.parse(Buffer.from(body.id_token.split('.')[1], 'base64url').toString());
  };
  const authn = async (path: string, body: object) => {
    const answer = await fetch(`${service.listensAt}/api/v1/authn${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    // biome-ignore lint/suspicious/noExplicitAny: an answer of the API
    return { status: answer.status, body: (await answer.json()) as any };
  };

  await t.test('within an authorization request: password, factor, new password, in this order; amr tells both', async () => {
    const user = await expired();
    const browser = newBrowser();
    const factor = await browser.signIn(await browser.visit(request()), user);
    asksForFactor(factor);
    assert.equal((await service.api('GET', `/users/${user.id}`)).body.status, 'PASSWORD_EXPIRED');
    const form = await browser.submit(factor, 'factor-form', { passCode: codeOf(user.secret, 1) });
    asksForPassword(form);
    assert.match(form.text, /Your password has expired/);
    assert.equal((await newBrowser().visit('/')).url.pathname, '/signin');
    const claims = await claimsOf(await browser.submit(form, FORM, { password: NEW }));
    assert.deepEqual([claims.sub, claims.amr, claims.acr], [user.id, ['pwd', 'otp', 'mfa'], TWO_FACTORS]);
    assert.equal((await service.api('GET', `/users/${user.id}`)).body.status, 'ACTIVE');
  });

  await t.test('at /signin, by a recovery code', async () => {
    const user = await expired();
    const browser = newBrowser();
    const factor = await browser.signIn(await browser.visit('/signin'), user);
    const form = await browser.submit(factor, 'recovery-form', { recoveryCode: user.recoveryCodes[0] ?? '' });
    asksForPassword(form);
    assert.equal((await browser.visit('/')).url.pathname, '/signin', 'nobody is signed in yet');
    assert.equal((await browser.submit(form, FORM, { password: NEW })).url.pathname, '/account');
  });

  await t.test(
    'no step is skipped by its address: neither the form of the password, nor one of another sign-in, sets a password',
    async () => {
      const user = await expired();
      const plain = await service.createUser();
      await service.api('POST', `/users/${plain.id}/lifecycle/expire_password`);
      for (const start of ['/signin', request().href]) {
        const browser = newBrowser();
        const factor = await browser.signIn(await browser.visit(start), user);
        asksForFactor(factor);
        // A form of this very place and browser, its action that of the password.
        const forged: Page = { ...factor, text: factor.text.replace('id="factor-form"', `id="${FORM}"`).replace('/factor', '/password') };
        asksForFactor(await browser.submit(forged, FORM, { password: NEW }).then(() => browser.visit(factor.url)));
        for (const step of ['enrolled', 'enroll']) {
          const form: Page = { ...factor, text: factor.text.replace('id="factor-form"', 'id="x"').replace('/factor', `/${step}`) };
          asksForFactor(await browser.submit(form, 'x', { passCode: codeOf(user.secret, 1) }));
        }
        assert.equal(answerOf(await browser.visit(request({ prompt: 'none' }))).error, 'login_required');
        if (start === '/signin') continue;
        // A state of another sign-in that has got as far as the password, in this one's place.
        const other = newBrowser();
        asksForPassword(await other.signIn(await other.visit('/signin'), plain));
        const csrf = /name="csrf" value="([^"]+)"/.exec(factor.text)?.[1] ?? '';
        const names = ['gatehouse-form', 'gatehouse-interaction', 'gatehouse-interaction.sig'];
        const cookies = [
          ...names.map((name) => `${name}=${browser.cookie(name)}`),
          `gatehouse-sign-in=${other.cookie('gatehouse-sign-in')}`,
        ];
        const moved = await fetch(new URL(`${factor.url.pathname}/password`, service.baseUrl), {
          method: 'POST',
          body: new URLSearchParams({ csrf, password: NEW }),
          headers: { origin: service.baseUrl, cookie: cookies.join('; ') },
          redirect: 'manual',
        });
        assert.equal(moved.status, 200);
        assert.match(await moved.text(), /id="sign-in-form"/, 'worth nothing at another place');
      }
      assert.equal((await service.api('GET', `/users/${user.id}`)).body.status, 'PASSWORD_EXPIRED');
      const browser = newBrowser();
      assert.match((await browser.signIn(await browser.visit('/signin'), { ...user, password: NEW })).text, /id="sign-in-form"/);
    },
  );

  await t.test('a factor that was set up meanwhile is proved before the password is replaced', async () => {
    const user = await service.createUser();
    await service.api('POST', `/users/${user.id}/lifecycle/expire_password`);
    const browser = newBrowser();
    const form = await browser.signIn(await browser.visit(request()), user);
    asksForPassword(form);
    const other = await enrolledUser(service);
    await onServer(service.database.url, (sql) =>
      sql.query('UPDATE user_factors SET user_id = $1 WHERE user_id = $2', [user.id, other.id]),
    );
    const factor = await browser.submit(form, FORM, { password: NEW });
    asksForFactor(factor);
    assert.equal((await authn('', { username: user.login, password: NEW })).status, 401, 'the password is as it was');
    const again = await browser.submit(factor, 'factor-form', { passCode: codeOf(other.secret, 1) });
    asksForPassword(again);
    const claims = await claimsOf(await browser.submit(again, FORM, { password: NEW }));
    assert.deepEqual([claims.sub, claims.amr], [user.id, ['pwd', 'otp', 'mfa']]);
  });

  await t.test('the form sent twice, and the factor sent twice, lead on; wrong codes end the sign-in as ever', async () => {
    const user = await expired();
    const browser = newBrowser();
    const factor = await browser.signIn(await browser.visit('/signin'), user);
    assert.equal((await browser.submit(factor, 'factor-form', { passCode: wrongCode(user.secret) })).status, 400);
    asksForPassword(await browser.submit(factor, 'factor-form', { passCode: codeOf(user.secret, 1) }));
    asksForPassword(await browser.submit(factor, 'factor-form', { passCode: codeOf(user.secret, 1) }));
    asksForPassword(await browser.visit('/signin'));
    const form = await browser.visit('/signin');
    const ends = await Promise.all(
      Array.from({ length: 20 }, (_, n) => browser.window().submit(form, FORM, { password: `choice of number ${n}` })),
    );
    assert.equal(ends.filter(({ url }) => url.pathname === '/account').length, 1);
    const gone = newBrowser();
    let page = await gone.signIn(await gone.visit('/signin'), await expired());
    for (let turn = 0; turn < 5; turn += 1) page = await gone.submit(page, 'factor-form', { passCode: '000000x' });
    asksToSignIn(page);
  });

  await t.test('somebody else can sign in from each of the pages', async () => {
    const user = await expired();
    const browser = newBrowser();
    const factor = await browser.signIn(await browser.visit('/signin'), user);
    const form = await browser.submit(factor, 'factor-form', { passCode: codeOf(user.secret, 1) });
    asksToSignIn(await browser.submit(form, 'restart-form'));
    asksToSignIn(await browser.visit('/signin'));
  });

  await t.test('what is proved before ends with a reset of the password or a suspension, and after ten minutes', async (t) => {
    for (const step of ['reset_password?sendEmail=false', 'suspend'] as const) {
      const user = await expired();
      const browser = newBrowser();
      const factor = await browser.signIn(await browser.visit('/signin'), user);
      const waiting = newBrowser();
      const form = await waiting
        .signIn(await waiting.visit('/signin'), user)
        .then((page) => waiting.submit(page, 'factor-form', { passCode: codeOf(user.secret, 1) }));
      asksForPassword(form);
      const { status } = await service.api('POST', `/users/${user.id}/lifecycle/${step}`);
      // Suspended is only who is active.
      if (status !== 200) continue;
      asksToSignIn(await browser.submit(factor, 'recovery-form', { recoveryCode: user.recoveryCodes[0] ?? '' }));
      asksToSignIn(await waiting.submit(form, FORM, { password: NEW }));
    }
    const user = await expired();
    const browser = newBrowser();
    const factor = await browser.signIn(await browser.visit('/signin'), user);
    const form = await browser.submit(factor, 'factor-form', { passCode: codeOf(user.secret, 1) });
    moveClock(t, 601);
    asksToSignIn(await browser.submit(form, FORM, { password: NEW }));
  });

  await t.test('by API: MFA_REQUIRED, then PASSWORD_EXPIRED, then SUCCESS, with true amr (Okta Authentication API)', async () => {
    const user = await expired();
    const first = await authn('', { username: user.login, password: user.password });
    assert.deepEqual([first.status, first.body.status, first.body.sessionToken], [200, 'MFA_REQUIRED', undefined]);
    const change = (stateToken: string, oldPassword = user.password) =>
      authn('/credentials/change_password', { stateToken, oldPassword, newPassword: NEW });
    assert.deepEqual([(await change(first.body.stateToken)).status], [401], 'not before the factor');
    const factorId = first.body._embedded.factors[0].id;
    const verify = (stateToken: string, passCode: string) => authn(`/factors/${factorId}/verify`, { stateToken, passCode });
    const second = await verify(first.body.stateToken, codeOf(user.secret, 1));
    assert.deepEqual([second.status, second.body.status, second.body.sessionToken], [200, 'PASSWORD_EXPIRED', undefined]);
    assert.equal((await verify(second.body.stateToken, codeOf(user.secret, 1))).status, 401, 'the factor was proved');
    const onPage = newBrowser();
    const page = await onPage.visit('/signin');
    const csrf = /name="csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
    const moved = await fetch(`${service.baseUrl}/signin/password`, {
      method: 'POST',
      body: new URLSearchParams({ csrf, password: NEW }),
      headers: {
        origin: service.baseUrl,
        cookie: `gatehouse-form=${onPage.cookie('gatehouse-form')}; gatehouse-sign-in=${second.body.stateToken}`,
      },
    });
    assert.match(await moved.text(), /id="sign-in-form"/, 'its state token is worth nothing on the pages');
    assert.equal((await change(second.body.stateToken, 'wrong')).status, 401);
    const third = await change(second.body.stateToken);
    assert.deepEqual([third.status, third.body.status], [200, 'SUCCESS'], JSON.stringify(third.body));
    assert.equal((await change(second.body.stateToken, NEW)).status, 401, 'once');
    const url = request({ prompt: 'none', sessionToken: third.body.sessionToken, acr_values: TWO_FACTORS });
    assert.deepEqual((await claimsOf(await newBrowser().visit(url))).amr, ['pwd', 'otp', 'mfa']);
  });

  await t.test('a state token stands there as a digest', async () => {
    const user = await expired();
    const { body } = await authn('', { username: user.login, password: user.password });
    const { rows } = await onServer(service.database.url, (sql) =>
      sql.query('SELECT to_jsonb(s)::text AS row FROM sign_in_states s WHERE user_id = $1', [user.id]),
    );
    assert.equal(rows.length, 1);
    assert.ok(!rows[0].row.includes(body.stateToken));
  });
});

test('switching the language stays on the page of the expired password, the problem, and the second step', async (t) => {
  const service = await startService(t);
  const client = await createClient(service);
  const user = await service.createUser();
  await service.api('POST', `/users/${user.id}/lifecycle/expire_password`);
  for (const start of ['/signin', authorizeUrl(service, 'built-in', { client_id: client.clientId })]) {
    const browser = new UserAgent(service.baseUrl);
    const page = await browser.signIn(await browser.visit(start), user);
    const german = (from: Page) => {
      const link = /<a[^>]*href="(\?[^"]*language=de[^"]*)"/.exec(from.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
      return browser.visit(new URL(link, from.url));
    };
    const refused = await browser.submit(page, FORM, { password: 'short' });
    assert.equal(refused.status, 400);
    for (const from of [page, refused]) {
      const switched = await german(from);
      assert.match(switched.text, /id="choose-password-form"/);
      assert.match(switched.text, /<html lang="de"/);
      assert.match(switched.text, /Ihr Passwort ist abgelaufen/);
    }
  }
});
