/** The console in the languages of the other pages: all that it draws is translated, and data never is. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import cspell from '../../../cspell.json' with { type: 'json' };
import { WORDED_VALUES } from '../../../src/platform/i18n/translator.ts';
import de from '../../../views/locales/console.de.json' with { type: 'json' };
import es from '../../../views/locales/console.es.json' with { type: 'json' };
import zh from '../../../views/locales/console.zh.json' with { type: 'json' };
import { startService } from '../../support/service.ts';
import { enter } from './administrators.ts';
import { isOfConsole, noticeTexts, sourceTexts, viewTexts } from './console-texts.ts';
import { refusalTexts, VALUE } from './refusal-texts.ts';
import { LONG } from './tour.ts';
import { startOnTour } from './tours.ts';

/** The language in which pages are read: it keeps the fewest words of English, and the catalogs have the same texts. Both are tested first. */
const LANGUAGE = 'zh-Hans';

type Translation = string | Readonly<Record<string, string>>;
type Catalog = Readonly<Record<'pages' | 'errors', Readonly<Record<string, Translation>>>>;
const CATALOGS: Readonly<Record<string, Catalog>> = { de, es, zh };

const placeholdersOf = (text: string): string => [...new Set(text.match(/\{\w+\}/g))].sort().join(' ');
const formsOf = (translation: Translation): readonly string[] =>
  typeof translation === 'string' ? [translation] : Object.values(translation);
const lastFormOf = (translation: Translation): string => formsOf(translation).at(-1) ?? '';

test('the catalogs have the same texts, with the same placeholders and without an empty one', () => {
  for (const section of ['pages', 'errors'] as const) {
    const keys = Object.keys(de[section]);
    assert.deepEqual([...keys].sort(), keys, 'in order');
    for (const [language, catalog] of Object.entries(CATALOGS)) {
      assert.deepEqual(Object.keys(catalog[section]), keys, language);
      for (const [key, translation] of Object.entries(catalog[section])) {
        // A singular may leave its count out, as English does.
        assert.equal(placeholdersOf(lastFormOf(translation)), placeholdersOf(key), `${language}: ${key}`);
        for (const form of formsOf(translation)) assert.match(form, /\S/, `${language}: ${key}`);
      }
    }
  }
});

test('a text that is English in Chinese is so in every language', () => {
  const hasWords = (key: string): boolean => /\p{L}/u.test(key.replace(/\{\w+\}/g, ''));
  const isSame = (catalog: Catalog, key: string): boolean => formsOf(catalog.pages[key] ?? '').includes(key);
  assert.deepEqual(
    Object.keys(zh.pages).filter((key) => hasWords(key) && isSame(zh, key) && !(isSame(de, key) && isSame(es, key))),
    [],
  );
});

test('users are "they", and no text uses a word that cspell refuses in the docs', () => {
  const refused = new RegExp(`\\b(${[...cspell.flagWords, 'he', 'him', 'his'].join('|')})\\b`, 'i');
  const texts = [...Object.keys(de.pages), ...Object.keys(de.errors)];
  assert.deepEqual(
    texts.filter((text) => refused.test(text)),
    [],
  );
});

test('no text of the catalogs is unused', () => {
  const { literals, patterns } = sourceTexts(() => true);
  const isUsed = (text: string): boolean => literals.has(text) || patterns.some((pattern) => pattern.test(text));
  const views = new Set(viewTexts());
  const unused = Object.keys(de.pages).filter((text) => !views.has(text) && !isUsed(text));
  assert.deepEqual(unused, []);
});

test('every sentence of the console is translated', () => {
  const { literals } = sourceTexts((file) => file.endsWith('.console.ts') || file.startsWith('src/pages/console/'));
  const isTranslated = (text: string): boolean => Object.hasOwn(de.pages, text) || Object.hasOwn(de.errors, text);
  const missing = [...literals].filter((text) => / .*[.?]$/.test(text) && !isTranslated(text));
  assert.deepEqual(missing, []);
});

test('what views draw and what notices say is translated', () => {
  const missing = [...viewTexts(), ...noticeTexts()].filter((text) => !Object.hasOwn(de.pages, text));
  assert.deepEqual(missing, []);
});

/** What a placeholder of a refusal may stand for: a value, or a word of the protocol. */
const WORD = `[\\w.:${VALUE}-]+`;

function refusalPattern(key: string): RegExp {
  const escaped = key.replace(/[.*+?^$()|[\]\\]/g, '\\$&');
  return new RegExp(
    `^${escaped.replace(/\{(\w+)\}/g, (_, name: string) => (WORDED_VALUES.has(name) ? '(.+?)' : WORD)).replace(/[{}]/g, '\\$&')}$`,
  );
}

