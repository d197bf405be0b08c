/** Routes of the hosted pages for end users, with their middleware. */
import Router, { type RouterContext } from '@koa/router';
import type Koa from 'koa';
import { SECURITY_PAGE, withCarriedParameters } from '../../pages/hosted/carried-parameters.ts';
import { refuseCrossSite } from '../../platform/http/csrf.ts';
import { seeOther } from '../../platform/http/forms.ts';
import { returnNotAssigned, showNotAssigned } from '../applications/not-assigned.hosted.ts';
import { askForConsent, receiveConsent } from '../consents/consent.hosted.ts';
import { activatePage } from '../device-requests/activate.hosted.ts';
import { followCodeLink, receiveCode, receiveCodeAgain } from '../email-codes/email-code.hosted.ts';
import { beginUpstream, finishUpstream, receiveUpstream } from '../identity-providers/social.hosted.ts';
import { inboxMailHtml, inboxMailPage, inboxPage } from '../mail/dev-inbox.hosted.ts';
import { receiveFactorSend, receiveFirstCode, receiveMessageEnrolment, receiveOtherWay } from '../message-factors/message-steps.hosted.ts';
import { findDesignOfOrganization, showOrganization } from '../organization-branding/organization-branding.service.ts';
import { backToInvitation, INVITATION_PAGE, invitationPage, receiveInvitation } from '../organization-invitations/invitation.hosted.ts';
import { beginBySetupLink, finishSetupTest, receiveSetup, SETUP_PAGE, setupLink, setupPage } from '../organization-setup/setup.hosted.ts';
import { askForOrganization, receiveOrganization } from '../organizations/choose-organization.hosted.ts';
import { receivePasskeySignIn } from '../passkeys/passkey-sign-in.hosted.ts';
import { relatedOrigins } from '../passkeys/passkeys.service.ts';
import { choosePasswordPage, receiveChosenPassword } from '../passwords/choose-password.hosted.ts';
import { forgottenPasswordPage, receiveForgottenPassword } from '../passwords/forgotten-password.hosted.ts';
import { receiveStandaloneSignUp, signUpPage, waitingPage } from '../sign-up/sign-up.hosted.ts';
import { receiveVerifiedEmail, verifiedEmailPage, verifyEmailPage } from '../users/verify-email.hosted.ts';
import { type InteractionDetails, InteractionEnded, type SignInDeps } from './interactions.hosted.ts';
import {
  receiveEnrolled,
  receiveEnrolment,
  receiveFactor,
  receiveNewPassword,
  receiveOffer,
  receivePasskeyEnrolment,
  receiveRestart,
} from './second-step.hosted.ts';
import { askToSignIn, askToSignUp, cancelSignIn, nextStep, receiveAccount, receiveSignIn, showSignInForm } from './sign-in.hosted.ts';
import { homePage, receiveStandaloneSignIn, signInPage, standaloneStep } from './standalone.hosted.ts';

type Step = (deps: SignInDeps, ctx: Koa.Context, details: InteractionDetails) => Promise<void>;

const INTERACTION = '/interaction/:server/:uid';
const UPSTREAM_CALLBACK = '/interaction/upstream/:idp/callback';

/** The page for each prompt of an interaction. */
const PAGES = { login: askToSignIn, assignment: showNotAssigned, organization: askForOrganization, consent: askForConsent } as const;
const show: Step = (deps, ctx, details) => PAGES[details.prompt](deps, ctx, details);

