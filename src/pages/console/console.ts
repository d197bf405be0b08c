/**
 * The admin console at `/admin`: access, content and layout of all pages. Each request checks the console's cookie, the browser's session at the
 * authorization server and the user's roles, so that a logout anywhere, a deactivation or a lost role takes effect immediately; also the second
 * factor, if it is required meanwhile. Works without JavaScript.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import Router, { type RouterContext } from '@koa/router';
import type Koa from 'koa';
import type { Logger } from 'pino';
import { mayCall } from '../../features/administrators/administration.policy.ts';
import { type ConsoleUser, findConsoleUser, isAdministratorNamed } from '../../features/administrators/administrators.service.ts';
import { hasRecorded } from '../../features/audit/audit.service.ts';
import { isMultiFactor } from '../../features/second-factors/second-factor.policy.ts';
import { endOfGrace, isFactorRequiredByPolicy } from '../../features/second-factors/second-factor-requirement.service.ts';
import { isFreshSignIn, type SignedIn } from '../../features/sign-in/fresh-sign-in.service.ts';
import { countElsewhere } from '../../features/users/names-elsewhere.service.ts';
import type { Config } from '../../platform/config/config.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { createFormTokens, refuseCrossSite } from '../../platform/http/csrf.ts';
import { readForm, readUpload, seeOther } from '../../platform/http/forms.ts';
import { clientAddress, isForwarded, requestId } from '../../platform/http/requests.ts';
import type { Pages } from '../../platform/http/views.ts';
import { asPhrase, phrase, type Text } from '../../platform/i18n/phrase.ts';
import { momentOrNull } from '../../platform/i18n/times.ts';
import type { Translator } from '../../platform/i18n/translator.ts';
import { isPrintable } from '../../platform/validation/text.ts';
import { headActions } from './actions.ts';
import { initialsOf } from './avatar.ts';
import { documentationOf } from './documentation.ts';
import { type ApiFields, fieldHelp } from './field-help.ts';
import { keptForms } from './kept-form.ts';
import { consoleLanguages, keepRequestedLanguage } from './language.ts';
import { menuFor } from './navigation.ts';
import { consoleNotices } from './notices.ts';
import { type ConsolePage, type ConsoleRequest, type Drawn, NOTHING_TYPED } from './page.ts';
import { PAGES } from './pages.ts';
import { LOOK_UP } from './picker.ts';
import { fieldMessages, NOT_ALLOWED, NOT_FOUND, refusalOf } from './refusals.ts';
import type { ConsoleCredentials } from './relying-party.ts';
import { consoleSessions } from './session.ts';
import { consoleSignIn, type SignInPrompt } from './sign-in.ts';
import { consoleTheme, keepRequestedTheme } from './theme.ts';

export interface ConsoleDependencies {
  readonly config: Config;
  readonly services: Services;
  readonly pages: Pages;
  readonly log: Logger;
  /** The browser's session at the authorization server. */
  readonly sessions: {
    current(req: IncomingMessage, res: ServerResponse): Promise<SignedIn | undefined>;
  };
  /** The console's application; undefined if it is not registered. */
  client(): Promise<ConsoleCredentials | undefined>;
  /** Is there a playground for this request, so that a page can link to it? */
  playgroundPresent(req: IncomingMessage): boolean;
  readonly apiFields: ApiFields;
}

const HOME = '/admin';

/** The title of the browser's tab. */
const titleOf = ({ t }: Translator, title: Text, status: number): string =>
  t(phrase(status >= 400 ? 'Error: {title} – Admin console' : '{title} – Admin console', { title: asPhrase(title) }));

