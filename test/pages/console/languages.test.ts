/** The catalogs of the console's languages: the same texts in each, and none that is unused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import de from '../../../views/locales/console.de.json' with { type: 'json' };
import es from '../../../views/locales/console.es.json' with { type: 'json' };
import zh from '../../../views/locales/console.zh.json' with { type: 'json' };
import { sourceTexts, viewTexts } from './console-texts.ts';

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

test('no text of the catalogs is unused', () => {
  const { literals, patterns } = sourceTexts(() => true);
  const isUsed = (text: string): boolean => literals.has(text) || patterns.some((pattern) => pattern.test(text));
  const views = new Set(viewTexts());
  const unused = Object.keys(de.pages).filter((text) => !views.has(text) && !isUsed(text));
  assert.deepEqual(unused, []);
});
