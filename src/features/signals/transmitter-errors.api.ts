/** Error responses for receivers of signals. */
import type { Context } from 'koa';
import { isUnavailable } from '../../platform/database/database-failures.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { ApiError, internal, unavailable } from '../../platform/errors/errors.ts';

/** The response to a request without a token has no error code (RFC 6750 section 3). */
export const unauthorized = (ctx: Context): ApiError =>
  ctx.get('Authorization') === ''
    ? new ApiError('E0000011', 401, 'an access token is required', [], { 'WWW-Authenticate': 'Bearer' })
    : challenged(401, 'invalid_token', 'the access token is unknown, expired, or not one that an application got for itself');

/** A refused token, in the header as well (RFC 6750 section 3). */
export const challenged = (status: number, error: string, description: string): ApiError =>
  new ApiError('E0000011', status, description, [], { 'WWW-Authenticate': `Bearer error="${error}", error_description="${description}"` });

/** @returns the error for the response: unexpected errors are logged and not shown */
export function toApiError(services: Services, ctx: Context, error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  services.log.error({ err: error, requestId: ctx.state.requestId }, 'a request from a signal receiver failed');
  return isUnavailable(error) ? unavailable() : internal();
}

/** The error codes of push delivery (RFC 8935 section 2.3). */
const ERRORS: Readonly<Record<number, string>> = {
  401: 'authentication_failed',
  403: 'access_denied',
  404: 'not_found',
  409: 'conflict',
  429: 'too_many_requests',
};

/** Responds with an error in the format that receivers expect. */
export function respondWithSignalError(ctx: Context, error: ApiError): void {
  ctx.set(error.headers);
  ctx.status = error.status;
  ctx.body = {
    err: ERRORS[error.status] ?? (error.status < 500 ? 'invalid_request' : 'server_error'),
    description: error.causes.length > 0 ? error.causes.join('; ') : error.summary,
  };
}
