/** Shows the error page for every error of a hosted page. */
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
import { InvalidCode } from '../email-codes/email-code.hosted.ts';
import { InvalidLink } from '../passwords/choose-password.hosted.ts';
import { SignInDenied } from '../sign-in-rules/sign-in-rules.service.ts';
import { InvalidVerification } from '../users/verify-email.hosted.ts';
import { errorPage } from './error-page.hosted.ts';
import { TooManyFailures } from './failure-limits.service.ts';
import { InteractionEnded } from './interactions.hosted.ts';

interface Failure {
  readonly status: number;
  readonly code: string;
  readonly message: MessageKey;
}

const INTERACTION_FAILURES: Readonly<Record<InteractionEnded['reason'], Failure>> = {
  expired: { status: 410, code: 'interaction_expired', message: 'failure.interaction_expired' },
  'other-browser': { status: 403, code: 'interaction_elsewhere', message: 'failure.interaction_elsewhere' },
  'session-changed': { status: 409, code: 'session_changed', message: 'failure.session_changed' },
};

const isClientError = (error: unknown): error is { readonly status: number } =>
  error instanceof Error && 'status' in error && typeof error.status === 'number' && error.status >= 400 && error.status < 500;

function failureOf(error: unknown): Failure {
  if (error instanceof InteractionEnded) return INTERACTION_FAILURES[error.reason];
  if (error instanceof InvalidLink) return { status: 410, code: 'link_gone', message: 'failure.link_gone' };
  if (error instanceof InvalidCode) return { status: 410, code: 'code_gone', message: 'failure.code_gone' };
  if (error instanceof InvalidVerification) return { status: 410, code: 'verification_gone', message: 'failure.verification_gone' };
  if (error instanceof ForgedForm) return { status: 403, code: 'form_refused', message: `failure.form_refused.${error.reason}` };
  if (error instanceof TooManyFailures) return { status: 429, code: 'too_many_failures', message: 'failure.too_many_failures' };
  if (error instanceof SignInDenied) return { status: 403, code: 'sign_in_denied', message: 'failure.sign_in_denied' };
  if (isUnavailable(error)) return { status: 503, code: 'temporarily_unavailable', message: 'failure.temporarily_unavailable' };
  // The body parser's errors: too large, unsupported encoding, incomplete.
  if (isClientError(error)) return { status: error.status, code: 'bad_request', message: 'failure.bad_request' };
  return { status: 500, code: 'server_error', message: 'failure.server_error' };
}

/** Account pages and the way to them belong to no application. */
const ACCOUNT_PAGE = /^\/(account|signin)(\/|$)/;

/** Retry-After in seconds for pages that failed because of the database (RFC 9110 section 10.2.3). */
const RETRY_AFTER = '10';

export interface ExplanationParts {
  readonly pages: Pages;
  readonly log: Logger;
  /** The link back to an application that signs in at this server; undefined: no such application. */
  wayBack(serverId: string, applicationId: string): Promise<ApplicationLink | undefined>;
}

/** Shows the error page for errors of later middleware, and logs the service's own failures. */
export function explainFailures({ pages, log, wayBack }: ExplanationParts): Koa.Middleware {
  /** The application of an interaction's URL. On failure, the page is shown without the link back. */
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

/** The last middleware: the URL is unknown. */
export function unknownPage(pages: Pages): Koa.Middleware {
  return (ctx) => errorPage(pages, ctx, { status: 404, code: 'not_found' });
}
