/** `settings/sign-in.passkeyOffer`: a passkey is offered after a sign-in without one; what it leads to, and that a refusal stays. With an authenticator in software. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { answerOf } from '../../protocol/servers/relying-party.ts';
import { moveClock } from '../../support/clock.ts';
import { codeOf, enrolledUser, recoveryCodesOn, TWO_FACTORS } from '../../support/factors.ts';
import { Authenticator, askedOn, prove, userWithPasskey } from '../../support/passkeys.ts';
import { startService, startTwo } from '../../support/service.ts';
import type { Page } from '../../support/user-agent.ts';
import { harness, isAt, SECURITY } from './passkey-harness.ts';

const isOffered = (page: Page) => assert.match(page.text, /id="decline-passkey"/, page.text.slice(0, 3000));
const isDone = (page: Page) => assert.ok(answerOf(page).code, page.text.slice(0, 3000));

async function offering(t: TestContext, service?: Parameters<typeof harness>[1]) {
  const parts = await harness(t, service);
  assert.equal((await parts.service.api('PUT', '/settings/sign-in', { passkeyOffer: true })).status, 200);
  return parts;
}

test('a passkey is offered after a sign-in by password', async (t) => {
  const { service, request, newBrowser, claimsOf, outcomes } = await offering(t);

  await t.test('made: recovery codes, two factors, and it signs in from then on', async () => {
    const user = await service.createUser();
    const browser = newBrowser();
    const offer = await browser.signIn(await browser.visit(request()), user);
    isOffered(offer);
    const authenticator = new Authenticator(service.baseUrl);
    const shown = await browser.submit(offer, 'passkey-form', { credential: authenticator.create(askedOn(offer)) });
    assert.equal(recoveryCodesOn(shown).length, 10);
    const claims = await claimsOf(answerOf(await browser.submit(shown, 'enrolled-form')).code);
    assert.deepEqual([claims.sub, claims.amr, claims.acr], [user.id, ['pwd', 'hwk', 'user', 'mfa'], TWO_FACTORS]);
    assert.equal((await outcomes('user.session.start', user.id)).length, 1, 'one sign-in is noted');
    const other = newBrowser();
    isDone(await prove(other, await other.visit(request()), authenticator));
    const third = newBrowser();
    const asked = await third.signIn(await third.visit(request()), user);
    assert.match(asked.text, /id="recovery-form"/, 'the password needs it from then on');
    isDone(await prove(third, asked, authenticator));
  });

  await t.test('made by the password manager alone: it proves nothing now, and signs in with its user verified', async () => {
    const user = await service.createUser();
    const browser = newBrowser();
    const offer = await browser.signIn(await browser.visit(request()), user);
    const authenticator = new Authenticator(service.baseUrl, { multiDevice: true });
    const credential = authenticator.create(askedOn(offer), { userPresent: false, userVerified: false });
    const shown = await browser.submit(offer, 'passkey-form', { credential });
    const claims = await claimsOf(answerOf(await browser.submit(shown, 'enrolled-form')).code);
    assert.deepEqual(claims.amr, ['pwd']);
    const other = newBrowser();
    const page = await other.visit(request());
    assert.match((await prove(other, page, authenticator, { userVerified: false })).text, /id="error-summary"/);
    isDone(await prove(other, await other.visit(request()), authenticator));
    // On the page of the account a passkey is made by its user alone.
    const plain = await service.createUser();
    const own = newBrowser();
    const security = await own.submit(await own.signIn(await own.visit(SECURITY), plain), 'offer-form');
    const form = await own.submit(security, 'add-passkey-form');
    const silent = new Authenticator(service.baseUrl).create(askedOn(form), { userPresent: false, userVerified: false });
    assert.match((await own.submit(form, 'passkey-form', { credential: silent })).text, /The passkey was not added/);
  });

  await t.test('declined: on into the application, and never again in any browser', async () => {
    const user = await service.createUser();
    const browser = newBrowser();
    const offer = await browser.signIn(await browser.visit(request()), user);
    const unable = await browser.submit(offer, 'offer-form', { answer: 'unable' });
    isDone(unable);
    const other = newBrowser();
    const again = await other.signIn(await other.visit(request()), user);
    isOffered(again);
    const claims = await claimsOf(answerOf(await other.submit(again, 'offer-form')).code);
    assert.deepEqual(claims.amr, ['pwd']);
    const third = newBrowser();
    isDone(await third.signIn(await third.visit(request()), user));
    assert.deepEqual(await outcomes('user.mfa.passkey_offer.decline', user.id), ['SUCCESS']);
    assert.equal((await outcomes('user.session.start', user.id)).length, 3);
  });

  await t.test('it waits in its own browser and at its own place, and is answered once', async () => {
    const user = await service.createUser();
    const browser = newBrowser();
    const offer = await browser.signIn(await browser.visit(request()), user);
    isOffered(await browser.visit(offer.url));
    const before = browser.window();
    isDone(await browser.submit(offer, 'offer-form'));
    const late = await before.submit(offer, 'offer-form');
    assert.equal(answerOf(late).code, undefined);
  });

  await t.test('to users with an app once they have used it; not to those who have a passkey', async () => {
    const user = await enrolledUser(service);
    moveClock(t, 60);
    const browser = newBrowser();
    const page = await browser.signIn(await browser.visit(request()), user);
    const offer = await browser.submit(page, 'factor-form', { passCode: codeOf(user.secret) });
    isOffered(offer);
    const authenticator = new Authenticator(service.baseUrl);
    isDone(await browser.submit(offer, 'passkey-form', { credential: authenticator.create(askedOn(offer)) }));
    const other = newBrowser();
    isDone(await prove(other, await other.visit(request()), authenticator));
  });

  await t.test('not where passkeys are no way to sign in, nor where nothing is set', async () => {
    const user = await service.createUser();
    for (const settings of [{ passkeyOffer: true, methods: ['password'] }, {}]) {
      await service.api('PUT', '/settings/sign-in', settings);
      const browser = newBrowser();
      isDone(await browser.signIn(await browser.visit(request()), user));
    }
  });
});

test('twenty refusals at once, at two processes: one goes on', async (t) => {
  const [first, second] = await startTwo(t);
  const { request, newBrowser, outcomes } = await offering(t, first);
  const user = await first.createUser();
  const browser = newBrowser();
  const offer = await browser.signIn(await browser.visit(request()), user);
  const there = { ...offer, url: new URL(`${offer.url.pathname}${offer.url.search}`, second.listensAt) };
  const ends = await Promise.all(
    Array.from({ length: 20 }, (_, at) =>
      at % 2 ? browser.window().submit(offer, 'offer-form') : browser.window(second.listensAt).submit(there, 'offer-form'),
    ),
  );
  assert.ok(ends.every(({ status }) => status !== 403 && status < 500));
  assert.equal(ends.filter((page) => answerOf(page).code !== undefined).length, 1);
  assert.deepEqual(await outcomes('user.mfa.passkey_offer.decline', user.id), ['SUCCESS']);
});

test('password managers learn which passkeys count', async (t) => {
  const { service, newBrowser } = await harness(t);
  const { authenticator, browser, id, login } = await userWithPasskey(service);
  const told = (page: Page) => JSON.parse((/data-signals="([^"]*)"/.exec(page.text)?.[1] ?? '').replaceAll('&#34;', '"'));
  const page = await browser.visit(SECURITY);
  const { accepted, details } = told(page);
  assert.deepEqual(accepted, {
    rpId: 'localhost',
    userId: authenticator.userHandle,
    allAcceptedCredentialIds: [authenticator.credentialId],
  });
  assert.deepEqual([details.name, details.displayName], [login, login]);
  // An administrator removes it.
  const [factor] = (await service.api('GET', `/users/${id}/factors`)).body;
  assert.equal((await service.api('DELETE', `/users/${id}/factors/${factor.id}`)).status, 204);
  assert.deepEqual(told(await browser.visit(SECURITY)).accepted.allAcceptedCredentialIds, []);
  const other = newBrowser();
  const refused = await prove(other, await other.visit('/signin'), authenticator);
  assert.match(refused.text, new RegExp(`data-unknown="${authenticator.credentialId}"`));
  // One that counts, and is refused for another reason, is not forgotten.
  const kept = await userWithPasskey(service);
  const third = newBrowser();
  const wrong = await prove(third, await third.visit('/signin'), kept.authenticator, { foreignKey: true });
  assert.match(wrong.text, /id="error-summary"/);
  assert.doesNotMatch(wrong.text, /data-unknown/);
});

test('PASSKEY_RP_ID: passkeys of a former host go on, and it names who may use them (WebAuthn Level 3, related origins)', async (t) => {
  const service = await startService(t, { env: { PASSKEY_RP_ID: 'login.example.com' } });
  const { request, newBrowser } = await harness(t, service);
  const listed = await fetch(`${service.baseUrl}/.well-known/webauthn`);
  assert.match(listed.headers.get('content-type') ?? '', /^application\/json/);
  assert.deepEqual(await listed.json(), { origins: [service.baseUrl] });
  const user = await userWithPasskey(service);
  const browser = newBrowser();
  const page = await browser.visit(request());
  assert.equal(askedOn(page).rpId, 'login.example.com');
  const refused = await prove(browser, page, user.authenticator, { rpId: 'localhost' });
  assert.match(refused.text, /id="error-summary"/);
  isDone(await prove(browser, refused, user.authenticator));
  const plain = await harness(t);
  assert.equal((await fetch(`${plain.service.baseUrl}/.well-known/webauthn`)).status, 404);
  isAt(await browser.visit(SECURITY), SECURITY);
});
