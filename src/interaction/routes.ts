/** The hosted pages for end users, all on one screen: which address shows what, and what stands before each of them. */
import type { IncomingMessage } from 'node:http';
import Router, { type RouterContext } from '@koa/router';
import type Koa from 'koa';
import type { Config } from '../config.ts';
import { createFormTokens, type FormTokens, refuseCrossSite } from '../http/csrf.ts';
import type { Pages } from '../http/pages.ts';
import { seeOther } from '../http/see-other.ts';
import type { Transactions } from '../http/transactions.ts';
import type { Services } from '../services/dependencies.ts';
import { createUpstream, type Upstream } from '../services/upstream-exchange.ts';
import type { UpstreamCall } from '../services/upstream-metadata.ts';
import { choosePasswordPage, receiveChosenPassword } from './choose-password.ts';
import { connectAccount, disconnectAccount, finishConnection } from './connected-accounts.ts';
import { askForConsent, receiveConsent } from './consent.ts';
import {
  receiveEnrolled,
  receiveEnrolment,
  receiveFactor,
  receiveNewPassword,
  receivePasskeyEnrolment,
  receiveRestart,
} from './continue-sign-in.ts';
import { SECURITY_PAGE } from './fresh-sign-in.ts';
import { type BrowserSessions, type InteractionDetails, InteractionGone, type Interactions } from './interactions.ts';
import { returnNotAssigned, tellNotAssigned } from './not-assigned.ts';
import { type PasskeyChallenges, passkeyChallenges } from './passkey-forms.ts';
import { addPasskeyPage, receivePasskey } from './passkey-page.ts';
import { receivePasskeySignIn } from './passkey-sign-in.ts';
import { addApp, confirmApp, newCodes, removeApp, securityPage } from './security-page.ts';
import { askToSignIn, cancelSignIn, nextStep, receiveSignIn } from './sign-in.ts';
import { beginUpstream, finishUpstream, receiveUpstream } from './social.ts';
import { homePage, receiveStandaloneSignIn, signInPage, standaloneStep } from './standalone.ts';
import { type KeptTransaction, upstreamTransactions } from './upstream-place.ts';
import { carryOn } from './way.ts';

/** What the pages are built on. */
export interface HostedPagesDependencies {
  readonly services: Services;
  readonly interactions: Interactions;
  readonly sessions: BrowserSessions;
  readonly pages: Pages;
  readonly config: Config;
  /** The way out, to external providers. */
  readonly outbound: UpstreamCall;
  /** Is there a playground for this request, so that a page may lead to it? */
  playgroundPresent(req: IncomingMessage): boolean;
}

/** What each page is given. */
export interface House extends HostedPagesDependencies {
  readonly formTokens: FormTokens;
  readonly passkeyChallenges: PasskeyChallenges;
  readonly upstream: Upstream;
  readonly upstreamTransactions: Transactions<KeptTransaction>;
}

type Step = (house: House, ctx: Koa.Context, details: InteractionDetails) => Promise<void>;

const INTERACTION = '/interaction/:server/:uid';
const UPSTREAM_CALLBACK = '/interaction/upstream/:idp/callback';

/** Shows what the interaction asks for next. */
const PAGES = { login: askToSignIn, assignment: tellNotAssigned, consent: askForConsent } as const;
const show: Step = (house, ctx, details) => PAGES[details.prompt](house, ctx, details);

