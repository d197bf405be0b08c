/** E-mail templates: reading, changing, restoring, a preview with example values, and a test e-mail to the editor. */
import { present } from '../../platform/clock/clock.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { notFound } from '../../platform/errors/errors.ts';
import { type ChangedTexts, LANGUAGES, type MessageKey, originalText } from '../../platform/i18n/messages.ts';
import { parse } from '../../platform/validation/parsing.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import type { MailKind, RequestedMail } from '../mail/mail.policy.ts';
import { type Mail, type MailFacts, renderMail } from '../mail/templates.ts';
import { sendTestMail, type TestMail } from '../mail/test-mail.service.ts';
import { readSettings } from '../settings/settings.service.ts';
import {
  keyOfPart,
  partsOf,
  TEMPLATE_KINDS,
  type TemplatePart,
  type TemplateTexts,
  templateBody,
  templateVariables,
} from './mail-template.resource.ts';
import { changeTexts } from './texts.service.ts';
import { findTexts } from './texts.store.ts';

export interface MailTemplate {
  readonly id: string;
  readonly kind: string;
  /** BCP 47. */
  readonly language: string;
  readonly subject: string;
  readonly heading: string;
  readonly introduction: string;
  readonly button?: string;
  readonly closing: string;
  /** Has the operator changed any part? */
  readonly customized: boolean;
  readonly variables: readonly string[];
  readonly requiredVariables: readonly string[];
}

/** @throws {ApiError} not found */
function requireTemplate(kind: string, language: string): void {
  if (!TEMPLATE_KINDS.includes(kind)) throw notFound(kind, 'Mail template');
  if (!LANGUAGES.some(({ lang }) => lang === language)) throw notFound(language, 'Language');
}

function templateOf(kind: string, language: string, texts: ChangedTexts): MailTemplate {
  const changed = texts[language] ?? {};
  const keyed = partsOf(kind).map((part): [TemplatePart, MessageKey] => [part, keyOfPart(kind, part) as MessageKey]);
  const parts = Object.fromEntries(keyed.map(([part, key]) => [part, changed[key] ?? originalText(language, key)]));
  const { allowed, required, hasLink } = templateVariables(kind);
  return {
    id: `${kind}/${language}`,
    kind,
    language,
    ...(parts as Record<'subject' | 'heading' | 'introduction' | 'closing', string>),
    customized: keyed.some(([, key]) => changed[key] !== undefined),
    variables: hasLink ? [...allowed, 'link'] : allowed,
    requiredVariables: required,
  };
}

/** All of them, by kind. */
export async function listMailTemplates({ database }: Pick<Services, 'database'>): Promise<readonly MailTemplate[]> {
  const texts = await findTexts(database.knex);
  return TEMPLATE_KINDS.flatMap((kind) => LANGUAGES.map(({ lang }) => templateOf(kind, lang, texts)));
}

/** @throws {ApiError} not found */
export async function getMailTemplate({ database }: Pick<Services, 'database'>, kind: string, language: string): Promise<MailTemplate> {
  requireTemplate(kind, language);
  return templateOf(kind, language, await findTexts(database.knex));
}

/** @returns the parts by their keys; an absent part is the original. @throws {ApiError} validation */
function textsIn(kind: string, body: unknown): Readonly<Partial<Record<MessageKey, string | undefined>>> {
  const given: TemplateTexts = parse(templateBody(kind), body);
  return Object.fromEntries(partsOf(kind).map((part) => [keyOfPart(kind, part) as MessageKey, given[part]]));
}

/**
 * @param body the parts; absent ones return to the original
 * @throws {ApiError} not found, validation
 */
export async function replaceMailTemplate(
  services: Services,
  kind: string,
  language: string,
  body: unknown,
  request: RequestContext,
): Promise<MailTemplate> {
  requireTemplate(kind, language);
  await changeTexts(services, language, textsIn(kind, body), `mail-templates/${kind}/${language}`, request);
  return getMailTemplate(services, kind, language);
}

/** Returns every part to the original. @throws {ApiError} not found */
export async function resetMailTemplate(services: Services, kind: string, language: string, request: RequestContext): Promise<void> {
  await replaceMailTemplate(services, kind, language, {}, request);
}

const ASKED: ReadonlySet<string> = new Set<RequestedMail>([
  'invitation',
  'activation',
  'password-reset',
  'password-elsewhere',
  'email-verification',
  'sign-in-code',
  'factor-code',
  'sign-in-request',
  'sign-up',
  'sign-up-existing',
  'account-approved',
  'account-refused',
  'organization-invitation',
]);

/** Example values for previews and test e-mails. */
const exampleFacts = (kind: string, baseUrl: string, login: string): MailFacts => ({
  login,
  values: { application: 'Example', organization: 'Example', provider: 'Example', address: 'ada@example.com', code: '12345678' },
  link: `${baseUrl}/example-link`,
  // E-mails that users requested themselves show no time and place.
  ...(!ASKED.has(kind) && { occurred: { at: present(), ipAddress: '192.0.2.1', browser: 'Firefox, Linux' } }),
});

/** The texts of the language, with these parts in place of the stored ones. */
async function textsWith(services: Services, kind: string, language: string, body: unknown): Promise<ChangedTexts> {
  const stored = await findTexts(services.database.knex);
  if (body === undefined) return stored;
  const given = Object.entries(textsIn(kind, body)).filter(([, value]) => value !== undefined);
  const rest = Object.entries(stored[language] ?? {}).filter(([key]) => !key.startsWith(`mail.${kind}.`));
  return { ...stored, [language]: Object.fromEntries([...rest, ...given]) };
}

/**
 * Shows an e-mail with example values; nothing is stored.
 * @param body the parts; undefined: as it is stored
 * @throws {ApiError} not found, validation
 */
export async function previewMailTemplate(services: Services, kind: string, language: string, body?: unknown): Promise<Mail> {
  requireTemplate(kind, language);
  const texts = await textsWith(services, kind, language, body);
  const brand = await readSettings(services, 'branding');
  return renderMail(kind as MailKind, language, exampleFacts(kind, services.config.baseUrl, 'ada@example.com'), { brand, texts });
}

/** Sends it with example values to the caller, and reports the mail server's response. @throws {ApiError} as `previewMailTemplate` */
export async function testMailTemplate(
  services: Services,
  kind: string,
  language: string,
  body: unknown,
  request: RequestContext,
): Promise<TestMail> {
  requireTemplate(kind, language);
  const texts = await textsWith(services, kind, language, body);
  const { baseUrl } = services.config;
  return sendTestMail(services, request, (login, brand) =>
    renderMail(kind as MailKind, language, exampleFacts(kind, baseUrl, login), { brand, texts }),
  );
}
