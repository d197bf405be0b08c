/**
 * The language of a hosted page, in order of precedence: the choice on this page, the application's request (`ui_locales`, OpenID Connect
 * Core 1.0 section 3.1.2.1), an earlier choice, the browser's settings (Accept-Language, RFC 9110 section 12.5.4), English.
 */

import type { IncomingMessage } from 'node:http';
import type Koa from 'koa';
import { cookieIn, writeCookie } from '../http/cookies.ts';
import { type ChangedTexts, ENGLISH, LANGUAGES, type Language, withChangedTexts } from './messages.ts';

/** A user's language preferences; BCP 47 tags. */
export interface LanguagePreferences {
  /** Chosen in this tab, on this page or an earlier one. */
  readonly chosen?: string | undefined;
  /** The parameter `ui_locales`: space-separated tags, best first. */
  readonly uiLocales?: string | undefined;
  /** Chosen earlier in this browser. */
  readonly remembered?: string | undefined;
  /** Languages accepted by the browser, best first. */
  readonly accepted?: readonly string[];
}

const primary = (tag: string): string | undefined => tag.toLowerCase().split('-', 1)[0];

/** The first subtag decides: `de-AT` gets German, and `zh-TW` simplified Chinese rather than English. */
const ofTag = (tag: string): Language | undefined => LANGUAGES.find(({ lang }) => primary(lang) === primary(tag));

/** @returns the language of the first preference that is supported */
export function negotiateLanguage({ chosen, uiLocales, remembered, accepted = [] }: LanguagePreferences): Language {
  const wishes = [chosen, ...(uiLocales?.split(' ') ?? []), remembered, ...accepted];
  return wishes.map((tag) => (tag === undefined ? undefined : ofTag(tag))).find((language) => language !== undefined) ?? ENGLISH;
}

/** The URL parameter of the chosen language. */
export const LANGUAGE_PARAMETER = 'language';
const COOKIE = 'gatehouse-language';
/** Seconds. */
const ONE_YEAR = 365 * 86_400;

/** A link of the language menu. */
interface LanguageLink extends Pick<Language, 'lang' | 'dir' | 'name'> {
  readonly href: string;
  readonly current: boolean;
}

/** Language functions of a view and its layout. */
export interface PageLanguage extends Language {
  readonly languages: readonly LanguageLink[];
}

/** @returns the supported language of the URL's parameter */
export function requestedLanguage(ctx: Koa.Context): Language | undefined {
  const { [LANGUAGE_PARAMETER]: parameter } = ctx.query;
  return typeof parameter === 'string' ? ofTag(parameter) : undefined;
}

/** The same page in each language. Links have only a query, relative to the page, so they cannot lead elsewhere. */
function switcher(ctx: Koa.Context, current: Language): readonly LanguageLink[] {
  return LANGUAGES.map(({ lang, dir, name }) => {
    const query = new URLSearchParams(ctx.querystring);
    query.set(LANGUAGE_PARAMETER, lang);
    return { lang, dir, name, href: `?${query}`, current: lang === current.lang };
  });
}

/** @returns the supported language of a user's profile; BCP 47, also in Okta's form (`de_AT`) */
interface LanguageChoice {
  readonly preferredLanguage?: string;
  readonly locale?: string;
}

export const languageOfProfile = ({ preferredLanguage, locale }: LanguageChoice): Language | undefined => {
  const tag = preferredLanguage ?? locale;
  return tag === undefined ? undefined : ofTag(tag.replaceAll('_', '-'));
};

const keptIn = (ctx: Koa.Context): string | undefined => cookieIn(ctx, COOKIE, ctx.secure, '/');

/** Does this browser have an earlier choice? */
export const hasKeptLanguage = (ctx: Koa.Context): boolean => keptIn(ctx) !== undefined;

/** Stores a language in the browser. @param language undefined: removes the choice */
export function keepLanguage(ctx: Koa.Context, language: Pick<Language, 'lang'> | undefined): void {
  writeCookie(ctx, ctx.secure, { name: COOKIE, value: language?.lang ?? '', path: '/', seconds: language === undefined ? 0 : ONE_YEAR });
}

/** Stores the language of the URL's parameter, so that the page after a redirect uses it. @returns that language */
export function rememberRequestedLanguage(ctx: Koa.Context): Language | undefined {
  const requested = requestedLanguage(ctx);
  if (requested !== undefined && requested.lang !== keptIn(ctx)) keepLanguage(ctx, requested);
  return requested;
}

/** @returns the language of a page for this request, without rendering one */
export function languageForPage(ctx: Koa.Context): Language {
  const { [LANGUAGE_PARAMETER]: parameter } = ctx.query;
  const chosen = typeof parameter === 'string' ? parameter : undefined;
  return negotiateLanguage({ chosen, remembered: keptIn(ctx), accepted: ctx.acceptsLanguages() });
}

const changedTexts = new WeakMap<IncomingMessage, ChangedTexts>();

/** Uses these texts on the pages of this request, where they differ from the original ones. */
export function useChangedTexts(req: IncomingMessage, texts: ChangedTexts): void {
  changedTexts.set(req, texts);
}

/**
 * The language of a console page: the stored choice, the user's profile, the browser.
 * @param ofProfile BCP 47; undefined: the profile has none, or nobody is signed in
 */
export function consoleLanguage(ctx: Koa.Context, ofProfile: string | undefined): PageLanguage {
  ctx.vary('Accept-Language');
  ctx.vary('Cookie');
  const language = negotiateLanguage({ remembered: keptIn(ctx) ?? ofProfile, accepted: ctx.acceptsLanguages() });
  return { ...language, languages: switcher(ctx, language) };
}

/**
 * Selects the language of a page, and stores the choice of the URL's parameter.
 * @param uiLocales of the page's authorization or logout request
 */
export function pageLanguage(ctx: Koa.Context, uiLocales?: string): PageLanguage {
  const remembered = keptIn(ctx);
  const chosen = rememberRequestedLanguage(ctx);
  const language = negotiateLanguage({ chosen: chosen?.lang, uiLocales, remembered, accepted: ctx.acceptsLanguages() });
  ctx.vary('Accept-Language');
  ctx.vary('Cookie');
  return { ...withChangedTexts(language, changedTexts.get(ctx.req)), languages: switcher(ctx, language) };
}
