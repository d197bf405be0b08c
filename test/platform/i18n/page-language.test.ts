/** Which language a page is shown in: OpenID Connect Core 1.0 section 3.1.2.1 (`ui_locales`), RFC 9110 section 12.5.4 (Accept-Language). */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { STANDARD_SCOPES } from '../../../config/authorization-servers.ts';
import { ENGLISH, isMessageKey, LANGUAGES } from '../../../src/platform/i18n/messages.ts';
import { type LanguagePreferences, negotiateLanguage } from '../../../src/platform/i18n/page-language.ts';
import de from '../../../views/locales/de.json' with { type: 'json' };
import en from '../../../views/locales/en.json' with { type: 'json' };
import es from '../../../views/locales/es.json' with { type: 'json' };
import zh from '../../../views/locales/zh.json' with { type: 'json' };
import { ALICE, CONSENT, cookieOf, type House, LOGIN, openHouse } from '../../features/sign-in/deps.ts';
import { PAGES as ACCOUNT_PAGES } from '../../pages/account/arrival.ts';

const NEGOTIATED: readonly (readonly [string, LanguagePreferences, string])[] = [
  ['nothing is known', {}, 'en'],
  ['the browser says', { accepted: ['es', 'de'] }, 'es'],
  ['what is not there is passed over', { accepted: ['fr-CH', 'de-CH', 'en'] }, 'de'],
  ['only what is not there', { accepted: ['fr', 'ja'] }, 'en'],
  ['no preference', { accepted: ['*'] }, 'en'],
  ['Chinese of any script or region', { accepted: ['zh-TW'] }, 'zh-Hans'],
  ['by script and region', { accepted: ['zh-Hans-CN'] }, 'zh-Hans'],
  ['tags have no case', { accepted: ['ES-MX'] }, 'es'],
  ['a choice of earlier beats the browser', { remembered: 'de', accepted: ['es'] }, 'de'],
  ['a broken cookie', { remembered: '<script>', accepted: ['es'] }, 'es'],
  ['the application beats a choice of earlier', { uiLocales: 'es', remembered: 'de', accepted: ['en'] }, 'es'],
  ['the application’s best that is there', { uiLocales: 'fr-CA fr zh', remembered: 'de' }, 'zh-Hans'],
  ['an application that asks for what is not there', { uiLocales: 'fr-CA fr', remembered: 'de', accepted: ['en'] }, 'de'],
  ['an application that asks for nothing', { uiLocales: '', accepted: ['de'] }, 'de'],
  ['a choice on the page beats all', { chosen: 'de', uiLocales: 'es', remembered: 'zh-Hans', accepted: ['en'] }, 'de'],
];

for (const [what, wishes, lang] of NEGOTIATED) {
  test(`${what}: ${JSON.stringify(wishes)} → ${lang}`, () => assert.equal(negotiateLanguage(wishes).lang, lang));
}

test('every language has the placeholders of the English texts, and no empty text', () => {
  const placeholders = (message: string) => [...message.matchAll(/\{\w+\}/g)].map(String).sort();
  for (const messages of [de, es, zh]) {
    for (const [key, message] of Object.entries(messages)) {
      assert(isMessageKey(key));
      assert.deepEqual(placeholders(message), placeholders(en[key]), `${key}: ${message}`);
      assert.notEqual(message.trim(), '', key);
    }
  }
});

test('the standard scopes are known by the texts that a new service begins with', () => {
  for (const { name, displayName, description } of STANDARD_SCOPES) {
    assert.equal(ENGLISH.text(`scope.${name}.name` as 'scope.openid.name'), displayName);
    assert.equal(ENGLISH.text(`scope.${name}.description` as 'scope.openid.description'), description);
  }
});