/** @returns a middleware for the hosted pages; other addresses go on to the next */
export function hostedPages(dependencies: HostedPagesDependencies): Koa.Middleware {
  const { config, services, interactions } = dependencies;
  const house: House = {
    ...dependencies,
    formTokens: createFormTokens(config, services.keyring),
    passkeyChallenges: passkeyChallenges(services.keyring),
    upstream: createUpstream(services, dependencies.outbound),
    upstreamTransactions: upstreamTransactions(config, services.keyring),
  };

  /** Runs a step with the interaction that the address names, if it is this browser's. */
  const step =
    (run: Step, prompt?: InteractionDetails['prompt']) =>
    async (ctx: RouterContext): Promise<void> => {
      const { server = '', uid = '' } = ctx.params;
      const details = await interactions.details(ctx.req, ctx.res, server, uid);
      if (details.uid !== uid || details.serverId !== server) throw new InteractionGone('other-browser');
      ctx.state.brandColor = details.application.brandColor;
      // A form that stayed open in another tab while the interaction went on: show where it stands now.
      await (prompt === undefined || details.prompt === prompt ? run : show)(house, ctx, details);
    };

  /** The address of a form asked for without it, e.g. from the address bar: back to the page that has the form. */
  const backToInteraction = (ctx: RouterContext): void => {
    const { server = '', uid = '' } = ctx.params;
    seeOther(ctx, carryOn(ctx, `/interaction/${encodeURIComponent(server)}/${encodeURIComponent(uid)}`));
  };

  // Posts of other sites: the providers' (OAuth 2.0 Form Post Response Mode). They change nothing.
  const callbacks = new Router()
    .get(UPSTREAM_CALLBACK, (ctx) => receiveUpstream(house.pages, ctx))
    .post(UPSTREAM_CALLBACK, (ctx) => receiveUpstream(house.pages, ctx));
  const router = new Router()
    .use(callbacks.routes())
    .use(refuseCrossSite(config))
    .get('/', (ctx) => homePage(house, ctx))
    .get('/signin', (ctx) => signInPage(house, ctx))
    .post('/signin', (ctx) => receiveStandaloneSignIn(house, ctx))
    .post('/signin/password', (ctx) => standaloneStep(house, ctx, receiveNewPassword, 'sign-in.begin-again'))
    .get('/signin/upstream', (ctx) => finishUpstream(house, ctx, 'standalone'))
    .get('/signin/upstream/:idp', (ctx) => beginUpstream(house, ctx, 'standalone'))
    .post('/signin/passkey', (ctx) => receivePasskeySignIn(house, ctx, 'standalone'))
    .get('/signin/:step', (ctx) => seeOther(ctx, carryOn(ctx, '/signin')))
    .post('/signin/factor', (ctx) => standaloneStep(house, ctx, receiveFactor, 'factor.gone'))
    .post('/signin/enroll', (ctx) => standaloneStep(house, ctx, receiveEnrolment, 'factor.gone'))
    .post('/signin/enroll-passkey', (ctx) => standaloneStep(house, ctx, receivePasskeyEnrolment, 'factor.gone'))
    .post('/signin/enrolled', (ctx) => standaloneStep(house, ctx, receiveEnrolled, 'factor.gone'))
    .post('/signin/restart', (ctx) => standaloneStep(house, ctx, receiveRestart))
    .get(SECURITY_PAGE, (ctx) => securityPage(house, ctx))
    .get(`${SECURITY_PAGE}/upstream`, (ctx) => finishConnection(house, ctx))
    .get(`${SECURITY_PAGE}/:step`, (ctx) => seeOther(ctx, carryOn(ctx, SECURITY_PAGE)))
    .post(`${SECURITY_PAGE}/app`, (ctx) => addApp(house, ctx))
    .post(`${SECURITY_PAGE}/passkey`, (ctx) => addPasskeyPage(house, ctx))
    .post(`${SECURITY_PAGE}/enroll-passkey`, (ctx) => receivePasskey(house, ctx))
    .post(`${SECURITY_PAGE}/enroll`, (ctx) => confirmApp(house, ctx))
    .post(`${SECURITY_PAGE}/recovery-codes`, (ctx) => newCodes(house, ctx))
    .post(`${SECURITY_PAGE}/remove`, (ctx) => removeApp(house, ctx))
    .post(`${SECURITY_PAGE}/connect`, (ctx) => connectAccount(house, ctx))
    .post(`${SECURITY_PAGE}/disconnect`, (ctx) => disconnectAccount(house, ctx))
    .get('/choose-password/:token', (ctx) => choosePasswordPage(house, ctx))
    .post('/choose-password/:token', (ctx) => receiveChosenPassword(house, ctx))
    .get(INTERACTION, step(show))
    .get(`${INTERACTION}/upstream`, step(finishUpstream, 'login'))
    .get(
      `${INTERACTION}/upstream/:idp`,
      step((_house, ctx, details) => beginUpstream(house, ctx as RouterContext, details), 'login'),
    )
    .get(`${INTERACTION}/:step`, backToInteraction)
    .post(`${INTERACTION}/login`, step(receiveSignIn, 'login'))
    .post(`${INTERACTION}/passkey`, step(receivePasskeySignIn, 'login'))
    .post(`${INTERACTION}/password`, step(nextStep(receiveNewPassword, 'sign-in.begin-again'), 'login'))
    .post(`${INTERACTION}/factor`, step(nextStep(receiveFactor, 'factor.gone'), 'login'))
    .post(`${INTERACTION}/enroll`, step(nextStep(receiveEnrolment, 'factor.gone'), 'login'))
    .post(`${INTERACTION}/enroll-passkey`, step(nextStep(receivePasskeyEnrolment, 'factor.gone'), 'login'))
    .post(`${INTERACTION}/enrolled`, step(nextStep(receiveEnrolled, 'factor.gone'), 'login'))
    .post(`${INTERACTION}/restart`, step(nextStep(receiveRestart), 'login'))
    .post(`${INTERACTION}/cancel`, step(cancelSignIn, 'login'))
    .post(`${INTERACTION}/return`, step(returnNotAssigned, 'assignment'))
    .post(`${INTERACTION}/consent`, step(receiveConsent, 'consent'));
  // The router itself adds to the context what its type asks for.
  return router.routes() as Koa.Middleware;
}