test('what services refuse with is translated, and no refusal of the catalogs is unused', () => {
  const keys = Object.keys(de.errors);
  const patterns = keys.map((key) => ({ key, pattern: refusalPattern(key) }));
  const used = new Set<string>();
  /** Only a text that is a value or words of a placeholder may be made of values alone. */
  function isTranslated(text: string): boolean {
    const found = patterns.flatMap(({ key, pattern }) => {
      const [whole, ...words] = pattern.exec(text) ?? [];
      return whole !== undefined && words.every((word) => word.startsWith(VALUE) || isTranslated(word)) ? [key] : [];
    });
    for (const key of found) used.add(key);
    return found.length > 0;
  }
  const missing = [...refusalTexts()].filter(([text, file]) => {
    const isDrawn = isOfConsole(file) && Object.hasOwn(de.pages, text);
    return !isTranslated(text) && !isDrawn;
  });
  assert.equal(listed(new Map(missing.map(([text, file]) => [text.replaceAll(VALUE, '…'), file]))), '', 'without a translation');
  const { literals, patterns: variable } = sourceTexts((file) => !file.endsWith('.api.ts'));
  // A message may begin a text of a page with a small letter.
  const isLiteral = (key: string): boolean => literals.has(key) || literals.has(key.charAt(0).toUpperCase() + key.slice(1));
  assert.deepEqual(
    keys.filter((key) => !used.has(key) && !isLiteral(key) && !variable.some((pattern) => pattern.test(key))),
    [],
    'unused',
  );
});

const entities: Readonly<Record<string, string>> = { '&#39;': "'", '&#34;': '"', '&amp;': '&', '&lt;': '<', '&gt;': '>' };
const decoded = (text: string): string => text.replace(/&(#39|#34|amp|lt|gt);/g, (entity) => entities[entity] ?? entity);

/** What a page shows and what it says to those who listen, but for what machines read. */
function shownIn(html: string): readonly string[] {
  const body = html.replace(/<(pre|code|textarea|script|style)\b[\s\S]*?<\/\1>/g, '');
  const texts = [...body.matchAll(/>([^<]+)</g)].map(([, text = '']) => text);
  const attributes = [...body.matchAll(/\s(?:aria-label|placeholder|data-label|data-copied|alt)="([^"]*)"/g)].map(([, text = '']) => text);
  return [...texts, ...attributes].map((text) => decoded(text).trim()).filter((text) => /\p{L}/u.test(text));
}

/** What is data although the source has it as well: protocol values, names of attributes and of event types, addresses, and names that tours and policies have. */
const DATA =
  /^[a-z]+([A-Z]\w*|\d?[._]\w+)*$|^(code|id_token)( id_token| token)+$|^(RS|ES|PS)256$|^EdDSA$|@|:\/\/|^(Nothing|Everyone|Authenticator app)$/;

/** Words that are the same in English, and data. */
const isShared = (text: string): boolean => zh.pages[text as keyof typeof zh.pages] === text || DATA.test(text);

/** They show the words of other pages as they are in English. */
const SHOWS_PAGES = /^\/(settings\/(texts|branding\/)|organizations\/[^/]+\/branding\/preview)/;

/** One line each, so that a failure shows all. */
const listed = (found: ReadonlyMap<string, string>): string => [...found].map(([text, where]) => `${text} (${where})`).join('\n');

test('the console is drawn in each language', async (t) => {
  const { agent } = await enter(await startService(t));
  for (const [language, { pages }] of [['de', de] as const, ['es', es] as const, [LANGUAGE, zh] as const]) {
    const { text } = await agent.visit(`/admin?language=${language}`);
    assert.match(text, new RegExp(`<html lang="${language}"`));
    const shown = shownIn(text);
    for (const label of ['Users', 'Groups', 'Applications'] as const) assert.ok(shown.includes(pages[label]), `${language}: ${label}`);
  }
});

test('every page of the console is translated', async (t) => {
  const untranslated = new Map<string, string>();
  let where = '';
  const onLog = (line: string) => {
    const { msg, lang, text } = JSON.parse(line);
    // A tour makes up the reason of a refused row.
    if (msg === 'a text of the console has no translation' && text !== LONG && !untranslated.has(text))
      untranslated.set(text, `${lang} ${where}`);
  };
  const { service, stops } = await startOnTour(t, { env: { LOG_LEVEL: 'debug' }, onLog });
  const { agent } = await enter(service);
  const { literals } = sourceTexts(isOfConsole);
  const asInEnglish = new Map<string, string>();
  await agent.visit(`/admin?language=${LANGUAGE}`);
  for (const stop of stops) {
    where = stop;
    const { status, text } = await agent.visit(`/admin${stop}`);
    assert.equal(status, 200, stop);
    assert.match(text, new RegExp(`<html lang="${LANGUAGE}"`), stop);
    // A list of page texts shows them as they are.
    if (SHOWS_PAGES.test(stop)) continue;
    for (const shown of shownIn(text)) if (literals.has(shown) && !isShared(shown)) asInEnglish.set(shown, stop);
  }
  assert.equal(listed(untranslated), '', 'texts without a translation, or data where a text is expected');
  assert.equal(listed(asInEnglish), '', 'texts of the source that are drawn as data');
});
