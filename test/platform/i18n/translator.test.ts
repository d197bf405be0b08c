/** Texts of the console: what is looked up, what is data, and how values are written (ECMA-402). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decideStep, LIFECYCLE_STEPS, USER_STATUSES } from '../../../src/features/users/user-lifecycle.policy.ts';
import { counted, phrase, quoted, refusalText, series, verbatim } from '../../../src/platform/i18n/phrase.ts';
import { timesIn } from '../../../src/platform/i18n/times.ts';
import { translatorOf } from '../../../src/platform/i18n/translator.ts';

const english = translatorOf({ lang: 'en' });
const german = translatorOf({ lang: 'de' });

test('a string is looked up where a text is expected, and stays as it is where a value is', () => {
  assert.equal(german.t('Active'), 'Aktiv');
  assert.equal(german.v('Active'), 'Active');
  assert.equal(german.t(verbatim('Active')), 'Active', 'a name where a text is expected');
  assert.equal(german.v(phrase('Active')), 'Aktiv', 'a text where a value is expected');
  assert.equal(german.t(phrase('Welcome, {name}.', { name: 'Active' })), 'Willkommen, Active.', 'a value is never translated');
});

test('a value with braces is not filled in again', () => {
  assert.equal(english.t(phrase('{a} {b}', { a: '{b}', b: 'x' })), '{b} x');
});

test('numbers, dates and lists follow the language', () => {
  assert.equal(english.v(12_345), '12,345');
  assert.equal(german.v(12_345), '12.345');
  assert.equal(english.when({ iso: '2026-11-21T14:15:00.000Z' }), '21 Nov 2026, 14:15\u00a0UTC');
  assert.equal(german.when({ iso: '2026-11-21T14:15:00.000Z' }), '21.11.2026, 14:15\u00a0UTC');
  const iso = '2026-11-21T23:15:07.000Z';
  assert.equal(english.time({ iso }), `<time datetime="${iso}">21 Nov 2026, 23:15\u00a0UTC</time>`, 'the browser makes it its own');
  assert.equal(
    timesIn('en', 'Asia/Tokyo').element({ iso }),
    `<time datetime="${iso}" title="21 Nov 2026, 23:15\u00a0UTC">22 Nov 2026, 08:15</time>`,
  );
  assert.equal(
    timesIn('de', 'Asia/Tokyo').element({ iso, isDay: true }),
    `<time datetime="${iso}" data-day title="21.11.2026, 23:15\u00a0UTC">22. November 2026</time>`,
  );
  assert.match(german.when({ iso: '2026-11-21T14:15:07.123Z', isExact: true }), /14:15:07,123/);
  assert.equal(english.v([phrase('an access token'), quoted('x')]), 'an access token and “x”');
  assert.equal(german.v([phrase('an access token'), quoted('x')]), 'ein Access-Token und „x“');
  assert.equal(english.v(series(['a', 'b', 'c'])), 'a, b, c');
});

test('a text that counts has the form that the language needs', () => {
  const users = (count: number) => counted(count, '{count} user', '{count} users');
  assert.deepEqual(
    [0, 1, 5002].map((count) => english.t(users(count))),
    ['0 users', '1 user', '5,002 users'],
  );
  const days = (count: number) => counted(count, '{count} day', '{count} days');
  assert.deepEqual(
    [1, 2].map((count) => german.t(days(count))),
    ['1 Tag', '2 Tage'],
  );
  assert.deepEqual(
    [1, 2].map((count) => translatorOf({ lang: 'zh-Hans' }).t(days(count))),
    ['1 天', '2 天'],
  );
});

test('a refusal comes with its values filled in', () => {
  assert.equal(german.t(refusalText('is required')), 'ist erforderlich');
  assert.equal(german.t(refusalText('must have at most 255 characters')), 'darf höchstens 255 Zeichen lang sein');
});

test('words in a refusal are translated, and the most specific pattern counts', () => {
  assert.equal(german.t(refusalText('must contain only code (profile fapi2)')), 'darf nur code enthalten (Profil fapi2)');
  assert.equal(
    german.t(refusalText('the limit of 50 zones is reached. Delete one first')),
    'die Grenze von 50 Zonen ist erreicht. Löschen Sie zuerst etwas davon',
  );
});

test('a text without a translation is drawn in English and reported; glue is not', () => {
  const missing: string[] = [];
  const { t } = translatorOf({ lang: 'de' }, (text) => missing.push(text));
  assert.equal(t('Made up by this test'), 'Made up by this test');
  assert.equal(t(phrase('{first} – {next}', { first: 'a', next: 'b' })), 'a – b');
  assert.equal(t(counted(1, '{count} unicorn', '{count} unicorns')), '1 unicorn');
  assert.deepEqual(missing, ['Made up by this test', '{count} unicorn']);
});

test('numbers, lists and alternatives in a refusal follow the language', () => {
  const ofUser = 'the user is SUSPENDED, but expire_password requires ACTIVE or LOCKED_OUT';
  assert.equal(
    german.t(refusalText(ofUser)),
    'der Status des Benutzers ist „Suspendiert“, aber „Passwort ablaufen lassen“ erfordert „Aktiv“ oder „Gesperrt“',
  );
  assert.equal(translatorOf({ lang: 'zh-Hans' }).t(refusalText(ofUser)), '用户状态为“已暂停”，但“使密码过期”需要“有效”或“已锁定”');
  assert.equal(
    german.t(refusalText('the department still has members. Remove them first')),
    'die Abteilung hat noch: Mitglieder. Entfernen Sie diese zuerst',
  );
  assert.equal(
    german.t(refusalText('is used in conditions: claim team, rule Staff, rule Guests. Remove it there first')),
    'wird in Bedingungen verwendet: Claim team, Regel Staff und Regel Guests. Entfernen Sie ihn dort zuerst',
  );
  assert.equal(german.t(refusalText('must be a or b or c')), 'muss a, b oder c sein');
  assert.match(
    german.t(refusalText('A bulk action takes at most 20,000 rows. Narrow the list or split the file.')),
    /höchstens 20\.000 Zeilen/,
  );
});

test('every status and step of a user is a word in each language', () => {
  for (const lang of ['de', 'es', 'zh-Hans'])
    for (const step of LIFECYCLE_STEPS)
      for (const status of USER_STATUSES) {
        const decision = decideStep(step, {
          ...{ status, hasPassword: true, awaitsApproval: false, hasWayToSignIn: true, isSelf: true, isLastSuperAdmin: false },
        });
        if (!('refused' in decision)) continue;
        const missing: string[] = [];
        const text = translatorOf({ lang }, (word) => missing.push(word)).t(refusalText(decision.refused));
        assert.deepEqual(missing, [], text);
      }
});
