/** Settings → Mail → Templates: the texts of each e-mail in each language, with a preview and a test. */

import { type Content, detailPage } from '../../pages/console/detail-page.ts';
import { type Field, formPage } from '../../pages/console/form.ts';
import type { Action, ConsolePage, ConsoleRequest, Crumb, Drawn, Typed } from '../../pages/console/page.ts';
import { LANGUAGES } from '../../platform/i18n/messages.ts';
import { type Phrase, phrase, verbatim } from '../../platform/i18n/phrase.ts';
import { mayCall } from '../administrators/administration.policy.ts';
import { MAIL_TABS, testMailNotice, testMailProblem } from '../mail/mail.console.ts';
import type { Mail } from '../mail/templates.ts';
import { previewStylesheet } from '../settings/brand-stylesheet.service.ts';
import { type Branding, readSettings } from '../settings/settings.service.ts';
import { partsOf, TEMPLATE_KINDS, TEMPLATE_PARTS, type TemplatePart, variablesOfPart } from './mail-template.resource.ts';
import {
  getMailTemplate,
  listMailTemplates,
  type MailTemplate,
  previewMailTemplate,
  replaceMailTemplate,
  resetMailTemplate,
  testMailTemplate,
} from './mail-templates.service.ts';

// Preview of an e-mail in light and dark, drawn in HTML, and its plain text.

/** @param unsaved the unsaved input, and the form's target */
function mailPicture(
  page: Omit<Drawn, 'view' | 'locals' | 'images'>,
  { subject, text, picture }: Mail,
  branding: Branding,
  unsaved?: { readonly values: Readonly<Record<string, string>>; readonly action: string },
): Drawn {
  return {
    ...page,
    view: 'mail-preview',
    images: branding.logoUrl === null ? [] : [new URL(branding.logoUrl).origin],
    locals: {
      stylesheets: ['frame.css', 'admin.css', 'branding.css'],
      previewColours: previewStylesheet({ ...branding, backgroundUrl: null }),
      schemes: [
        ['light', 'Light'],
        ['dark', 'Dark'],
      ],
      subject,
      plain: text,
      mail: picture,
      unsaved: unsaved && { action: unsaved.action, values: Object.entries(unsaved.values) },
    },
  };
}

const HOME = '/admin/settings/mail/templates';
const CRUMBS: readonly Crumb[] = [
  { label: 'Settings' },
  { label: 'Mail', href: '/admin/settings/mail' },
  { label: 'Templates', href: HOME },
];

/** Names of e-mails; missing ones use their subject. */
const NAMES: Readonly<Record<string, string>> = {
  invitation: 'Invitation',
  activation: 'Activation',
  'password-reset': 'Password reset',
  'password-elsewhere': 'No password here',
  'email-verification': 'Confirm address',
  'sign-in-code': 'Code by e-mail',
  'factor-code': 'Second factor: code by e-mail',
  'sign-in-request': 'Sign-in request',
  'sign-up': 'Sign-up',
  'sign-up-existing': 'Existing account',
  'account-approved': 'Account approved',
  'account-refused': 'Sign-up refused',
  'organization-invitation': 'Invitation to an organization',
  'new-sign-in': 'New browser',
  'password-changed': 'Password changed',
  'password-removed': 'Password removed',
  'factor-added': 'Second factor added',
  'factor-removed': 'Second factor removed',
  'recovery-codes-replaced': 'Recovery codes replaced',
  'account-linked': 'Account connected',
  'account-unlinked': 'Account disconnected',
  'data-downloaded': 'Data downloaded',
  'email-changed': 'Address changed',
  'email-removed': 'Address removed',
  test: 'Test e-mail',
};
const nameOf = (kind: string): string => NAMES[kind] ?? kind.replaceAll('-', ' ');

const LABELS: Readonly<Record<TemplatePart, string>> = {
  subject: 'Subject',
  heading: 'Heading',
  introduction: 'Introduction',
  button: 'Button',
  closing: 'Closing text',
};

const languageName = (lang: string): string => LANGUAGES.find((language) => language.lang === lang)?.name ?? lang;
const addressOf = (kind: string, language: string): string => `${HOME}/${encodeURIComponent(kind)}/${encodeURIComponent(language)}`;
const mayWrite = ({ request }: ConsoleRequest): boolean => mayCall(request.roles, 'service', 'write');

const list: ConsolePage = {
  path: '/settings/mail/templates',
  access: 'service',
  async show({ services }) {
    const templates = await listMailTemplates(services);
    const cell = (kind: string, lang: string): Content => {
      const customized = templates.some((one) => one.kind === kind && one.language === lang && one.customized);
      return { text: phrase(customized ? 'Changed' : 'Original'), href: addressOf(kind, lang), ...(!customized && { soft: true }) };
    };
    return detailPage({
      title: 'Mail',
      lead: 'The text of each e-mail in each language. Choose one to read, change or test it.',
      crumbs: CRUMBS.slice(0, 1),
      tabs: MAIL_TABS,
      parts: [
        {
          kind: 'table',
          name: 'templates',
          columns: ['E-mail', ...LANGUAGES.map(({ name }) => verbatim(name))],
          rows: TEMPLATE_KINDS.map((kind) => ({ cells: [phrase(nameOf(kind)), ...LANGUAGES.map(({ lang }) => cell(kind, lang))] })),
          empty: '',
        },
      ],
    });
  },
};

const written = (names: readonly string[]): string => names.map((name) => `{${name}}`).join(', ');

