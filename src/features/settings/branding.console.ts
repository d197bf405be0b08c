/** Settings → Branding: name, logo, colours and links of the service, each application's, and how the sign-in page looks with them. */

import { type Content, detailPage, listPage } from '../../pages/console/detail-page.ts';
import { type Field, formPage, typedValues } from '../../pages/console/form.ts';
import { type ListColumns, searched } from '../../pages/console/list-state.ts';
import type { Action, ConsolePage, Typed } from '../../pages/console/page.ts';
import { paged, pageIn } from '../../pages/console/paging.ts';
import { phrase } from '../../platform/i18n/phrase.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { listApplications } from '../applications/application-lists.service.ts';
import { getApplication } from '../applications/applications.service.ts';
import { linkPages } from './branding-links.console.ts';
import { CRUMBS, coloursOf, contrastTable, HOME, mayWrite, previewPage, SETTINGS, TABS } from './branding-preview.console.ts';
import { stylePages } from './branding-style.console.ts';
import { type Branding, DEFAULT_SETTINGS, readSettings, replaceSettings } from './settings.service.ts';
import { settingsBodies } from './settings-fields.service.ts';

const fieldsOf = (held: Branding): readonly Field[] => [
  {
    name: 'name',
    label: 'Name',
    required: true,
    value: held.name,
    hint: 'Shown on every page, in its title, and in authenticator apps.',
  },
  {
    name: 'logoUrl',
    label: 'Logo',
    kind: 'url',
    value: held.logoUrl ?? '',
    hint: 'The https:// address of a picture, shown 28 pixels high beside the name. Every visitor’s browser asks for it there. Empty: the one of this product.',
  },
  {
    name: 'faviconUrl',
    label: 'Icon',
    kind: 'url',
    value: held.faviconUrl ?? '',
    hint: 'The https:// address of the icon in the browser’s tab. Empty: the one of this product.',
  },
  {
    name: 'backgroundUrl',
    label: 'Background picture',
    kind: 'url',
    value: held.backgroundUrl ?? '',
    hint: 'The https:// address of a picture behind the card of the sign-in pages. Empty: none.',
  },
  {
    name: 'primaryColorHex',
    label: 'Colour',
    kind: 'colour',
    group: 'Colour of links and buttons',
    value: held.primaryColorHex ?? '',
    hint: 'As #rrggbb, e.g. #0f5c5c. Empty: the colours of this product.',
  },
  {
    name: 'primaryColorDarkHex',
    label: 'Colour on dark pages',
    kind: 'colour',
    group: 'Colour of links and buttons',
    value: held.primaryColorDarkHex ?? '',
    hint: 'For devices in dark mode. Empty: a variant of the colour above with enough contrast.',
  },
  link('supportUrl', 'Help', held.supportUrl),
  link('privacyUrl', 'Privacy policy', held.privacyUrl),
  link('termsUrl', 'Terms of service', held.termsUrl),
];

const link = (name: 'supportUrl' | 'privacyUrl' | 'termsUrl', label: string, value: string | null): Field => ({
  ...{ name, label, kind: 'url', group: 'Links at the foot of the pages', value: value ?? '' },
  ...(name === 'supportUrl' && { hint: 'https:// addresses. Empty: no link.' }),
});

/** Submitted values by field name. */
const typedIn = (form: URLSearchParams): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(typedValues(fieldsOf(DEFAULT_SETTINGS.branding), form)).map(([name, value]) => [name, String(value).trim()]),
  );

/** The branding with the submitted values; empty fields are none. @throws {ApiError} validation */
function brandingIn(held: Branding, form: URLSearchParams): Branding {
  const typed = Object.entries(typedIn(form)).map(([name, text]) => [name, text === '' && name !== 'name' ? null : text]);
  return { ...held, ...parse(settingsBodies.branding, { ...held, ...Object.fromEntries(typed) }) };
}

const code = (text: string | null): Content => (text === null ? '' : { text, code: true });

