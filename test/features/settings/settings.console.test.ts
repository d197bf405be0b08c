/** Security → Sign-in policy and Passwords, Settings → Branding, without JavaScript: each with its effect where people sign in. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAdministrator, enter, SUPER, typedIn, wordsOf } from '../../pages/console/administrators.ts';
import { assertAccessible } from '../../support/accessibility.ts';
import { inBrowser } from '../../support/browser.ts';
import { codeOf, secretOn } from '../../support/factors.ts';
import { type Service, startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { openWindow, signIn } from '../../support/watched-page.ts';

const SIGN_IN = '/admin/security/sign-in-policy';
const PASSWORDS = '/admin/security/passwords';
const BRANDING = '/admin/settings/branding';

const lastChange = async (service: Service) =>
  (await service.api('GET', `/logs?sortOrder=DESCENDING&filter=${encodeURIComponent('eventType eq "system.settings.update"')}`)).body[0];

test('who needs a second factor is chosen, holds at the next sign-in, and leaves the lifetimes of sessions as they are', async (t) => {
  const service = await startService(t);
  await service.api('PUT', '/settings/sign-in', { sessionIdleMinutes: 77 });
  const { agent } = await enter(service);
  assert.match(wordsOf(await agent.visit(SIGN_IN)), /Second factor Users who have set one up/);
  const form = await agent.visit(`${SIGN_IN}/edit`);
  assert.match(form.text, /value="OPTIONAL" checked/);
  const user = await service.createUser();
  const next = async () => {
    const browser = new UserAgent(service.baseUrl);
    return browser.signIn(await browser.visit('/signin'), user);
  };
  assert.doesNotMatch((await next()).text, /otpauth|authenticator/i);
  const asked = await agent.submit(form, 'console-form', { mfa: 'EVERYONE' });
  const shown = await agent.submit(asked, 'enroll-form', { passCode: codeOf(secretOn(asked)) });
  const changed = await agent.submit(shown, 'enrolled-form');
  assert.match(wordsOf(changed), /The sign-in policy is changed.*Second factor Everyone/);
  assert.match((await next()).text, /authenticator/i, 'he sets one up');
  assert.deepEqual((await service.api('GET', '/settings/sign-in')).body, {
    sessionIdleMinutes: 77,
    sessionLifetimeDays: 30,
    identifierFirst: false,
    methods: ['password', 'passkey'],
    mfa: 'EVERYONE',
    mfaFrom: null,
    messageFactors: [],
    rememberBrowserDays: 0,
    passkeyOffer: false,
    passwordOptional: false,
    rules: [],
  });
  const event = await lastChange(service);
  assert.deepEqual(
    [event.actor.displayName, event.debugContext.before.mfa, event.debugContext.after.mfa],
    [SUPER.login, 'OPTIONAL', 'EVERYONE'],
  );
  const first = await agent.submit(form, 'console-form', { identifierFirst: 'true', mfa: 'OPTIONAL' });
  assert.match(wordsOf(first), /The sign-in page asks for The user name first/);
  assert.doesNotMatch((await new UserAgent(service.baseUrl).visit('/signin')).text, /name="password"/);
  const wrong = await agent.submit(form, 'console-form', { mfa: 'NOBODY' });
  assert.equal(wrong.status, 400);
  assert.match(wrong.text, /id="mfa-problem">Must be OPTIONAL or ADMINISTRATORS or EVERYONE</);
});

test('two administrators who change different things at once lose neither', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  const [policy, sessions] = [await agent.visit(`${SIGN_IN}/edit`), await agent.visit('/admin/security/sessions/edit')];
  const told = await Promise.all([
    agent.submit(policy, 'console-form', { identifierFirst: 'true' }),
    agent.submit(sessions, 'console-form', { sessionIdleMinutes: '99', 'sessionIdleMinutes-unit': 'minute' }),
  ]);
  for (const page of told) assert.match(wordsOf(page), /changed/);
  const { body } = await service.api('GET', '/settings/sign-in');
  assert.deepEqual([body.identifierFirst, body.sessionIdleMinutes], [true, 99]);
});

test('what passwords must be is changed, and asked of the next one; what is wrong stands beside its field', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  assert.match(wordsOf(await agent.visit(PASSWORDS)), /Minimum length 8 Password history 4 Expires Never/);
  const form = await agent.visit(`${PASSWORDS}/edit`);
  const wrong = await agent.submit(form, 'console-form', { minLength: '7', historyCount: '', maxAgeDays: 'soon' });
  assert.equal(wrong.status, 400);
  for (const [field, problem] of [
    ['minLength', 'Must be at least 8'],
    ['historyCount', 'Must be of type number'],
    ['maxAgeDays', 'Must be of type number'],
  ]) {
    assert.match(wrong.text, new RegExp(`id="${field}-problem">${problem}<`), field);
  }
  assert.equal(typedIn(wrong, 'maxAgeDays'), 'soon');
  assert.equal((await service.api('GET', '/settings/password')).body.minLength, 8);
  const changed = await agent.submit(wrong, 'console-form', { minLength: '15', historyCount: '0', maxAgeDays: '365' });
  assert.match(wordsOf(changed), /is changed.*Minimum length 15 Password history No history Expires After 365 days/);
  const credentials = { password: { value: 'only14letters!' } };
  const refused = await service.api('POST', '/users', { profile: { login: 'short' }, credentials });
  assert.match(refused.body.errorCauses[0].errorSummary, /at least 15 characters/);
  assert.equal((await lastChange(service)).actor.displayName, SUPER.login);
  const again = await agent.submit(await agent.visit(`${PASSWORDS}/edit`), 'console-form', { maxAgeDays: '' });
  assert.match(wordsOf(again), /Expires Never/);
});

test('the branding is looked at before it is saved; saved, it is on the sign-in page', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  const typed = {
    name: 'Haus & <Hof>',
    logoUrl: 'https://cdn.example/logo.svg',
    primaryColorHex: ' #7A1F5C ',
    supportUrl: 'https://help.example/',
  };
  const preview = await agent.submit(await agent.visit(`${BRANDING}/edit`), 'console-form', { ...typed, step: 'preview' });
  assert.match(
    wordsOf(preview),
    /Preview Nothing is saved yet\. .*Light.*Dark.*Lowest contrast: \d+\.\d\d:1.*E-mail.*Welcome to Haus &amp; &lt;Hof&gt;.*Choose a password/,
  );
  assert.match(preview.text, /<link rel="stylesheet" href="\/assets\/brand-preview\.css\?light=7a1f5c&amp;dark=[0-9a-f]{6}">/);
  assert.match(preview.headers.get('content-security-policy') ?? '', /img-src 'self' data: https:\/\/cdn\.example;/);
  assert.equal((await service.api('GET', '/settings/branding')).body.name, 'Gatehouse');
  assert.doesNotMatch(preview.text, /style=/);

  const further = await agent.submit(preview, 'console-form', { step: 'change' });
  assert.equal(typedIn(further, 'name'), 'Haus &amp; &lt;Hof&gt;');
  assert.equal(typedIn(further, 'primaryColorHex'), '#7A1F5C');
  assert.equal((await service.api('GET', '/settings/branding')).body.name, 'Gatehouse');
  const saved = await agent.submit(preview, 'console-form');
  assert.match(wordsOf(saved), /The branding is changed.*Colour #7a1f5c.*made from the other one.*Help https:\/\/help\.example\//);
  const page = await new UserAgent(service.baseUrl).visit('/signin');
  assert.match(page.text, /<title>Sign in – Haus &amp; &lt;Hof&gt;<\/title>[\s\S]*brand\.css\?light=7a1f5c/);
  assert.deepEqual(Object.keys((await lastChange(service)).debugContext.after).length, 11);
});

test('a colour by which people could not read is refused beside its field, with the nearest that passes, preview or not', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  const form = await agent.visit(`${BRANDING}/edit`);
  const typed = { primaryColorHex: '#ffd400', primaryColorDarkHex: 'dark blue', termsUrl: 'http://example.com/', name: '' };
  for (const step of ['preview', '']) {
    const refused = await agent.submit(form, 'console-form', { ...typed, step });
    assert.equal(refused.status, 400);
    const [, nearest = ''] =
      /id="primaryColorHex-problem">Is hard to read in light: links on the page would have a contrast of 1\.\d\d:1, but 4\.5:1 is required \(WCAG 2\.2, 1\.4\.3\)\. The nearest readable colour is (#[0-9a-f]{6})</.exec(
        refused.text,
      ) ?? [];
    assert.match(refused.text, /id="primaryColorDarkHex-problem">Must be a colour like #0f5c5c</);
    assert.match(refused.text, /id="termsUrl-problem">Must be a URL that begins with https:\/\/</);
    assert.match(refused.text, /id="name-problem">Must not be empty</);
    assert.equal(typedIn(refused, 'primaryColorHex'), '#ffd400');
    const taken = await agent.submit(form, 'console-form', { primaryColorHex: nearest, step: 'preview' });
    assert.equal(taken.status, 200, `${nearest} passes`);
  }
  assert.equal((await service.api('GET', '/settings/branding')).body.primaryColorHex, null);
});

test('an application’s sign-in page is previewed in its own colour, with its logo', async (t) => {
  const service = await startService(t);
  await service.api('PUT', '/settings/branding', { primaryColorHex: '#7a1f5c' });
  const logo = { logo_uri: 'https://logos.example/app.svg', redirect_uris: ['https://app.example/cb'] };
  const { clientId } = await service.createApp({ ...logo, brand_color: '#1a5fb4' });
  const { agent } = await enter(service);
  const list = await agent.visit(`${BRANDING}/applications`);
  assert.match(wordsOf(list), /Test application Its own #1a5fb4/);
  const preview = await agent.visit(`${BRANDING}/applications/${clientId}`);
  assert.match(wordsOf(preview), /Sign in to go on to Test application/);
  assert.match(preview.text, /brand-preview\.css\?light=1a5fb4/);
  assert.match(preview.text, /src="https:\/\/logos\.example\/app\.svg"/);
  assert.match(preview.headers.get('content-security-policy') ?? '', /img-src 'self' data: https:\/\/logos\.example;/);
  assert.match((await agent.visit(`${BRANDING}/preview`)).text, /brand-preview\.css\?light=7a1f5c/);
  assert.equal((await agent.visit(`${BRANDING}/applications/none`)).status, 404);
});

test('who may only read sees all of it, and no way to change it', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service, await createAdministrator(service, 'READ_ONLY_ADMIN'));
  for (const path of [SIGN_IN, PASSWORDS, BRANDING, `${BRANDING}/preview`, `${BRANDING}/applications`, '/admin/settings/mail']) {
    const page = await agent.visit(path);
    assert.equal(page.status, 200, path);
    assert.doesNotMatch(page.text, /\/edit"/, path);
  }
  for (const path of [SIGN_IN, PASSWORDS, BRANDING]) assert.equal((await agent.visit(`${path}/edit`)).status, 403, path);
});

test(
  'the preview shows both schemes at once, accessible in either, and no policy is broken',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const window = await openWindow(browser);
    const page = await window.open();
    await page.goto(`${service.baseUrl}${BRANDING}/edit`);
    await signIn(page, SUPER);
    await page.waitForURL(`${service.baseUrl}${BRANDING}/edit`);
    await page.fill('#primaryColorHex', '#7a1f5c');
    await page.fill('#primaryColorDarkHex', '#ffcc00');
    await page.click('#also');
    await page.waitForSelector('.preview-dark');
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const colours = await page.evaluate(
        "[...document.querySelectorAll('.preview-button')].map((one) => getComputedStyle(one).backgroundColor)",
      );
      const both = ['rgb(122, 31, 92)', 'rgb(255, 204, 0)'];
      // The sign-in page, and an e-mail.
      assert.deepEqual(colours, [...both, ...both], colorScheme);
    }
    await assertAccessible(page, 'preview');
    await page.click('#submit');
    await page.waitForURL(`${service.baseUrl}${BRANDING}`);
    window.assertQuiet();
  }),
);