function fieldsOf(kind: string, held: Readonly<Partial<Record<TemplatePart, string>>>): readonly Field[] {
  return partsOf(kind).map((part): Field => {
    const { isLong } = TEMPLATE_PARTS[part];
    const { allowed, required } = variablesOfPart(kind, part);
    const variables = written(allowed);
    const paragraphs = isLong ? 'Plain text. An empty line begins a paragraph. Variables: {variables}.' : 'Variables: {variables}.';
    const hint =
      required.length === 0
        ? phrase(paragraphs, { variables })
        : phrase(`${paragraphs} It must contain {required}.`, { variables, required: written(required) });
    const common = { name: part, label: LABELS[part], required: true, hint, value: held[part] ?? '' };
    return isLong ? { ...common, kind: 'long', rows: part === 'introduction' ? 6 : 4 } : common;
  });
}

const titleOf = (kind: string, language: string): Phrase =>
  phrase('{name}, {language}', { name: phrase(nameOf(kind)), language: languageName(language) });

function editPage(template: MailTemplate, typed: Typed): Drawn {
  const { kind, language, customized } = template;
  const home = addressOf(kind, language);
  const actions: readonly Action[] = [
    { label: 'Preview', href: `${home}/preview` },
    { label: 'Send a test', href: `${home}/test` },
    ...(customized ? [{ label: 'Reset', href: `${home}/reset`, danger: true }] : []),
  ];
  return formPage(
    {
      title: titleOf(kind, language),
      crumbs: CRUMBS,
      actions,
      fields: fieldsOf(kind, template),
      submit: 'Save',
      also: { label: 'Preview', step: 'preview' },
      cancel: HOME,
    },
    typed,
  );
}

const bodyIn = (kind: string, form: URLSearchParams): Readonly<Record<string, string>> =>
  Object.fromEntries(partsOf(kind).map((part) => [part, form.get(part) ?? '']));

async function picturePage(
  visit: ConsoleRequest,
  mail: Mail,
  template: MailTemplate,
  unsaved?: Readonly<Record<string, string>>,
): Promise<Drawn> {
  const { kind, language } = template;
  const branding = await readSettings(visit.services, 'branding');
  const lead = unsaved === undefined ? 'With example values.' : 'With example values. Nothing is saved yet.';
  const crumbs = [...CRUMBS, { label: titleOf(kind, language), href: addressOf(kind, language) }];
  return mailPicture({ title: 'Preview', lead, crumbs }, mail, branding, unsaved && { values: unsaved, action: addressOf(kind, language) });
}

const edit: ConsolePage = {
  path: '/settings/mail/templates/:kind/:language',
  access: 'service',
  async show(visit, typed) {
    const { kind = '', language = '' } = visit.params;
    const template = await getMailTemplate(visit.services, kind, language);
    if (mayWrite(visit)) return editPage(template, typed);
    return picturePage(visit, await previewMailTemplate(visit.services, kind, language), template);
  },
  async receive(visit, form) {
    const { kind = '', language = '' } = visit.params;
    const { services, request } = visit;
    const template = await getMailTemplate(services, kind, language);
    const body = bodyIn(kind, form);
    if (form.get('step') === 'change') return editPage(template, { values: form, problems: [] });
    if (form.get('step') === 'preview')
      return picturePage(visit, await previewMailTemplate(services, kind, language, body), template, body);
    await replaceMailTemplate(services, kind, language, body, request);
    return { goTo: addressOf(kind, language), notice: 'mail-template-changed' };
  },
};

const preview: ConsolePage = {
  path: '/settings/mail/templates/:kind/:language/preview',
  access: 'service',
  async show(visit) {
    const { kind = '', language = '' } = visit.params;
    const template = await getMailTemplate(visit.services, kind, language);
    return picturePage(visit, await previewMailTemplate(visit.services, kind, language), template);
  },
};

const test: ConsolePage = {
  path: '/settings/mail/templates/:kind/:language/test',
  access: 'service',
  verb: 'write',
  async show({ params: { kind = '', language = '' }, services }, typed) {
    const template = await getMailTemplate(services, kind, language);
    const home = addressOf(template.kind, template.language);
    return formPage(
      {
        title: 'Send a test',
        crumbs: [...CRUMBS, { label: titleOf(kind, language), href: home }],
        facts: ['The e-mail goes to the address of your own account, as it is saved, with example values. Its link leads nowhere.'],
        submit: 'Send a test',
        cancel: home,
      },
      typed,
    );
  },
  async receive(visit, form) {
    const { kind = '', language = '' } = visit.params;
    const sent = await testMailTemplate(visit.services, kind, language, undefined, visit.request);
    if (sent.outcome === 'taken') return { goTo: addressOf(kind, language), notice: await testMailNotice(visit) };
    return this.show(visit, { values: form, problems: [{ message: testMailProblem(sent) }] });
  },
};

const reset: ConsolePage = {
  path: '/settings/mail/templates/:kind/:language/reset',
  access: 'service',
  verb: 'write',
  async show({ params: { kind = '', language = '' }, services }, typed) {
    const template = await getMailTemplate(services, kind, language);
    const home = addressOf(template.kind, template.language);
    return formPage(
      {
        title: 'Reset the template',
        crumbs: [...CRUMBS, { label: titleOf(kind, language), href: home }],
        facts: ['The e-mail has the original words again. Your own are lost.'],
        submit: 'Reset',
        danger: true,
        cancel: home,
      },
      typed,
    );
  },
  async receive({ params: { kind = '', language = '' }, services, request }) {
    await resetMailTemplate(services, kind, language, request);
    return { goTo: addressOf(kind, language), notice: 'mail-template-reset' };
  },
};

export const mailTemplatePages: readonly ConsolePage[] = [list, edit, preview, test, reset];
