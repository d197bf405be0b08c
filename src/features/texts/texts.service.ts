/** The operator's changes of texts of pages and e-mails: reading, changing and restoring. */
import { present } from '../../platform/clock/clock.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { notFound } from '../../platform/errors/errors.ts';
import { isMessageKey, LANGUAGES, type MessageKey, originalText } from '../../platform/i18n/messages.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { lockSettings } from '../settings/settings.store.ts';
import { PAGE_TEXTS, pageOfText, pageTextBody, variablesOf } from './text-keys.resource.ts';
import { findTexts, updateTexts } from './texts.store.ts';

/** Name of the lock and of the notification. */
const TEXTS = 'texts';

/**
 * Changes texts of one language together; texts equal to the original are not stored, so that they follow it.
 * @param target its name in the event, e.g. `mail-templates/invitation/de`
 * @param values by key; undefined: restores the original
 */
export async function changeTexts(
  services: Services,
  language: string,
  values: Readonly<Partial<Record<MessageKey, string | undefined>>>,
  target: string,
  request: RequestContext,
): Promise<void> {
  const { database, notifications } = services;
  const keys = Object.keys(values) as MessageKey[];
  const set = Object.fromEntries(keys.map((key) => [key, values[key] === originalText(language, key) ? undefined : values[key]]));
  await database.transaction(async (trx) => {
    const now = present();
    // Of two concurrent changes, the second sees the first.
    await lockSettings(trx, TEXTS, now);
    const before = (await findTexts(trx))[language] ?? {};
    await updateTexts(trx, language, set, now);
    await recordEvent(trx, {
      eventType: 'system.settings.update',
      displayMessage: 'Update texts',
      request,
      targets: [{ id: target, type: 'Settings', displayName: target }],
      before: Object.fromEntries(keys.map((key) => [key, before[key] ?? originalText(language, key)])),
      after: Object.fromEntries(keys.map((key) => [key, set[key] ?? originalText(language, key)])),
    });
    await notifications.publish(trx, { kind: 'settings', id: TEXTS });
  });
  notifications.announce({ kind: 'settings', id: TEXTS });
}

/** A text of a page. */
export interface PageText {
  readonly id: string;
  readonly language: string;
  readonly key: string;
  /** Page of the text. */
  readonly page: string;
  readonly text: string;
  readonly default: string;
  readonly customized: boolean;
  readonly variables: readonly string[];
  readonly requiredVariables: readonly string[];
}

const isLanguage = (lang: string): boolean => LANGUAGES.some((language) => language.lang === lang);

/** @throws {ApiError} not found: no such language, or no such editable text */
function requireText(language: string, key: string): asserts key is MessageKey {
  if (!isLanguage(language)) throw notFound(language, 'Language');
  if (!isMessageKey(key) || pageOfText(key) === undefined) throw notFound(key, 'Text');
}

function pageTextOf(language: string, key: MessageKey, changed: string | undefined): PageText {
  const original = originalText(language, key);
  const { allowed, required } = variablesOf(key);
  return {
    id: `${language}:${key}`,
    language,
    key,
    page: pageOfText(key) ?? '',
    text: changed ?? original,
    default: original,
    customized: changed !== undefined,
    variables: allowed,
    requiredVariables: required,
  };
}

export interface TextFilter {
  readonly language?: string | undefined;
  /** Part of the key, the text or the page. */
  readonly q?: string | undefined;
  readonly customized?: boolean | undefined;
}

/** All matching texts, by language, in the order of the pages. */
export async function listPageTexts({ database }: Pick<Services, 'database'>, filter: TextFilter): Promise<readonly PageText[]> {
  const changed = await findTexts(database.knex);
  const words = (filter.q ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  return LANGUAGES.filter(({ lang }) => filter.language === undefined || filter.language === lang)
    .flatMap(({ lang }) => PAGE_TEXTS.map((key) => pageTextOf(lang, key, changed[lang]?.[key])))
    .filter(({ customized }) => filter.customized === undefined || filter.customized === customized)
    .filter(({ key, text, page }) => words.every((word) => `${key} ${text} ${page}`.toLowerCase().includes(word)));
}

/** @throws {ApiError} not found */
export async function getPageText({ database }: Pick<Services, 'database'>, language: string, key: string): Promise<PageText> {
  requireText(language, key);
  return pageTextOf(language, key, (await findTexts(database.knex))[language]?.[key]);
}

/** @param body with `text` @throws {ApiError} not found, validation */
export async function setPageText(
  services: Services,
  language: string,
  key: string,
  body: unknown,
  request: RequestContext,
): Promise<PageText> {
  requireText(language, key);
  const { text } = parse(pageTextBody(key), body);
  await changeTexts(services, language, { [key]: text }, `texts/${language}/${key}`, request);
  return getPageText(services, language, key);
}

/** Returns a text to the product's own. @throws {ApiError} not found */
export async function resetPageText(services: Services, language: string, key: string, request: RequestContext): Promise<void> {
  requireText(language, key);
  await changeTexts(services, language, { [key]: undefined }, `texts/${language}/${key}`, request);
}
