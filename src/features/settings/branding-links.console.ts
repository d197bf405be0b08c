/** Settings → Branding → Links: further links at the foot of pages and e-mails, with a label in each language. */

import { detailPage } from '../../pages/console/detail-page.ts';
import { type Field, formPage, typedValues } from '../../pages/console/form.ts';
import type { ConsolePage } from '../../pages/console/page.ts';
import { notFound } from '../../platform/errors/errors.ts';
import { LANGUAGES } from '../../platform/i18n/messages.ts';
import { phrase, series } from '../../platform/i18n/phrase.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { type FooterLink, footerLink, footerLinksField } from './branding.resource.ts';
import { CRUMBS, HOME, mayWrite, SETTINGS, TABS } from './branding-preview.console.ts';
import { changeSettings, readSettings } from './settings.service.ts';

const LINKS = `${HOME}/links`;
const HERE = [...CRUMBS, { label: 'Links', href: LINKS }];

const list: ConsolePage = {
  path: '/settings/branding/links',
  access: 'service',
  async show(visit) {
    const { footerLinks } = await readSettings(visit.services, 'branding');
    const may = mayWrite(visit);
    return detailPage({
      title: 'Branding',
      lead: 'Links at the foot of the pages and of e-mails, behind those to help, privacy policy and terms.',
      crumbs: SETTINGS,
      tabs: TABS,
      actions: may ? [{ label: 'Add link', href: `${LINKS}/new`, main: true }] : [],
      parts: [
        {
          kind: 'table',
          name: 'links',
          columns: ['Label', 'Address', 'Languages'],
          rows: footerLinks.map(({ url, labels }, at) => ({
            cells: [
              labels.en ?? url,
              { text: url, code: true },
              series(LANGUAGES.filter(({ lang }) => labels[lang] !== undefined).map(({ lang }) => lang)),
            ],
            actions: may
              ? [
                  { label: 'Edit', href: `${LINKS}/${at}/edit` },
                  { label: 'Remove', href: `${LINKS}/${at}/remove`, danger: true },
                ]
              : [],
          })),
          empty: 'There are no further links.',
        },
      ],
    });
  },
};

const fieldsOf = (held: FooterLink | undefined): readonly Field[] => [
  { name: 'url', label: 'Address', kind: 'url', required: true, value: held?.url ?? '', hint: 'It begins with https://.' },
  ...LANGUAGES.map(
    ({ lang, name }): Field => ({
      name: `label-${lang}`,
      alias: `labels.${lang}`,
      label: phrase('Label, {language}', { language: name }),
      value: held?.labels[lang] ?? '',
      ...(lang === 'en' ? { required: true } : { hint: 'Empty: the English label.' }),
    }),
  ),
];

/** @throws {ApiError} validation */
function linkIn(form: URLSearchParams): FooterLink {
  const typed = typedValues(fieldsOf(undefined), form);
  const labels = LANGUAGES.map(({ lang }) => [lang, String(typed[`label-${lang}`]).trim()]).filter(
    ([lang, label]) => label !== '' || lang === 'en',
  );
  return parse(footerLink, { url: typed.url, labels: Object.fromEntries(labels) }) as FooterLink;
}

const add: ConsolePage = {
  path: '/settings/branding/links/new',
  access: 'service',
  verb: 'write',
  show: async (_, typed) =>
    formPage({ title: 'Add link', crumbs: HERE, fields: fieldsOf(undefined), submit: 'Add link', cancel: LINKS }, typed),
  async receive({ services, request }, form) {
    const { footerLinks } = await readSettings(services, 'branding');
    const changed = parse(footerLinksField, [...footerLinks, linkIn(form)]) as readonly FooterLink[];
    await changeSettings(services, 'branding', { footerLinks: changed }, request);
    return { goTo: LINKS, notice: 'footer-links-changed' };
  },
};

/** @throws {ApiError} not found */
async function linkAt(services: Parameters<typeof readSettings>[0], at: string) {
  const { footerLinks } = await readSettings(services, 'branding');
  const link = /^\d$/.test(at) ? footerLinks[Number(at)] : undefined;
  if (link === undefined) throw notFound(at, 'Link');
  return { link, footerLinks };
}

const edit: ConsolePage = {
  path: '/settings/branding/links/:at/edit',
  access: 'service',
  verb: 'write',
  async show({ services, params: { at = '' } }, typed) {
    const { link } = await linkAt(services, at);
    return formPage({ title: 'Edit link', crumbs: HERE, fields: fieldsOf(link), submit: 'Save', cancel: LINKS }, typed);
  },
  async receive({ services, request, params: { at = '' } }, form) {
    const { footerLinks, link } = await linkAt(services, at);
    const changed = footerLinks.map((one) => (one === link ? linkIn(form) : one));
    await changeSettings(services, 'branding', { footerLinks: changed }, request);
    return { goTo: LINKS, notice: 'footer-links-changed' };
  },
};

const remove: ConsolePage = {
  path: '/settings/branding/links/:at/remove',
  access: 'service',
  verb: 'write',
  async show({ services, params: { at = '' } }, typed) {
    const { link } = await linkAt(services, at);
    const facts = [phrase('The link “{name}” disappears from all pages and e-mails.', { name: link.labels.en ?? link.url })];
    return formPage({ title: 'Remove link', crumbs: HERE, facts, submit: 'Remove link', danger: true, cancel: LINKS }, typed);
  },
  async receive({ services, request, params: { at = '' } }) {
    const { footerLinks, link } = await linkAt(services, at);
    await changeSettings(services, 'branding', { footerLinks: footerLinks.filter((one) => one !== link) }, request);
    return { goTo: LINKS, notice: 'footer-links-changed' };
  },
};

export const linkPages: readonly ConsolePage[] = [list, add, edit, remove];