let deps: House;
describe('the language of pages', () => {
  before(async () => {
    deps = await openHouse();
    deps.interactions.set('uid-1', LOGIN).set('uid-2', CONSENT);
  });
  after(() => deps.close());

  const PAGES: readonly (readonly [string, Record<string, string>])[] = [
    ['/signin?signed-out', {}],
    ['/interaction/default/uid-1', cookieOf('uid-1')],
    ['/interaction/default/uid-2', cookieOf('uid-2')],
    ['/interaction/default/gone', cookieOf('gone')],
    ['/interaction/default/uid-1', {}],
    ['/interaction/default/changed', cookieOf('changed')],
    ['/interaction/default/unreachable', {}],
    ['/oauth/v1/authorize', {}],
    ['/oauth/v1/logout', {}],
    ['/nowhere', {}],
  ];

  for (const { lang, dir, text } of LANGUAGES) {
    const own = new Set(Object.keys(en).map((key) => text(key as keyof typeof en)));

    test(`every page in ${lang}: says so, offers the others, and leaves no placeholder`, async () => {
      const cookie = `session=${deps.aliceId}`;
      const pages = [...PAGES, ...ACCOUNT_PAGES.map((path) => [path, { cookie }] as const)];
      for (const [path, headers] of pages) {
        const answer = await deps.get(path, { ...headers, 'accept-language': `fr, ${lang};q=0.8, en;q=0.1` });
        const html = await answer.text();
        assert.ok(html.includes(`<html lang="${lang}" dir="${dir}">`), path);
        assert.equal(answer.headers.get('content-language'), lang, path);
        assert.match(answer.headers.get('vary') ?? '', /Accept-Language, Cookie/);
        assert.doesNotMatch(html.replace(/<script.*<\/script>/g, ''), /\{\w+\}|undefined|\[object/, path);
        for (const { lang: other, name } of LANGUAGES) {
          const current = other === lang ? ' aria-current="true"' : '';
          const link = new RegExp(
            `<a href="\\?[^"]*language=${other}" lang="${other}" hreflang="${other}" dir="ltr"${current}>${name}</a>`,
          );
          assert.match(html, link, path);
        }
        // Whole texts between tags; those that the two languages share are no false alarm.
        const foreign = Object.values(en).filter((message) => !own.has(message) && html.includes(`>${message}<`));
        assert.deepEqual(foreign, [], path);
      }
    });
  }

  test('a failed sign-in is told in the page’s language, with the title prefixed', async () => {
    const headers = { ...cookieOf('uid-1'), 'accept-language': 'de' };
    const html = await (await deps.post('/interaction/default/uid-1/login', { username: ALICE.login, password: 'x' }, headers)).text();
    assert.match(html, /<title>Fehler: Anmelden – Gatehouse<\/title>/);
    assert.match(html, /<a href="#password">Benutzername oder Passwort ist falsch/);
  });

  test('ui_locales of the request beats cookie and browser (OpenID Connect Core section 3.1.2.1)', async () => {
    deps.interactions.set('asked', { ...LOGIN, uid: 'asked', uiLocales: 'fr es-MX' });
    const cookie = `${cookieOf('asked').cookie}; gatehouse-language=de`;
    const html = await (await deps.get('/interaction/default/asked', { cookie, 'accept-language': 'zh' })).text();
    assert.match(html, /<html lang="es"/);
  });

  test('an account page keeps the language of its address for the sign-in page it redirects to', async () => {
    const answer = await deps.get('/account?language=de', {});
    assert.equal(answer.status, 303);
    assert.match(answer.headers.getSetCookie().join('\n'), /^gatehouse-language=de; path=\/;/m);
    const unasked = await deps.get('/account', {});
    assert.doesNotMatch(unasked.headers.getSetCookie().join('\n'), /gatehouse-language/);
  });

  test('a choice is kept in a cookie, and along the way it beats what the application asks for', async () => {
    deps.interactions.set('asked', { ...LOGIN, uid: 'asked', uiLocales: 'es' });
    const path = '/interaction/default/asked?application=app&language=de';
    const answer = await deps.get(path, cookieOf('asked'));
    const html = await answer.text();
    assert.match(html, /<html lang="de"/);
    const cookie = answer.headers.getSetCookie().find((set) => set.startsWith('gatehouse-language=')) ?? '';
    assert.match(cookie, /^gatehouse-language=de; path=\/; expires=[^;]+; samesite=lax; httponly$/i);
    for (const step of ['login', 'cancel']) {
      assert.ok(html.includes(`action="/interaction/default/asked/${step}?application=app&amp;language=de"`), step);
    }
    const back = await deps.get('/interaction/default/asked/login?application=app&language=de', cookieOf('asked'));
    assert.equal(back.headers.get('location'), path);
    const done = await deps.post('/interaction/default/asked/cancel?application=app&language=de', {}, cookieOf('asked'));
    assert.equal(done.headers.get('location'), '/oauth/v1/default/authorize/asked?application=app&language=de');
  });

  test('the switcher leads to the same page only: a query, whatever stands in the address (RFC 9700 section 4.11)', async () => {
    for (const path of [
      '/nowhere?language=//evil.example&next=https://evil.example',
      '//evil.example/?"><b>',
      '/signin?language=de&language=es',
    ]) {
      const answer = await deps.get(path);
      const html = await answer.text();
      assert.equal(answer.headers.get('location'), null);
      const links = [...html.matchAll(/<a href="([^"]*)" lang=/g)].map(([, href]) => href ?? '');
      assert.equal(links.length, LANGUAGES.length);
      for (const href of links) assert.match(href, /^\?[^<>"]*$/);
      assert.deepEqual(
        answer.headers.getSetCookie().filter((set) => set.startsWith('gatehouse-language')),
        [],
      );
    }
  });

  test('the rest of the address stays when the language changes', async () => {
    const html = await (await deps.get('/oauth/v1/authorize?client_id=a%26b&scope=openid+email&language=es')).text();
    assert.ok(html.includes('href="?client_id=a%26b&amp;scope=openid+email&amp;language=de"'));
  });

  test('standard scopes are told in the page’s language, changed and other ones as they are stored (decisions.md, "Consent")', async () => {
    const [email = { name: '', displayName: '', description: '' }] = STANDARD_SCOPES.filter(({ name }) => name === 'email');
    const scopes = [
      { ...email, optional: false },
      { name: 'phone', displayName: 'Your mobile number', description: 'Your phone number', optional: false },
      { name: 'orders:read', displayName: 'Read your orders', description: '', optional: true },
    ];
    deps.interactions.set('scopes', {
      ...CONSENT,
      uid: 'scopes',
      consent: { scopes, details: [], resources: [], wholeProfile: false, staysConnected: true },
    });
    const html = await (await deps.get('/interaction/default/scopes', { ...cookieOf('scopes'), 'accept-language': 'de' })).text();
    assert.match(html, /<strong>Ihre E-Mail-Adresse<\/strong> <span>Ihre E-Mail-Adresse und ob sie bestätigt ist<\/span>/);
    assert.match(html, /<strong>Your mobile number<\/strong> <span>Ihre Telefonnummer<\/span>/);
    assert.match(html, /<label for="scope-0">Read your orders<\/label>/);
  });

  test('what the protocol says in English is marked as English', async () => {
    const html = await (await deps.get('/oauth/v1/authorize', { 'accept-language': 'de' })).text();
    assert.match(html, /<p id="error-description" class="notice" lang="en" dir="auto">redirect_uri is not registered</);
  });
});
