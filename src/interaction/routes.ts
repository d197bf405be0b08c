/** The hosted pages for end users, all on one screen: which address shows what, and what stands before each of them. */
import type { IncomingMessage } from 'node:http';
import Router, { type RouterContext } from '@koa/router';
import type Koa from 'koa';
import type { Config } from '../config.ts';
import { createFormTokens, type FormTokens, refuseCrossSite } from '../http/csrf.ts';
import type { Pages } from '../http/pages.ts';
import { seeOther } from '../http/see-other.ts';
import type { Services } from '../services/dependencies.ts';
import { choosePasswordPage, receiveChosenPassword } from './choose-password.ts';
import { askForConsent, receiveConsent } from './consent.ts';
import { type BrowserSessions, type InteractionDetails, InteractionGone, type Interactions } from './interactions.ts';
import { returnNotAssigned, tellNotAssigned } from './not-assigned.ts';
import { askToSignIn, cancelSignIn, receiveSignIn } from './sign-in.ts';
import { homePage, receiveStandaloneSignIn, signInPage } from './standalone.ts';
import { carryOn } from './way.ts';

/** What the pages are built on. */
export interface HostedPagesDependencies {
  readonly services: Services;
  readonly interactions: Interactions;
  readonly sessions: BrowserSessions;
  readonly pages: Pages;
  readonly config: Config;
  /** Is there a playground for this request, so that a page may lead to it? */
  playgroundPresent(req: IncomingMessage): boolean;
}

/** What each page is given. */
export interface House extends HostedPagesDependencies {
  readonly formTokens: FormTokens;
}

type Step = (house: House, ctx: Koa.Context, details: InteractionDetails) => Promise<void>;

const INTERACTION = '/interaction/:server/:uid';

/** Shows what the interaction asks for next. */
const PAGES = { login: askToSignIn, assignment: tellNotAssigned, consent: askForConsent } as const;
const show: Step = (house, ctx, details) => PAGES[details.prompt](house, ctx, details);

/** @returns a middleware for the hosted pages; other addresses go on to the next */
export function hostedPages(dependencies: HostedPagesDependencies): Koa.Middleware {
  const { config, services, interactions } = dependencies;
  const house: House = { ...dependencies, formTokens: createFormTokens(config, services.keyring) };

  /** Runs a step with the interaction that the address names, if it is this browser's. */
  const step =
    (run: Step, prompt?: InteractionDetails['prompt']) =>
    async (ctx: RouterContext): Promise<void> => {
      const { server = '', uid = '' } = ctx.params;
      const details = await interactions.details(ctx.req, ctx.res, server, uid);
      if (details.uid !== uid || details.serverId !== server) throw new InteractionGone('other-browser');
      // A form that stayed open in another tab while the interaction went on: show where it stands now.
      await (prompt === undefined || details.prompt === prompt ? run : show)(house, ctx, details);
    };

  /** The address of a form asked for without it, e.g. from the address bar: back to the page that has the form. */
  const backToInteraction = (ctx: RouterContext): void => {
    const { server = '', uid = '' } = ctx.params;
    seeOther(ctx, carryOn(ctx, `/interaction/${encodeURIComponent(server)}/${encodeURIComponent(uid)}`));
  };

  const router = new Router()
    .use(refuseCrossSite(config))
    .get('/', (ctx) => homePage(house, ctx))
    .get('/signin', (ctx) => signInPage(house, ctx))
    .post('/signin', (ctx) => receiveStandaloneSignIn(house, ctx))
    .get('/choose-password/:token', (ctx) => choosePasswordPage(house, ctx))
    .post('/choose-password/:token', (ctx) => receiveChosenPassword(house, ctx))
    .get(INTERACTION, step(show))
    .get(`${INTERACTION}/:step`, backToInteraction)
    .post(`${INTERACTION}/login`, step(receiveSignIn, 'login'))
    .post(`${INTERACTION}/cancel`, step(cancelSignIn, 'login'))
    .post(`${INTERACTION}/return`, step(returnNotAssigned, 'assignment'))
    .post(`${INTERACTION}/consent`, step(receiveConsent, 'consent'));
  // The router itself adds to the context what its type asks for.
  return router.routes() as Koa.Middleware;
}