/** @returns a middleware that answers everything under /admin; other requests go to the next one */
export function adminConsole({
  config,
  services,
  pages,
  log,
  sessions,
  client,
  playgroundPresent,
  apiFields,
}: ConsoleDependencies): Koa.Middleware {
  const keys = services.keyring.keysOf('console');
  const languages = consoleLanguages(log);
  const own = consoleSessions({ keys, secure: config.secure });
  const notices = consoleNotices({ keys, secure: config.secure });
  const door = consoleSignIn({ config, pages, log, languages, keys, sessions: own, notices, client });
  const formTokens = createFormTokens(config, services.keyring);
  const kept = keptForms({ keys, secure: config.secure });

  /** Returns the user, or the required prompt: sign in, sign in again, or use a second factor. */
  async function userOrPrompt(
    ctx: RouterContext,
    { needsFreshSignIn = false }: Pick<ConsolePage, 'needsFreshSignIn'>,
  ): Promise<ConsoleUser | SignInPrompt> {
    const session = await own.current(ctx);
    const browser = session && (await sessions.current(ctx.req, ctx.res));
    if (session === undefined || browser?.accountId !== session.userId) return 'login';
    if (!isMultiFactor(browser.amr) && (await isFactorRequiredByPolicy(services, session.userId, {}))) return 'factor';
    const isNeeded =
      needsFreshSignIn === 'of-administrators' ? await isAdministratorNamed(services, ctx.params.id ?? '') : needsFreshSignIn;
    if (isNeeded && !(await isFreshSignIn({ services }, browser))) return 'again';
    return (await findConsoleUser(services, session.userId)) ?? 'login';
  }

  const visitOf = (ctx: RouterContext, person: ConsoleUser): ConsoleRequest => ({
    services,
    person,
    request: {
      actor: { id: person.id, type: 'User', displayName: person.login },
      roles: person.roles,
      ipAddress: clientAddress(ctx.req, config.trustProxy),
      userAgent: ctx.get('User-Agent'),
      requestId: requestId(ctx.req),
      isForwarded: isForwarded(ctx.headers),
    },
    req: ctx.req,
    params: ctx.params ?? {},
    query: new URLSearchParams(ctx.search),
    translate: (text) => languages.of(ctx, person).t(text),
  });

  /** Draws a page in the console's frame. */
  async function draw(ctx: Koa.Context, person: ConsoleUser, page: Drawn, status = 200): Promise<void> {
    const language = languages.of(ctx, person);
    const theme = consoleTheme(ctx);
    const {
      view,
      title,
      locals,
      lead,
      avatar,
      status: state,
      crumbs = [],
      actions = [],
      more = [],
      tabs = [],
      scripts = [],
      images = [],
    } = page;
    const frame = {
      ...language,
      title: titleOf(language, title, status),
      heading: title,
      lead,
      state,
      avatar: avatar && initialsOf(avatar),
      crumbs,
      actions: headActions(actions, more),
      tabs: tabs.map((tab) => ({ ...tab, isCurrent: tab.isCurrent ?? tab.href === ctx.path })),
      notice: await notices.take(ctx, person.id),
      factorNeededFrom: momentOrNull((await endOfGrace(services, person.id)) ?? null),
      menu: menuFor(person.roles, ctx.path),
      isHome: ctx.path === HOME,
      person: { ...person, initials: initialsOf(person.name || person.login) },
      playground: playgroundPresent(ctx.req),
      formToken: formTokens.field(ctx, person.id),
      action: ctx.path,
      documentation: documentationOf(ctx.path),
      helpOf: fieldHelp(ctx.path, apiFields),
      themes: theme.themes,
      stylesheets: ['frame.css', 'admin.css', ...theme.stylesheets],
      scripts: ['local-time.js', 'find.js', ...scripts],
    };
    await pages.render(ctx, `admin/${view}`, { ...frame, ...locals }, { status, frame: 'admin/frame', images, connects: true });
  }

  /** Stores the form of a user who must sign in first: it is shown again with its page. */
  async function keepForm(ctx: RouterContext): Promise<void> {
    const userId = await own.lastUser(ctx);
    if (ctx.method !== 'POST' || userId === undefined || ctx.is('multipart')) return;
    const form = await readForm(ctx);
    formTokens.verify(ctx, form, userId);
    await kept.keep(ctx, userId, form);
  }

  /** Runs a step for an administrator; others must sign in, or see that they have no access. */
  const forAdministrators =
    (page: Pick<ConsolePage, 'needsFreshSignIn'>, step: (ctx: RouterContext, person: ConsoleUser) => Promise<void>) =>
    async (ctx: RouterContext) => {
      const person = await userOrPrompt(ctx, page);
      if (typeof person === 'string') {
        await keepForm(ctx);
        return door.begin(ctx, person === 'login' ? undefined : person);
      }
      if (person.roles.length === 0) {
        const language = languages.of(ctx, person);
        const title = titleOf(language, 'No access', 403);
        return pages.render(ctx, 'admin/no-access', { ...language, title, person }, { status: 403 });
      }
      try {
        await step(ctx, person);
      } catch (error) {
        const refused = refusalOf(error);
        if (refused === undefined) throw error;
        await draw(ctx, person, refused.page, refused.status);
      }
    };

  const isFound = (ctx: RouterContext): boolean => Object.values(ctx.params as Record<string, string>).every(isPrintable);

  /** Handles GET requests of a page. */
  const looked = (page: ConsolePage, look: (ctx: RouterContext, visit: ConsoleRequest) => Promise<void>) =>
    forAdministrators(page, async (ctx, person) => {
      const { access, verb = 'read' } = page;
      if (!isFound(ctx)) return draw(ctx, person, NOT_FOUND.page, NOT_FOUND.status);
      if (!mayCall(person.roles, access, verb)) return draw(ctx, person, NOT_ALLOWED.page, NOT_ALLOWED.status);
      await look(ctx, visitOf(ctx, person));
    });

  const shown = (page: ConsolePage) =>
    looked(page, async (ctx, visit) => {
      const values = page.receive && (await kept.take(ctx, visit.person.id));
      await draw(ctx, visit.person, await page.show(visit, values === undefined ? NOTHING_TYPED : { values, problems: [] }));
    });

  const downloaded = (page: ConsolePage, download: NonNullable<ConsolePage['download']>) =>
    looked(page, async (ctx, visit) => {
      const { name, type, content } = await download(visit);
      ctx.attachment(name);
      ctx.set('Cache-Control', 'no-store');
      ctx.type = type;
      ctx.body = content;
    });

  const received = (page: ConsolePage, receive: NonNullable<ConsolePage['receive']>) =>
    forAdministrators(page, async (ctx, person) => {
      const form = page.mostFileBytes === undefined ? await readForm(ctx) : await readUpload(ctx, page.mostFileBytes);
      formTokens.verify(ctx, form, person.id);
      if (!isFound(ctx)) return draw(ctx, person, NOT_FOUND.page, NOT_FOUND.status);
      if (!mayCall(person.roles, page.access, 'write')) return draw(ctx, person, NOT_ALLOWED.page, NOT_ALLOWED.status);
      const visit = visitOf(ctx, person);
      // A search within a form changes nothing: the form is shown again with the results.
      if (form.has(LOOK_UP)) return draw(ctx, person, await page.show(visit, { values: form, problems: [] }));
      try {
        const outcome = await receive(visit, form);
        if ('goTo' in outcome) {
          // Another administrator may have taken the step meanwhile; then only they can undo it.
          await notices.keep(ctx, person.id, hasRecorded(visit.request) ? outcome : { ...outcome, undo: undefined });
          seeOther(ctx, outcome.goTo);
        } else await draw(ctx, person, outcome);
      } catch (error) {
        await countElsewhere(services, error);
        const problems = fieldMessages(error);
        if (problems === undefined) throw error;
        await draw(ctx, person, await page.show(visit, { values: form, problems }), 400);
      }
    });

  // Whole paths: a router with a prefix compiles the pattern of each path twice.
  const router = new Router()
    .get(`${HOME}/callback`, (ctx) => door.finish(ctx))
    .get(`${HOME}/sign-in`, (ctx) => door.begin(ctx, 'login'))
    .post(`${HOME}/sign-out`, async (ctx) => {
      const form = await readForm(ctx);
      const session = await own.current(ctx);
      // Without a session, the server asks for confirmation before it signs anyone out.
      if (session !== undefined) formTokens.verify(ctx, form, session.userId);
      await door.signOut(ctx);
    });
  for (const page of PAGES) {
    const path = page.path === '/' ? HOME : `${HOME}${page.path}`;
    router.get(path, shown(page));
    if (page.receive !== undefined) router.post(path, received(page, page.receive));
    if (page.download !== undefined) router.get(`${path}/download`, downloaded(page, page.download));
  }
  const ownForm = refuseCrossSite(config);
  // The router adds to the context what its type requires.
  const routes = router.routes() as Koa.Middleware;
  const unknown = forAdministrators({}, (ctx, person) => draw(ctx, person, NOT_FOUND.page, NOT_FOUND.status));

  return (ctx, next) => {
    if (ctx.path !== HOME && !ctx.path.startsWith(`${HOME}/`)) return next();
    if (ctx.method === 'GET' && (keepRequestedLanguage(ctx) || keepRequestedTheme(ctx))) return;
    return ownForm(ctx, () => routes(ctx, () => unknown(ctx as RouterContext)));
  };
}
