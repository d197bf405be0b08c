/** Passkeys as the second factor, and how they are made and removed (WebAuthn Level 3 sections 7.1 and 7.2), with an authenticator in software. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf } from '../../protocol/servers/relying-party.ts';
import { moveClock } from '../../support/clock.ts';
import { onServer } from '../../support/database.ts';
import { codeOf, enrolledUser, ONE_FACTOR, recoveryCodesOn, secretOn, TWO_FACTORS } from '../../support/factors.ts';
import { Authenticator, addPasskey, askedOn, type Deviation, type PasskeyUser, prove, userWithPasskey } from '../../support/passkeys.ts';
import type { Page, UserAgent } from '../../support/user-agent.ts';
import { challengeIn, harness, isAt, problemOn, SECURITY } from './passkey-harness.ts';

test('a passkey as the second factor', async (t) => {
  const { service, request, newBrowser, claimsOf, outcomes } = await harness(t);
  const asked = async (user: { login: string; password: string }) => {
    const browser = newBrowser();
    const page = await browser.signIn(await browser.visit(request()), user);
    assert.match(page.text, /id="passkey-form"/);
    return { browser, page };
  };

  await t.test('is asked for after the password, by name, and need not verify its user', async () => {
    const user = await userWithPasskey(service);
    const { browser, page } = await asked(user);
    const { allowCredentials, userVerification } = askedOn(page);
    assert.deepEqual([allowCredentials?.map(({ id }) => id), userVerification], [[user.authenticator.credentialId], 'preferred']);
    assert.doesNotMatch(page.text, /id="factor-form"/, 'he has no app');
    const end = await prove(browser, page, user.authenticator, { userVerified: false, userHandle: undefined });
    const claims = await claimsOf(answerOf(end).code);
    assert.deepEqual([claims.sub, claims.amr, claims.acr], [user.id, ['pwd', 'hwk', 'user', 'mfa'], TWO_FACTORS]);
    assert.deepEqual(await outcomes('user.authentication.auth_via_mfa', user.id), ['SUCCESS']);
  });

  await t.test("is no other user's; those refused neither end the sign-in nor lock", async () => {
    const user = await userWithPasskey(service);
    const other = await userWithPasskey(service);
    const { browser, page } = await asked(user);
    let shown = page;
    for (let turn = 1; turn <= 12; turn += 1) {
      shown = await prove(
        browser,
        shown,
        turn % 2 === 0 ? user.authenticator : other.authenticator,
        turn % 2 === 0 ? { foreignKey: true } : {},
      );
      assert.deepEqual([shown.status, /not accepted/.test(problemOn(shown) ?? '')], [400, true], `${turn}`);
    }
    assert.ok(answerOf(await prove(browser, shown, user.authenticator)).code);
    assert.deepEqual([...new Set(await outcomes('user.authentication.auth_via_mfa', user.id))].sort(), [
      'INVALID_PASSKEY',
      'SUCCESS',
      'UNKNOWN_PASSKEY',
    ]);
  });

  await t.test('of twenty uses of one answer at once one succeeds', async () => {
    const user = await userWithPasskey(service, { options: { counts: false } });
    const { browser, page } = await asked(user);
    const credential = user.authenticator.get(askedOn(page));
    await Promise.all(Array.from({ length: 20 }, () => browser.window().submit(page, 'passkey-form', { credential })));
    assert.equal((await outcomes('user.authentication.auth_via_mfa', user.id)).filter((outcome) => outcome === 'SUCCESS').length, 1);
  });

  await t.test('stands beside the app and the recovery code: each will do', async (t) => {
    const user = await enrolledUser(service);
    moveClock(t, 60);
    const owner = newBrowser();
    const factor = await owner.signIn(await owner.visit(SECURITY), user);
    const security = await owner.submit(factor, 'factor-form', { passCode: codeOf(user.secret) });
    const { shown, authenticator } = await addPasskey(owner, security);
    isAt(shown, SECURITY);
    assert.deepEqual(recoveryCodesOn(shown), [], 'he has recovery codes');
    assert.match(shown.text, /Codes left: 10/);
    const ways: ((browser: UserAgent, page: Page) => Promise<Page>)[] = [
      (browser, page) => prove(browser, page, authenticator),
      (browser, page) => browser.submit(page, 'factor-form', { passCode: codeOf(user.secret, 1) }),
      (browser, page) => browser.submit(page, 'recovery-form', { recoveryCode: user.recoveryCodes[0] ?? '' }),
    ];
    for (const way of ways) {
      const { browser, page } = await asked(user);
      assert.ok(answerOf(await way(browser, page)).code);
    }
  });

  await t.test('without JavaScript the page says what is missing, and takes a recovery code', async () => {
    const user = await userWithPasskey(service);
    const { browser, page } = await asked(user);
    assert.match(page.text, /<form id="passkey-form"[^>]* hidden/);
    assert.match(page.text, /id="passkey-needs">Passkeys need JavaScript/);
    assert.match(page.text, /<details[^>]* open>/);
    assert.match(page.text, /id="restart-form"/);
    assert.ok(answerOf(await browser.submit(page, 'recovery-form', { recoveryCode: user.recoveryCodes[0] ?? '' })).code);
  });

  await t.test('comes before another password in place of an expired one', async () => {
    const user = await userWithPasskey(service);
    await service.api('POST', `/users/${user.id}/lifecycle/expire_password`);
    const { browser, page } = await asked(user);
    const choice = await prove(browser, page, user.authenticator);
    assert.match(choice.text, /id="choose-password-form"/);
    const claims = await claimsOf(
      answerOf(await browser.submit(choice, 'choose-password-form', { password: 'seven-otters-in-a-row' })).code,
    );
    assert.deepEqual([claims.sub, claims.amr], [user.id, ['pwd', 'hwk', 'user', 'mfa']]);
  });

  await t.test('a session by password alone is asked for it where two factors are demanded, and keeps auth_time', async () => {
    const user = await service.createUser();
    const browser = newBrowser();
    const first = await claimsOf(answerOf(await browser.signIn(await browser.visit(request()), user)).code);
    assert.equal(first.acr, ONE_FACTOR);
    const owner = newBrowser();
    const { authenticator } = await addPasskey(owner, await owner.signIn(await owner.visit(SECURITY), user));
    const page = await browser.visit(request({ acr_values: TWO_FACTORS }));
    const claims = await claimsOf(answerOf(await prove(browser, page, authenticator)).code);
    assert.deepEqual([claims.amr, claims.acr, claims.auth_time], [['pwd', 'hwk', 'user', 'mfa'], TWO_FACTORS, first.auth_time]);
  });
});

test('a passkey is made', async (t) => {
  const { service, request, newBrowser, claimsOf, outcomes } = await harness(t);
  const factorsOf = async ({ id }: { id: string }) => (await service.api('GET', `/users/${id}/factors`)).body;
  const arrive = async (user: { login: string; password: string }) => {
    const browser = newBrowser();
    const page = await browser.signIn(await browser.visit(SECURITY), user);
    isAt(page, SECURITY);
    return { browser, page };
  };

  const userHandles = async (user: PasskeyUser) => {
    const again = await arrive(user);
    const asked = askedOn(await again.browser.submit(again.page, 'add-passkey-form'));
    return new Set([asked.user?.id, user.authenticator.userHandle]);
  };

  await t.test('at the sign-in that demands a second factor, in place of the app', async () => {
    const user = await service.createUser();
    const browser = newBrowser();
    const page = await browser.signIn(await browser.visit(request({ acr_values: TWO_FACTORS })), user);
    assert.match(secretOn(page), /^[A-Z2-7]{32}$/, 'the app is offered beside it');
    const authenticator = new Authenticator(service.baseUrl);
    const asked = askedOn(page);
    assert.deepEqual(asked.rp?.id, 'localhost');
    assert.deepEqual(asked.user?.name, user.login);
    assert.ok(!JSON.stringify(asked).includes(user.id), 'the handle does not tell who he is');
    assert.equal(asked.authenticatorSelection?.residentKey, 'required');
    assert.equal(asked.authenticatorSelection?.userVerification, 'required');
    const wrong = await browser.submit(page, 'passkey-form', { credential: authenticator.create(asked, { userVerified: false }) });
    assert.match(problemOn(wrong) ?? '', /was not added/);
    const shown = await browser.submit(wrong, 'passkey-form', { credential: authenticator.create(askedOn(wrong)) });
    assert.equal(recoveryCodesOn(shown).length, 10);
    const claims = await claimsOf(answerOf(await browser.submit(shown, 'enrolled-form')).code);
    assert.deepEqual([claims.amr, claims.acr], [['pwd', 'hwk', 'user', 'mfa'], TWO_FACTORS]);
    assert.deepEqual(await outcomes('user.mfa.factor.activate', user.id), ['SUCCESS']);
    const other = newBrowser();
    assert.ok(answerOf(await prove(other, await other.visit(request()), authenticator)).code);
    assert.deepEqual(
      (await factorsOf(user)).map((factor: { profile: unknown }) => factor.profile),
      [{ credentialId: authenticator.credentialId, authenticatorName: 'Passkey' }],
    );
  });

  await t.test('on the page of the account: several, each with its name, and one is removed after the other', async () => {
    const user = await userWithPasskey(service, { name: 'Phone' });
    let page = await user.browser.visit(SECURITY);
    assert.match(page.text, /Phone/);
    const asked = askedOn(await user.browser.submit(page, 'add-passkey-form'));
    assert.deepEqual(
      asked.excludeCredentials?.map(({ id }) => id),
      [user.authenticator.credentialId],
    );
    assert.equal(asked.user?.id, user.authenticator.userHandle, 'one handle for all his passkeys');
    const { shown, authenticator } = await addPasskey(user.browser, page, { name: 'Security key' });
    isAt(shown, SECURITY);
    assert.deepEqual(recoveryCodesOn(shown), []);
    const sees = async (holder: Authenticator) => {
      const browser = newBrowser();
      return (await prove(browser, await browser.visit('/signin'), holder)).url.pathname;
    };
    assert.deepEqual([await sees(user.authenticator), await sees(authenticator)], ['/account', '/account']);
    page = await user.browser.visit(SECURITY);
    page = await user.browser.submit(page, 'remove-passkey-1');
    assert.doesNotMatch(page.text, /Phone/);
    assert.deepEqual([await sees(user.authenticator), await sees(authenticator)], ['/signin/passkey', '/account']);
    assert.match(page.text, /Codes left: 10/);
    page = await user.browser.submit(page, 'remove-passkey-1');
    assert.doesNotMatch(page.text, /Codes left/, 'with the last factor go the recovery codes');
    assert.deepEqual(await factorsOf(user), []);
    const { body } = await service.api('GET', `/logs?filter=${encodeURIComponent('eventType sw "user.mfa.factor"')}&limit=200`);
    const told = body
      .filter(({ actor }: { actor: { id: string } }) => actor.id === user.id)
      .map(({ eventType, debugContext: { before, after } }: never) => [
        eventType,
        ((before as { factors: { name: string }[] }).factors ?? []).map(({ name }) => name),
        ((after as { factors: { name: string }[] }).factors ?? []).map(({ name }) => name),
      ]);
    assert.deepEqual(
      told.toSorted(),
      [
        ['user.mfa.factor.activate', ['Phone'], ['Phone', 'Security key']],
        ['user.mfa.factor.activate', [], ['Phone']],
        ['user.mfa.factor.deactivate', ['Phone', 'Security key'], ['Security key']],
        ['user.mfa.factor.deactivate', ['Security key'], []],
      ].toSorted(),
    );
    assert.equal((await userHandles(user)).size, 1, 'kept, so that an authenticator replaces its old passkey');
  });

  await t.test('each change asks for a fresh sign-in, with the factor of who has one', async (t) => {
    const user = await userWithPasskey(service);
    const page = await user.browser.visit(SECURITY);
    const asked = await user.browser.submit(page, 'add-passkey-form');
    const stolen = await service.createUser();
    const thief = await arrive(stolen);
    const thiefs = await thief.browser.submit(thief.page, 'add-passkey-form');
    const owner = await arrive(stolen);
    await addPasskey(owner.browser, owner.page);
    const credential = new Authenticator(service.baseUrl).create(askedOn(thiefs));
    isAt(await thief.browser.submit(thiefs, 'passkey-form', { credential }), '/signin');
    isAt(await thief.browser.submit(await thief.browser.visit(SECURITY), 'remove-passkey-1'), '/signin');
    assert.equal((await factorsOf(stolen)).length, 1);
    moveClock(t, 901);
    for (const [form, typed] of [
      ['add-passkey-form', {}],
      ['remove-passkey-1', {}],
    ] as const)
      isAt(await user.browser.submit(page, form, typed), '/signin');
    const late = new Authenticator(service.baseUrl).create(askedOn(asked));
    isAt(await user.browser.submit(asked, 'passkey-form', { credential: late }), '/signin');
    assert.equal((await factorsOf(user)).length, 1);
  });

  await t.test('what is no answer to what was asked makes none', async () => {
    const user = await service.createUser();
    const other = await userWithPasskey(service);
    const { browser, page } = await arrive(user);
    const wrong: Deviation[] = [
      { origin: 'https://evil.example' },
      { rpId: 'evil.example' },
      { challenge: Buffer.alloc(32, 7).toString('base64url') },
      { userVerified: false },
      { type: 'webauthn.get' },
      { credentialId: other.authenticator.credentialId },
    ];
    for (const deviation of wrong) {
      const asked = await browser.submit(page, 'add-passkey-form');
      const credential = new Authenticator(service.baseUrl).create(askedOn(asked), deviation);
      const end = await browser.submit(asked, 'passkey-form', { credential });
      assert.deepEqual([end.status, /was not added/.test(problemOn(end) ?? '')], [400, true], JSON.stringify(deviation));
    }
    const foreign = await other.browser.submit(await other.browser.visit(SECURITY), 'add-passkey-form');
    const asked = await browser.submit(page, 'add-passkey-form');
    const credential = new Authenticator(service.baseUrl).create(askedOn(foreign));
    const end = await browser.submit(asked, 'passkey-form', { credential, challenge: challengeIn(foreign) });
    assert.equal(end.status, 400, "another user's challenge");
    assert.deepEqual(await factorsOf(user), []);
    assert.equal((await factorsOf(other)).length, 1);
  });

  await t.test('twenty uses of one answer at once make one', async () => {
    const user = await service.createUser();
    const { browser, page } = await arrive(user);
    const asked = await browser.submit(page, 'add-passkey-form');
    const credential = new Authenticator(service.baseUrl).create(askedOn(asked));
    const ends = await Promise.all(Array.from({ length: 20 }, () => browser.window().submit(asked, 'passkey-form', { credential })));
    assert.equal(ends.filter((end) => recoveryCodesOn(end).length === 10).length, 1);
    assert.equal((await factorsOf(user)).length, 1);
  });

  await t.test('its name is data, whatever it is', async () => {
    for (const [name, shown] of [
      ['<script>alert(1)</script>', '&lt;script&gt;alert(1)&lt;/script&gt;'],
      ['مفتاح', 'مفتاح'],
      ['a\u0000b', 'Passkey'],
      ['x'.repeat(10_000), 'Passkey'],
      ['   ', 'Passkey'],
      ['  Phone ', '>Phone<'],
    ] as const) {
      const user = await userWithPasskey(service, { name });
      const { text } = await user.browser.visit(SECURITY);
      assert.ok(text.includes(shown), `${name.slice(0, 50)}: ${text}`);
      assert.ok(!text.includes('<script>alert'));
    }
  });

  await t.test('an app beside a passkey changes no recovery codes, and there is one app', async () => {
    const user = await userWithPasskey(service);
    const page = await user.browser.visit(SECURITY);
    const app = await user.browser.submit(page, 'app-form');
    const second = await user.browser.submit(page, 'app-form');
    const done = await user.browser.submit(app, 'enroll-form', { passCode: codeOf(secretOn(app)) });
    isAt(done, SECURITY);
    assert.match(done.text, /Codes left: 10/);
    assert.doesNotMatch(done.text, /id="app-form"/);
    const late = await user.browser.submit(second, 'enroll-form', { passCode: codeOf(secretOn(second)) });
    isAt(late, SECURITY);
    assert.deepEqual(
      (await factorsOf(user)).map(({ factorType }: { factorType: string }) => factorType),
      ['token:software:totp', 'webauthn'],
    );
  });

  await t.test('a user has twenty at most', async () => {
    const user = await userWithPasskey(service);
    for (let more = 1; more < 20; more += 1) await addPasskey(user.browser, await user.browser.visit(SECURITY));
    assert.equal((await factorsOf(user)).length, 20);
    const page = await user.browser.submit(await user.browser.visit(SECURITY), 'add-passkey-form');
    assert.match(page.text, /maximum number of passkeys/);
    assert.doesNotMatch(page.text, /id="passkey-form"/);
  });

  await t.test('nobody removes the passkey of another user, nor his own only way to sign in', async () => {
    const user = await userWithPasskey(service);
    const other = await userWithPasskey(service);
    const [{ id: factorId }] = await factorsOf(other);
    await user.browser.submit(await user.browser.visit(SECURITY), 'remove-passkey-1', { factorId });
    assert.equal((await factorsOf(other)).length, 1);
    const before = await user.browser.visit(SECURITY);
    await onServer(service.database.url, (sql) => sql.query('UPDATE users SET password_hash = NULL WHERE id = $1', [user.id]));
    const page = await user.browser.submit(before, 'remove-passkey-1');
    assert.match(page.text, /only way to sign in/);
    assert.equal((await factorsOf(user)).length, 1);
  });

  await t.test('a password does not replace the passkey where users do not sign in by password', async () => {
    const user = await userWithPasskey(service);
    const before = await user.browser.visit(SECURITY);
    await service.api('PUT', '/settings/sign-in', { methods: ['passkey'] });
    try {
      assert.match((await user.browser.submit(before, 'remove-passkey-1')).text, /only way to sign in/);
    } finally {
      await service.api('PUT', '/settings/sign-in', { methods: ['password', 'passkey'] });
    }
    assert.equal((await factorsOf(user)).length, 1);
  });
});
