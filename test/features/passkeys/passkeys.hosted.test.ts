/** Passkeys on the hosted pages (WebAuthn Level 3 sections 7.1 and 7.2), with an authenticator in software: what is accepted, and what is not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf } from '../../protocol/servers/relying-party.ts';
import { moveClock } from '../../support/clock.ts';
import { recoveryCodesOn, TWO_FACTORS } from '../../support/factors.ts';
import { askedOn, type Deviation, prove, userWithPasskey } from '../../support/passkeys.ts';
import { startService, startTwo } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';
import { challengeIn, harness, isAt, problemOn, SECURITY } from './passkey-harness.ts';

test('signing in by a passkey alone', async (t) => {
  const { service, request, newBrowser, claimsOf, outcomes } = await harness(t);

  await t.test('at an authorization request: amr, acr and auth_time are true (RFC 8176, OpenID Connect Core 2)', async () => {
    for (const multiDevice of [false, true]) {
      const user = await userWithPasskey(service, { options: { multiDevice } });
      const browser = newBrowser();
      const page = await browser.visit(request({ acr_values: TWO_FACTORS }));
      const { rpId, userVerification, allowCredentials } = askedOn(page);
      assert.deepEqual([rpId, userVerification, allowCredentials], ['localhost', 'required', undefined]);
      const before = Math.floor(Date.now() / 1000);
      const claims = await claimsOf(answerOf(await prove(browser, page, user.authenticator)).code);
      assert.deepEqual([claims.sub, claims.amr, claims.acr], [user.id, [multiDevice ? 'swk' : 'hwk', 'user', 'mfa'], TWO_FACTORS]);
      assert.ok(claims.auth_time >= before - 1 && claims.auth_time <= before + 60);
      assert.deepEqual((await outcomes('user.session.start', user.id)).length, 2);
      assert.deepEqual(await outcomes('user.authentication.auth_via_mfa', user.id), ['SUCCESS']);
      assert.ok((await service.api('GET', `/users/${user.id}`)).body.lastLogin);
    }
  });

  await t.test('at /signin, and on to the page of the account, whose changes ask for nothing more', async () => {
    const user = await userWithPasskey(service);
    const browser = newBrowser();
    isAt(await prove(browser, await browser.visit('/signin'), user.authenticator), '/account');
    const { code } = answerOf(await browser.visit(request({ prompt: 'none', acr_values: TWO_FACTORS })));
    assert.ok(code);
    const other = newBrowser();
    const security = await prove(other, await other.visit(SECURITY), user.authenticator);
    isAt(security, SECURITY);
    assert.equal(recoveryCodesOn(await other.submit(security, 'recovery-codes-form')).length, 10);
  });

  await t.test('an authenticator that counts, and one that does not, sign in again and again (section 6.1.1)', async () => {
    for (const counts of [true, false]) {
      const user = await userWithPasskey(service, { options: { counts } });
      for (let turn = 0; turn < 3; turn += 1) {
        const browser = newBrowser();
        isAt(await prove(browser, await browser.visit('/signin'), user.authenticator), '/account');
      }
    }
  });

  await t.test('of twenty uses of one answer at once one succeeds, and none afterwards', async () => {
    for (const counts of [true, false]) {
      const user = await userWithPasskey(service, { options: { counts } });
      const browser = newBrowser();
      const page = await browser.visit('/signin');
      const credential = user.authenticator.get(askedOn(page));
      const ends = await Promise.all(Array.from({ length: 20 }, () => browser.window().submit(page, 'passkey-form', { credential })));
      assert.equal(ends.filter(({ url }) => url.pathname === '/account').length, 1);
      const late = await newBrowser()
        .submit(page, 'passkey-form', { credential })
        .then(({ status }) => status);
      assert.equal(late, 403, 'in another browser');
      const again = await browser.window().submit(page, 'passkey-form', { credential });
      assert.match(problemOn(again) ?? '', /passkey does not work here/);
      assert.equal((await outcomes('user.session.start', user.id)).length, 2, 'the password, and one passkey');
    }
  });

  await t.test('whatever is wrong is answered the same, and told in the audit log', async () => {
    const user = await userWithPasskey(service);
    const other = await userWithPasskey(service);
    const wrong: Record<string, [Deviation, string]> = {
      'another origin': [{ origin: 'https://evil.example' }, 'INVALID_PASSKEY'],
      'a subdomain': [{ origin: service.baseUrl.replace('//', '//sub.') }, 'INVALID_PASSKEY'],
      'another RP ID': [{ rpId: 'evil.example' }, 'INVALID_PASSKEY'],
      'another challenge': [{ challenge: Buffer.alloc(32, 7).toString('base64url') }, 'INVALID_PASSKEY'],
      'no user verification': [{ userVerified: false }, 'INVALID_PASSKEY'],
      'the answer of a creation': [{ type: 'webauthn.create' }, 'INVALID_PASSKEY'],
      'another key': [{ foreignKey: true }, 'INVALID_PASSKEY'],
      "another user's handle": [{ userHandle: other.authenticator.userHandle }, 'INVALID_PASSKEY'],
      'a key that leaves its device of a sudden': [{ multiDevice: true }, 'INVALID_PASSKEY'],
      'no handle': [{ userHandle: undefined }, 'INVALID_PASSKEY'],
      "another user's credential": [{ credentialId: other.authenticator.credentialId }, 'INVALID_PASSKEY'],
      'an unknown credential': [{ credentialId: 'dW5rbm93bg' }, 'UNKNOWN_PASSKEY'],
      'a count that went back': [{ signCount: 0 }, 'SIGN_COUNT_WENT_BACK'],
    };
    const browser = newBrowser();
    isAt(await prove(browser, await browser.visit('/signin'), user.authenticator), '/account');
    const answers = new Set<string>();
    for (const [what, [deviation, reason]] of Object.entries(wrong)) {
      const at = newBrowser();
      const page = await at.visit(request());
      const end = await prove(at, page, user.authenticator, deviation);
      assert.equal(end.status, 400, what);
      answers.add(problemOn(end) ?? '');
      assert.equal((await outcomes('user.authentication.failure'))[0], reason, what);
      assert.equal(at.cookie('gatehouse-session'), undefined, what);
    }
    for (const status of ['suspend', 'deactivate', 'expire_password'] as const) {
      const barred = await userWithPasskey(service);
      await service.api('POST', `/users/${barred.id}/lifecycle/${status}`);
      const at = newBrowser();
      const end = await prove(at, await at.visit(request()), barred.authenticator);
      assert.equal(end.status, 400, status);
      answers.add(problemOn(end) ?? '');
      assert.deepEqual(await outcomes('user.authentication.failure', barred.id), ['USER_NOT_ACTIVE']);
    }
    for (const credential of [
      '',
      '{}',
      'null',
      '[]',
      '{"id":1}',
      '{',
      'x'.repeat(10_000),
      '{"id":"\u0000","rawId":"\u0000","type":"public-key"}',
    ]) {
      const at = newBrowser();
      const end = await at.submit(await at.visit(request()), 'passkey-form', { credential });
      assert.equal(end.status, 400, credential.slice(0, 50));
      answers.add(problemOn(end) ?? '');
    }
    assert.deepEqual([answers.size, [...answers][0]?.includes('This passkey does not work here')], [1, true]);
    const honest = newBrowser();
    isAt(await prove(honest, await honest.visit('/signin'), user.authenticator), '/account');
  });

  await t.test('a challenge is of use in its browser, at its place, for its purpose, for ten minutes', async (t) => {
    const user = await userWithPasskey(service);
    const refused = async (from: Page, at: { browser: UserAgent; page: Page }, what: string) => {
      const credential = user.authenticator.get(askedOn(from));
      const end = await at.browser.submit(at.page, 'passkey-form', { credential, challenge: challengeIn(from) });
      assert.match(problemOn(end) ?? '', /passkey/, what);
    };
    const browser = newBrowser();
    const here = await browser.visit(request());
    const there = await browser.visit(request());
    await refused(there, { browser, page: here }, 'another authorization request');
    const standalone = await browser.visit('/signin');
    await refused(standalone, { browser, page: await browser.visit(request()) }, '/signin');
    const stranger = newBrowser();
    await refused(await stranger.visit('/signin'), { browser, page: await browser.visit('/signin') }, 'another browser');
    const factor = await browser.signIn(await browser.visit(request()), user);
    assert.match(factor.text, /id="factor-/.test(factor.text) ? /./ : /id="passkey-form"/);
    const fresh = newBrowser();
    await refused(factor, { browser: fresh, page: await fresh.visit('/signin') }, 'asked as second factor');
    const late = newBrowser();
    const page = await late.visit('/signin');
    moveClock(t, 601);
    await refused(page, { browser: late, page }, 'too late');
    const intime = await late.visit('/signin');
    moveClock(t, 590);
    isAt(await prove(late, intime, user.authenticator), '/account');
  });

  await t.test('two tabs of one browser do not disturb each other', async () => {
    const user = await userWithPasskey(service);
    const browser = newBrowser();
    const [one, two] = [await browser.visit('/signin'), await browser.visit('/signin')];
    isAt(await prove(browser, one, user.authenticator), '/account');
    isAt(await prove(browser, two, user.authenticator), '/account');
  });

  await t.test('a form of another site, or without its token, is refused', async () => {
    const browser = newBrowser();
    await browser.visit('/signin');
    for (const headers of [{ origin: 'https://evil.example' }, { origin: service.baseUrl }]) {
      assert.equal((await browser.send('/signin/passkey', { method: 'POST', body: new URLSearchParams(), headers })).status, 403);
    }
  });

  await t.test('wrong passwords that lock, and wrong codes, lock no passkey: it cannot be guessed', async () => {
    const user = await userWithPasskey(service);
    for (let turn = 0; turn < 10; turn += 1) {
      const browser = newBrowser();
      await browser.signIn(await browser.visit('/signin'), { ...user, password: 'wrong' });
    }
    assert.equal((await service.api('GET', `/users/${user.id}`)).body.status, 'LOCKED_OUT');
    const browser = newBrowser();
    isAt(await prove(browser, await browser.visit('/signin'), user.authenticator), '/account');
  });
});

test('too many passkeys that are refused bar the address, as wrong passwords do', async (t) => {
  const { service, newBrowser } = await harness(t);
  const user = await userWithPasskey(service);
  const statuses = [];
  for (let turn = 0; turn < 101; turn += 1) {
    const browser = newBrowser();
    const page = await browser.visit('/signin');
    statuses.push((await prove(browser, page, user.authenticator, { foreignKey: true })).status);
  }
  assert.deepEqual([statuses[0], statuses.at(-1)], [400, 429]);
  const browser = newBrowser();
  assert.equal((await prove(browser, await browser.visit('/signin'), user.authenticator)).status, 429);
});

test('two processes use one answer up once', async (t) => {
  const [first, second] = await startTwo(t);
  const user = await userWithPasskey(first, { options: { counts: false } });
  const browser = new UserAgent(first.baseUrl);
  const page = await browser.visit('/signin');
  const credential = user.authenticator.get(askedOn(page));
  const ends = await Promise.all(
    Array.from({ length: 20 }, async (_, turn) => {
      const at = turn % 2 === 0 ? first.listensAt : second.listensAt;
      const cookie = `gatehouse-form=${browser.cookie('gatehouse-form')}`;
      const csrf = /name="csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
      const body = new URLSearchParams({ csrf, challenge: challengeIn(page), credential });
      const answer = await fetch(`${at}/signin/passkey`, {
        method: 'POST',
        body,
        headers: { cookie, origin: first.baseUrl },
        redirect: 'manual',
      });
      await answer.arrayBuffer();
      return answer.status;
    }),
  );
  assert.deepEqual([ends.filter((status) => status === 303).length, ends.filter((status) => status === 400).length], [1, 19], String(ends));
});

test('an address without a name knows no passkeys (WebAuthn section 5.1.2, "RP ID")', async (t) => {
  const service = await startService(t, { env: { BASE_URL: 'http://127.0.0.1:9' } });
  const browser = new UserAgent(service.listensAt);
  const page = await browser.visit('/signin');
  assert.match(page.text, /id="sign-in-form"/);
  assert.doesNotMatch(page.text, /passkey/);
});

test('origin and RP ID are those of BASE_URL, whatever the Host header says', async (t) => {
  const service = await startService(t, { env: { BASE_URL: 'https://sso.example' } });
  const answer = await fetch(`${service.listensAt}/signin`, { headers: { host: 'evil.example', 'x-forwarded-host': 'evil.example' } });
  const page = { url: new URL(service.listensAt), status: answer.status, headers: answer.headers, text: await answer.text() };
  assert.equal(askedOn(page).rpId, 'sso.example');
});