const show: ConsolePage = {
  path: '/settings/branding',
  access: 'service',
  async show(visit) {
    const branding = await readSettings(visit.services, 'branding');
    const { primaryColorHex, primaryColorDarkHex } = branding;
    const preview: Action = { label: 'Preview', href: `${HOME}/preview` };
    const made =
      primaryColorHex === null
        ? phrase('Default')
        : [
            { text: coloursOf({ branding }).dark, code: true },
            { text: 'made from the other one', soft: true },
          ];
    return detailPage({
      title: 'Branding',
      lead: 'Name, logo and colours of the sign-in pages and of e-mails.',
      crumbs: SETTINGS,
      tabs: TABS,
      actions: mayWrite(visit) ? [preview, { label: 'Edit', href: `${HOME}/edit`, main: true }] : [preview],
      parts: [
        {
          kind: 'facts',
          facts: [
            { label: 'Name', value: branding.name },
            { label: 'Logo', value: branding.logoUrl === null ? phrase('Default') : code(branding.logoUrl) },
            { label: 'Colour', value: primaryColorHex === null ? phrase('Default') : code(primaryColorHex) },
            { label: 'Colour on dark pages', value: primaryColorDarkHex === null ? made : code(primaryColorDarkHex) },
            { label: 'Icon', value: branding.faviconUrl === null ? phrase('Default') : code(branding.faviconUrl) },
            { label: 'Background picture', value: code(branding.backgroundUrl) },
            { label: 'Help', value: code(branding.supportUrl) },
            { label: 'Privacy policy', value: code(branding.privacyUrl) },
            { label: 'Terms of service', value: code(branding.termsUrl) },
          ],
        },
        contrastTable(branding),
      ],
    });
  },
};

const editPage = (held: Branding, typed: Typed) =>
  formPage(
    {
      title: 'Edit the branding',
      crumbs: CRUMBS,
      facts: [
        'A colour with too little contrast is refused, and the nearest accessible one is suggested (WCAG 2.2: 4.5:1 for text, 3:1 for the edges of buttons).',
      ],
      fields: fieldsOf(held),
      submit: 'Save',
      also: { label: 'Preview', step: 'preview' },
      cancel: HOME,
    },
    typed,
  );

const edit: ConsolePage = {
  path: '/settings/branding/edit',
  access: 'service',
  verb: 'write',
  show: async ({ services }, typed) => editPage(await readSettings(services, 'branding'), typed),
  async receive({ services, request }, form) {
    const step = form.get('step');
    if (step === 'change') return editPage(DEFAULT_SETTINGS.branding, { values: form, problems: [] });
    const branding = brandingIn(await readSettings(services, 'branding'), form);
    if (step === 'preview') {
      const page = { title: 'Preview', lead: 'Nothing is saved yet.', crumbs: CRUMBS };
      return previewPage(page, { branding, unsaved: typedIn(form) });
    }
    await replaceSettings(services, 'branding', branding, request);
    return { goTo: HOME, notice: 'branding-changed' };
  },
};

const preview: ConsolePage = {
  path: '/settings/branding/preview',
  access: 'service',
  async show({ services }) {
    const lead = 'The sign-in page as it is now, for an application without a logo and a colour of its own.';
    return previewPage({ title: 'Preview', lead, crumbs: CRUMBS }, { branding: await readSettings(services, 'branding') });
  },
};

const COLUMNS: ListColumns = [{ label: 'Application', by: 'label' }, 'Logo', 'Colour'];

const applications: ConsolePage = {
  path: '/settings/branding/applications',
  access: 'service',
  async show({ services, query }) {
    const at = `${HOME}/applications`;
    const window = pageIn(query, COLUMNS);
    const { search, items, total } = await searched(query, (q) => listApplications(services, { q }, window));
    return listPage({
      title: 'Branding',
      lead: 'An application can show its own logo and colour on its sign-in pages.',
      crumbs: SETTINGS,
      tabs: TABS,
      list: {
        name: 'applications',
        rows: items.map(({ id, label, settings: { logo_uri, brand_color } }) => ({
          cells: [
            { text: label, href: `/admin/applications/${encodeURIComponent(id)}/branding` },
            logo_uri === undefined ? '' : phrase('Its own'),
            brand_color === undefined ? { text: 'Default of the service', soft: true } : { text: brand_color, code: true },
          ],
          actions: [{ label: 'Preview', icon: 'preview', href: `${at}/${encodeURIComponent(id)}` }],
        })),
        empty: 'No applications match. Try fewer or shorter words, or show all.',
        search: { ...search, label: 'Name' },
        ...paged(at, query, COLUMNS, { total }, 'application'),
      },
    });
  },
};

const application: ConsolePage = {
  path: '/settings/branding/applications/:id',
  access: 'service',
  async show({ services, params }) {
    const { label, settings } = await getApplication(services, params.id ?? '');
    const branding = await readSettings(services, 'branding');
    const crumbs = [...CRUMBS, { label: 'Applications', href: `${HOME}/applications` }];
    const page = {
      title: phrase('Preview of {name}', { name: label }),
      lead: 'The page where users sign in to this application, as it is now.',
      crumbs,
    };
    return previewPage(page, { branding, application: { label, logo: settings.logo_uri, colour: settings.brand_color } });
  },
};

export const brandingPages: readonly ConsolePage[] = [show, edit, preview, ...stylePages, ...linkPages, applications, application];
