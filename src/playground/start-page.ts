/** Builds the locals of the start page `views/playground.ejs`: one button for newcomers, all choices for others. */
import type Koa from 'koa';
import type { Logger } from 'pino';
import { pageLanguage } from '../platform/i18n/page-language.ts';
import { type Text, verbatim } from '../platform/i18n/phrase.ts';
import { type Translator, translatorsFor } from '../platform/i18n/translator.ts';
import { type Choices, CLIENT_AUTHENTICATIONS, DEFAULT_CHOICES, PROMPTS, RESPONSE_MODES, RESPONSE_TYPES, SCOPES } from './choices.ts';
import { type Time, timeTexts } from './explanation.ts';

// Language of the playground's views. English texts in the source are the keys, as in the console.

interface PlaygroundLocals extends Pick<Translator, 't' | 'v'> {
  readonly lang: string;
  readonly dir: string;
  /** Links to the page in each language; none after a form. */
  readonly languages: ReturnType<typeof pageLanguage>['languages'];
  /** A time or a duration in words. */
  timeText(time: Time): string;
}

/** @param log gets texts without a translation, at the level debug */
export function playgroundLanguages(log: Logger) {
  const translatorFor = translatorsFor(log, 'the playground');
  return {
    /** @param isReadable can the page be reloaded with GET? Then it offers other languages */
    of(ctx: Koa.Context, isReadable = false): PlaygroundLocals {
      const { lang, dir, languages } = pageLanguage(ctx);
      const { t, v } = translatorFor(lang);
      return { t, v, lang, dir, languages: isReadable && ctx.method === 'GET' ? languages : [], timeText: timeTexts(lang) };
    },
  };
}

/** A server that users can sign in at. */
export interface Server {
  readonly id: string;
  readonly name: string;
  readonly issuer: string;
}

const FLOWS: Readonly<Record<Choices['response_type'], string>> = {
  code: 'the usual one: a code, exchanged for tokens',
  id_token: 'an ID token at once (implicit)',
  token: 'an access token at once (implicit)',
  'id_token token': 'both at once (implicit)',
  'code id_token': 'a code and an ID token (hybrid)',
  'code token': 'a code and an access token (hybrid)',
  'code id_token token': 'everything (hybrid)',
};
const MODES = {
  '': 'query for code, else fragment',
  query: 'behind the ?',
  fragment: 'behind the #',
  form_post: 'a posted form',
} as const;
const QUESTIONS = {
  '': 'ask only what is needed',
  none: 'fail rather than ask',
  login: 'ask for the password again',
  consent: 'ask for consent again',
} as const;

const AUTHENTICATIONS = {
  none: 'public, with PKCE',
  client_secret_basic: 'secret in the header',
  client_secret_post: 'secret in the body',
} as const;

/** @param none label of the option that omits the parameter */
const options = <T extends string>(values: readonly T[], words: Readonly<Record<T, string>>, chosen: string, none = '') =>
  values.map((value) => ({ value, name: value === '' ? none : verbatim(value), words: words[value], chosen: value === chosen }));

/** Labels of the two servers that always exist. */
const LABELS: Readonly<Record<string, string>> = { 'built-in': 'Built-in server', default: 'Default server' };
const NAMES: Readonly<Record<string, string>> = { 'built-in': 'the built-in server', default: 'the default server' };
const labelOf = ({ id, name }: Server): Text => LABELS[id] ?? verbatim(name);

/** The server inside a sentence. */
export const serverPhrase = (server: Server): Text => NAMES[server.id] ?? verbatim(server.name);

/** @param made former choices @param isChange does the user want to see and change them? */
export function presentStart(servers: readonly Server[], made: Choices, isChange: boolean) {
  const scopes = made.scope.split(' ').filter(Boolean);
  return {
    stylesheets: ['playground.css'],
    scripts: ['copy.js'],
    clientId: made.client_id,
    clientAuthentications: options(CLIENT_AUTHENTICATIONS, AUTHENTICATIONS, made.client_auth),
    servers: servers.map((server) => ({ ...server, label: labelOf(server), chosen: server.id === made.server })),
    responseTypes: options(RESPONSE_TYPES, FLOWS, made.response_type),
    responseModes: options(['', ...RESPONSE_MODES], MODES, made.response_mode, 'default'),
    prompts: options(['', ...PROMPTS], QUESTIONS, made.prompt, 'not set'),
    scopes: Object.entries(SCOPES).map(([name, what]) => ({ name, what, chosen: scopes.includes(name) })),
    otherScopes: scopes.filter((name) => !Object.hasOwn(SCOPES, name)).join(' '),
    loginHint: made.login_hint,
    maxAge: made.max_age,
    isOpen: isChange || Object.entries(made).some(([name, value]) => name !== 'server' && value !== DEFAULT_CHOICES[name as keyof Choices]),
  };
}
