/** Converts every error behind a hosted page to the error page, in one place. */
import type Koa from 'koa';
import type { Logger } from 'pino';
import { APPLICATION_PARAMETER, parameterOf } from '../../pages/hosted/carried-parameters.ts';
import type { ApplicationLink } from '../../pages/hosted/page-models.ts';
import { withTimeout } from '../../platform/clock/timeout.ts';
import { isUnavailable } from '../../platform/database/database-failures.ts';
import { ForgedForm } from '../../platform/http/csrf.ts';
import { requestId } from '../../platform/http/requests.ts';
import type { Pages } from '../../platform/http/views.ts';
import type { MessageKey } from '../../platform/i18n/messages.ts';
import { CodeGone } from '../email-codes/email-code.hosted.ts';
import { LinkGone } from '../passwords/choose-password.hosted.ts';
import { SignInDenied } from '../sign-in-rules/sign-in-rules.service.ts';
import { VerificationGone } from '../users/verify-email.hosted.ts';
import { errorPage } from './error-page.hosted.ts';
import { TooManyFailures } from './failure-limits.service.ts';
import { InteractionGone } from './interactions.hosted.ts';

interface Failure {
  readonly status: number;
  readonly code: string;
  readonly message: MessageKey;
}

const INTERACTION_FAILURES: Readonly<Record<InteractionGone['reason'], Failure>> = {
  expired: { status: 410, code: 'interaction_expired', message: 'failure.interaction_expired' },
  'other-browser': { status: 403, code: 'interaction_elsewhere', message: 'failure.interaction_elsewhere' },
  'session-changed': { status: 409, code: 'session_changed', message: 'failure.session_changed' },
};

const isClientError = (error: unknown): error is { readonly status: number } =>
  error instanceof Error && 'status' in error && typeof error.status === 'number' && error.status >= 400 && error.status < 500;

function failureOf(error: unknown): Failure {
  if (error instanceof InteractionGone) return INTERACTION_FAILURES[error.reason];
  if (error instanceof LinkGone) return { status: 410, code: 'link_gone', message: 'failure.link_gone' };
  if (error instanceof CodeGone) return { status: 410, code: 'code_gone', message: 'failure.code_gone' };
  if (error instanceof VerificationGone) return { status: 410, code: 'verification_gone', message: 'failure.verification_gone' };
  if (error instanceof ForgedForm) return { status: 403, code: 'form_refused', message: `failure.form_refused.${error.reason}` };
  if (error instanceof TooManyFailures) return { status: 429, code: 'too_many_failures', message: 'failure.too_many_failures' };
  if (error instanceof SignInDenied) return { status: 403, code: 'sign_in_denied', message: 'failure.sign_in_denied' };
  if (isUnavailable(error)) return { status: 503, code: 'temporarily_unavailable', message: 'failure.temporarily_unavailable' };
  // The body parser's refusals: too large, an encoding it does not know, cut off.
  if (isClientError(error)) return { status: error.status, code: 'bad_request', message: 'failure.bad_request' };
  return { status: 500, code: 'server_error', message: 'failure.server_error' };
}

/** Anyone who is in their own pages, or on the way there, came from no application. */
const ACCOUNT_PAGE = /^\/(account|signin)(\/|$)/;

/** Retry-After in seconds for pages that failed because of the database (RFC 9110 section 10.2.3). */
const RETRY_AFTER = '10';

export interface ExplanationParts {
  readonly pages: Pages;
  readonly log: Logger;
  /** The way back to an application that signs in at this server; undefined when there is none of this id. */
  wayBack(serverId: string, applicationId: string): Promise<ApplicationLink | undefined>;
}

/** Answers what is thrown further in with the error page; what is the service's own failure is logged. */
export function explainFailures({ pages, log, wayBack }: ExplanationParts): Koa.Middleware {
  /** The application that the address of an interaction names. A page without the way back is better than none. */
  async function application(ctx: Koa.Context): Promise<ApplicationLink | undefined> {
    const serverId = /^\/interaction\/([^/]+)\//.exec(ctx.path)?.[1];
    const id = parameterOf(ctx, APPLICATION_PARAMETER);
    if (serverId === undefined || id === undefined) return undefined;
    return withTimeout(
      wayBack(serverId, id).catch(() => undefined),
      () => undefined,
    );
  }

  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      const { status, code, message } = failureOf(error);
      if (status >= 500) log.error({ err: error, requestId: requestId(ctx.req) }, 'a hosted page failed');
      if (status === 503) ctx.set('Retry-After', RETRY_AFTER);
      if (error instanceof TooManyFailures) ctx.set('Retry-After', String(error.retryAfter));
      await errorPage(pages, ctx, { status, code, message, application: await application(ctx), leadsHome: ACCOUNT_PAGE.test(ctx.path) });
    }
  };
}

/** The last middleware of the service: no other one knew the address. */
export function unknownPage(pages: Pages): Koa.Middleware {
  return (ctx) => errorPage(pages, ctx, { status: 404, code: 'not_found' });
}
