/** Settings → Page texts: the texts of the pages for end users in each language, searched by content and changed one by one. */

import { listPage } from '../../pages/console/detail-page.ts';
import { formPage } from '../../pages/console/form.ts';
import { keptOrder, type ListColumns } from '../../pages/console/list-state.ts';
import type { ConsolePage, Crumb, Drawn, Typed } from '../../pages/console/page.ts';
import { paged, pageIn } from '../../pages/console/paging.ts';
import { inPages } from '../../platform/database/paging.ts';
import { LANGUAGES } from '../../platform/i18n/messages.ts';
import { phrase, verbatim } from '../../platform/i18n/phrase.ts';
import { getPageText, listPageTexts, type PageText, resetPageText, setPageText } from './texts.service.ts';

const HOME = '/admin/settings/texts';
const SETTINGS: readonly Crumb[] = [{ label: 'Settings' }];
const CRUMBS: readonly Crumb[] = [...SETTINGS, { label: 'Page texts', href: HOME }];

const languageName = (lang: string): string => LANGUAGES.find((language) => language.lang === lang)?.name ?? lang;
const addressOf = ({ language, key }: Pick<PageText, 'language' | 'key'>): string =>
  `${HOME}/${encodeURIComponent(language)}/${encodeURIComponent(key)}`;

const COLUMNS: ListColumns = [
  { label: 'Text', by: 'text' },
  { label: 'Page', by: 'page' },
  { label: 'Language', by: 'language' },
  { label: 'State', by: 'customized', descending: true },
  { label: 'Key', by: 'key' },
];

const list: ConsolePage = {
  path: '/settings/texts',
  access: 'service',
  async show({ services, query }) {
    const q = (query.get('q') ?? '').trim();
    const language = query.get('language') ?? 'en';
    const changed = query.get('changed') === 'true';
    const filter = { q, ...(language !== 'all' && { language }), ...(changed && { customized: true }) };
    const all = await listPageTexts(services, filter);
    const found = inPages(all, pageIn(query, COLUMNS));
    return listPage({
      title: 'Page texts',
      lead: 'The texts of the pages for end users. You can change each of them.',
      crumbs: SETTINGS,
      list: {
        name: 'texts',
        rows: found.items.map((one) => ({
          cells: [
            { text: one.text, href: addressOf(one) },
            phrase(one.page),
            languageName(one.language),
            one.customized ? { text: phrase('Changed'), tone: 'plain' } : { text: phrase('Original'), soft: true },
            { text: one.key, code: true },
          ],
        })),
        empty: 'No texts match. Try other words or all languages.',
        search: {
          label: 'Words',
          q,
          fields: [
            {
              name: 'language',
              label: 'Language',
              value: language,
              options: [
                ...LANGUAGES.map(({ lang, name }) => ({ value: lang, label: verbatim(name) })),
                { value: 'all', label: 'All languages' },
              ],
            },
            {
              name: 'changed',
              label: 'State',
              value: changed ? 'true' : '',
              options: [
                { value: '', label: 'All' },
                { value: 'true', label: 'Changed' },
              ],
            },
          ],
          isNarrowed: q !== '' || changed || query.has('language'),
          kept: keptOrder(query),
        },
        ...paged(HOME, query, COLUMNS, found, 'text'),
      },
    });
  },
};

const written = (names: readonly string[]): string => names.map((name) => `{${name}}`).join(', ');

function editPage(one: PageText, typed: Typed): Drawn {
  const { variables, requiredVariables } = one;
  const words = variables.length === 0 ? 'Plain text. It has no variables.' : 'Plain text. Variables: {variables}.';
  const hint =
    requiredVariables.length === 0
      ? phrase(words, { variables: written(variables) })
      : phrase(`${words} The text must contain {required}.`, { variables: written(variables), required: written(requiredVariables) });
  return formPage(
    {
      title: 'Edit text',
      lead: phrase('{name}, {language}', { name: phrase(one.page), language: languageName(one.language) }),
      crumbs: CRUMBS,
      facts: [phrase('Original: {text}', { text: one.default })],
      fields: [
        {
          ...{ name: 'text', label: 'Text', kind: 'description', rows: 3, required: true, value: one.text },
          hint,
        },
      ],
      submit: 'Save',
      ...(one.customized && { also: { label: 'Reset to the original', step: 'reset' } }),
      cancel: HOME,
    },
    typed,
  );
}

const edit: ConsolePage = {
  path: '/settings/texts/:language/:key',
  access: 'service',
  verb: 'write',
  show: async ({ services, params: { language = '', key = '' } }, typed) => editPage(await getPageText(services, language, key), typed),
  async receive({ services, request, params: { language = '', key = '' } }, form) {
    if (form.get('step') === 'reset') {
      await resetPageText(services, language, key, request);
      return { goTo: HOME, notice: 'text-reset' };
    }
    const text = (form.get('text') ?? '').replace(/\s+/g, ' ');
    await setPageText(services, language, key, { text }, request);
    return { goTo: HOME, notice: 'text-changed' };
  },
};

export const pageTextPages: readonly ConsolePage[] = [list, edit];