/** @returns middleware for the hosted pages; other requests go to the next one */
export function hostedPages(deps: SignInDeps): Koa.Middleware {
  const { config, interactions } = deps;

  /** Runs a step with the interaction of the URL, if it belongs to this browser. */
  const step =
    (run: Step, prompt?: InteractionDetails['prompt']) =>
    async (ctx: RouterContext): Promise<void> => {
      const { server = '', uid = '' } = ctx.params;
      const details = await interactions.details(ctx.req, ctx.res, server, uid);
      if (details.uid !== uid || details.serverId !== server) throw new InteractionEnded('other-browser');
      ctx.state.brandColor = details.application.brandColor;
      if (details.signsInFor !== undefined) showOrganization(ctx, await findDesignOfOrganization(deps.services, details.signsInFor));
      // The form is from another tab, and the interaction has continued: show its current step.
      await (prompt === undefined || details.prompt === prompt ? run : show)(deps, ctx, details);
    };

  /** A form's URL was opened directly, e.g. from the address bar: redirect to its page. */
  const backToInteraction = (ctx: RouterContext): void => {
    const { server = '', uid = '' } = ctx.params;
    seeOther(ctx, withCarriedParameters(ctx, `/interaction/${encodeURIComponent(server)}/${encodeURIComponent(uid)}`));
  };

  // Cross-site posts of identity providers (OAuth 2.0 Form Post Response Mode). They change nothing.
  const callbacks = new Router()
    .get(UPSTREAM_CALLBACK, (ctx) => receiveUpstream(deps.pages, ctx))
    .post(UPSTREAM_CALLBACK, (ctx) => receiveUpstream(deps.pages, ctx));
  const router = new Router()
    .use(callbacks.routes())
    .use(refuseCrossSite(config))
    .get('/', (ctx) => homePage(deps, ctx))
    .get('/activate', (ctx) => activatePage(deps, ctx))
    .get('/signin', (ctx) => signInPage(deps, ctx))
    .post('/signin', (ctx) => receiveStandaloneSignIn(deps, ctx))
    .post('/signin/password', (ctx) => standaloneStep(deps, ctx, receiveNewPassword, 'sign-in.begin-again'))
    .get('/signin/upstream', (ctx) => finishUpstream(deps, ctx, 'standalone'))
    .get('/signin/upstream/:idp', (ctx) => beginUpstream(deps, ctx, 'standalone'))
    .post('/signin/passkey', (ctx) => receivePasskeySignIn(deps, ctx, 'standalone'))
    .get('/signin/:step', (ctx) => seeOther(ctx, withCarriedParameters(ctx, '/signin')))
    .post('/signin/factor', (ctx) => standaloneStep(deps, ctx, receiveFactor, 'factor.gone'))
    .post('/signin/enroll', (ctx) => standaloneStep(deps, ctx, receiveEnrolment, 'factor.gone'))
    .post('/signin/enroll-passkey', (ctx) => standaloneStep(deps, ctx, receivePasskeyEnrolment, 'factor.gone'))
    .post('/signin/passkey-offer', (ctx) => standaloneStep(deps, ctx, receiveOffer, 'factor.gone'))
    .post('/signin/factor-send', (ctx) => standaloneStep(deps, ctx, receiveFactorSend, 'factor.gone'))
    .post('/signin/enroll-message', (ctx) => standaloneStep(deps, ctx, receiveMessageEnrolment, 'factor.gone'))
    .post('/signin/enroll-code', (ctx) => standaloneStep(deps, ctx, receiveFirstCode, 'factor.gone'))
    .post('/signin/enroll-other', (ctx) => standaloneStep(deps, ctx, receiveOtherWay, 'factor.gone'))
    .post('/signin/enrolled', (ctx) => standaloneStep(deps, ctx, receiveEnrolled, 'factor.gone'))
    .post('/signin/code', (ctx) => standaloneStep(deps, ctx, receiveCode, 'code.gone'))
    .post('/signin/code-again', (ctx) => standaloneStep(deps, ctx, receiveCodeAgain, 'code.gone'))
    .post('/signin/restart', (ctx) => standaloneStep(deps, ctx, receiveRestart))
    .get('/choose-password/:token', (ctx) => choosePasswordPage(deps, ctx))
    .post('/choose-password/:token', (ctx) => receiveChosenPassword(deps, ctx))
    .get('/invitation/:token', (ctx) => invitationPage(deps, ctx))
    .post('/invitation/:token', (ctx) => receiveInvitation(deps, ctx))
    .get(SETUP_PAGE, (ctx) => setupPage(deps, ctx))
    .post(SETUP_PAGE, (ctx) => receiveSetup(deps, ctx))
    .get(`${SETUP_PAGE}/upstream`, (ctx) => finishSetupTest(deps, ctx))
    .get(`${SETUP_PAGE}/:token`, (ctx) => setupLink(deps, ctx))
    .post(`${SETUP_PAGE}/:token`, (ctx) => beginBySetupLink(deps, ctx))
    .get(INVITATION_PAGE, (ctx) => backToInvitation(deps, ctx))
    .get('/forgot-password', (ctx, next) => forgottenPasswordPage(deps, ctx, next))
    .post('/forgot-password', (ctx, next) => receiveForgottenPassword(deps, ctx, next))
    .get('/signup', (ctx, next) => signUpPage(deps, ctx, next))
    .post('/signup', (ctx, next) => receiveStandaloneSignUp(deps, ctx, next))
    .get('/signup/waiting', (ctx) => waitingPage(deps, ctx))
    .get('/code/:token', (ctx) => followCodeLink(deps, ctx))
    .get('/verify-email/:token', (ctx) => verifyEmailPage(deps, ctx))
    .post('/verify-email/:token', (ctx) => receiveVerifiedEmail(deps, ctx))
    .get('/verified-email', (ctx) => verifiedEmailPage(deps, ctx))
    // Target for passkey managers (W3C, A Well-Known URL for Relying Party Passkey Endpoints).
    .get('/.well-known/passkey-endpoints', (ctx) => {
      const page = `${config.baseUrl}${SECURITY_PAGE}`;
      ctx.body = { enroll: page, manage: page };
    })
    .get('/.well-known/webauthn', (ctx, next) => {
      const origins = relatedOrigins(config);
      if (origins === undefined) return next();
      ctx.body = { origins };
    })
    // Okta's Terraform provider requests this to find out the type of the service. The older type has no authentication policies for applications.
    .get('/.well-known/okta-organization', (ctx) => {
      ctx.body = { id: 'gatehouse', pipeline: 'v1', settings: {}, _links: { organization: { href: config.baseUrl } } };
    })
    .get('/.well-known/change-password', (ctx) => seeOther(ctx, '/account/password'))
    .get('/dev/inbox', (ctx, next) => inboxPage(deps, ctx, next))
    .get('/dev/inbox/:id', (ctx, next) => inboxMailPage(deps, ctx, next))
    .get('/dev/inbox/:id/html', (ctx, next) => inboxMailHtml(deps, ctx, next))
    .get(INTERACTION, step(show))
    .get(`${INTERACTION}/upstream`, step(finishUpstream, 'login'))
    .get(
      `${INTERACTION}/upstream/:idp`,
      step((_deps, ctx, details) => beginUpstream(deps, ctx as RouterContext, details), 'login'),
    )
    .get(`${INTERACTION}/signup`, step(askToSignUp, 'login'))
    .get(`${INTERACTION}/signin`, step(showSignInForm, 'login'))
    .get(`${INTERACTION}/:step`, backToInteraction)
    .post(`${INTERACTION}/login`, step(receiveSignIn, 'login'))
    .post(`${INTERACTION}/signup`, step(receiveAccount, 'login'))
    .post(`${INTERACTION}/passkey`, step(receivePasskeySignIn, 'login'))
    .post(`${INTERACTION}/password`, step(nextStep(receiveNewPassword, 'sign-in.begin-again'), 'login'))
    .post(`${INTERACTION}/factor`, step(nextStep(receiveFactor, 'factor.gone'), 'login'))
    .post(`${INTERACTION}/enroll`, step(nextStep(receiveEnrolment, 'factor.gone'), 'login'))
    .post(`${INTERACTION}/enroll-passkey`, step(nextStep(receivePasskeyEnrolment, 'factor.gone'), 'login'))
    .post(`${INTERACTION}/passkey-offer`, step(nextStep(receiveOffer, 'factor.gone'), 'login'))
    .post(`${INTERACTION}/factor-send`, step(nextStep(receiveFactorSend, 'factor.gone'), 'login'))
    .post(`${INTERACTION}/enroll-message`, step(nextStep(receiveMessageEnrolment, 'factor.gone'), 'login'))
    .post(`${INTERACTION}/enroll-code`, step(nextStep(receiveFirstCode, 'factor.gone'), 'login'))
    .post(`${INTERACTION}/enroll-other`, step(nextStep(receiveOtherWay, 'factor.gone'), 'login'))
    .post(`${INTERACTION}/enrolled`, step(nextStep(receiveEnrolled, 'factor.gone'), 'login'))
    .post(`${INTERACTION}/code`, step(nextStep(receiveCode, 'code.gone'), 'login'))
    .post(`${INTERACTION}/code-again`, step(nextStep(receiveCodeAgain, 'code.gone'), 'login'))
    .post(`${INTERACTION}/restart`, step(nextStep(receiveRestart), 'login'))
    .post(`${INTERACTION}/cancel`, step(cancelSignIn, 'login'))
    .post(`${INTERACTION}/return`, step(returnNotAssigned, 'assignment'))
    .post(`${INTERACTION}/organization`, step(receiveOrganization, 'organization'))
    .post(`${INTERACTION}/consent`, step(receiveConsent, 'consent'));
  // The router adds to the context what its type requires.
  return router.routes() as Koa.Middleware;
}
