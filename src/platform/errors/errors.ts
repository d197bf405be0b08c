/**
 * Errors of the management API: the documented codes ("Conventions") and two formats, the API's own object and Problem Details (RFC 9457
 * section 3). Errors of OAuth endpoints are in src/protocol.
 */
import { STATUS_CODES } from 'node:http';

/** Why a call is refused. The message is shown to the caller. */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  /**
   * @param errorCode as documented, e.g. `E0000001`
   * @param status HTTP status
   * @param causes one per field, `field: problem`
   * @param headers further headers of the response, e.g. `Allow`
   */
  constructor(
    readonly errorCode: string,
    readonly status: number,
    readonly summary: string,
    readonly causes: readonly string[] = [],
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(summary);
  }
}

/** A field and its problem, e.g. `{ field: 'profile.login', message: 'is required' }`. */
export interface FieldProblem {
  readonly field: string;
  readonly message: string;
}

// A body of a megabyte can have a hundred thousand problems; only the first are reported.
const MOST_CAUSES = 50;

export const validation = (problems: readonly FieldProblem[]): ApiError =>
  new ApiError(
    'E0000001',
    400,
    'Api validation failed',
    problems.slice(0, MOST_CAUSES).map(({ field, message }) => `${field}: ${message}`),
  );

/** The body is not a JSON object of type `application/json`. */
export const malformedBody = (why: string): ApiError => new ApiError('E0000003', 400, `The request body was not well-formed: ${why}`);

/** A failed sign-in. The same text for every reason, so that they cannot be distinguished. */
export const authenticationFailed = (): ApiError => new ApiError('E0000004', 401, 'Authentication failed');

/** The state token of a sign-in by API is unknown, used, or expired, or had too many wrong codes. */
export const invalidStateToken = (): ApiError => new ApiError('E0000011', 401, 'Invalid token provided');

/** Same response as Okta, for wrong codes and locked users alike. */
export const wrongPassCode = (): ApiError =>
  new ApiError('E0000068', 403, 'Invalid Passcode/Answer', ["passCode: doesn't match our records, or was used before"]);

export const forbidden = (): ApiError => new ApiError('E0000006', 403, 'You do not have permission to perform the requested action');

/** @param kind of resource, e.g. `User` */
export const notFound = (id: string, kind: string): ApiError =>
  new ApiError('E0000007', 404, `Not found: Resource not found: ${id} (${kind})`);

/** @param kind of resource, e.g. `User` @returns `found` @throws {ApiError} not found, if it is undefined */
export function requireFound<T>(found: T | undefined, id: string, kind: string): T {
  if (found === undefined) throw notFound(id, kind);
  return found;
}

export const internal = (): ApiError => new ApiError('E0000009', 500, 'Internal Server Error');

/** The database is unreachable; the call can be repeated. */
export const unavailable = (): ApiError =>
  new ApiError('E0000009', 503, 'The service is unavailable at present, try again', [], { 'Retry-After': '1' });

/** The API token is missing, malformed, unknown or expired, or its creator is inactive. A 401 names the scheme (RFC 9110 section 15.5.2). */
export const invalidToken = (): ApiError => new ApiError('E0000011', 401, 'Invalid token provided', [], { 'WWW-Authenticate': 'SSWS' });

export const conflict = (problem: FieldProblem): ApiError =>
  new ApiError('E0000014', 409, 'The request conflicts with an existing resource', [`${problem.field}: ${problem.message}`]);

/** @param allowed methods of the path (RFC 9110 section 15.5.6) */
export const methodNotAllowed = (allowed: readonly string[]): ApiError =>
  new ApiError('E0000022', 405, 'The endpoint does not support the provided HTTP method', [], { Allow: allowed.join(', ') });

/** @param why e.g. `the user is already active` */
export const wrongState = (why: string): ApiError =>
  new ApiError('E0000038', 403, `The operation is not allowed in the resource's current state: ${why}`);

/** @param retryAfter seconds @param causes if it is not the limit of calls */
export const rateLimited = (retryAfter: number, ...causes: readonly string[]): ApiError =>
  new ApiError('E0000047', 429, 'API call exceeded rate limit due to too many requests', causes, { 'Retry-After': String(retryAfter) });

/** @returns the URL of the documentation that explains an error code and what to do */
export const errorHelp = (code: string): string => `/docs/reference/errors#${encodeURIComponent(code)}`;

/** The documented error object. @param errorId request ID, for finding details in the log */
export const errorObject = (error: ApiError, errorId: string) => ({
  errorCode: error.errorCode,
  errorSummary: error.summary,
  errorLink: error.errorCode,
  errorId,
  errorCauses: error.causes.map((errorSummary) => ({ errorSummary })),
});

/**
 * The same as Problem Details. The type is `about:blank`, so the title is that of the status; the code is an extension (RFC 9457 sections 3, 4.2.1).
 */
export const problemDetails = (error: ApiError, errorId: string) => ({
  type: 'about:blank',
  title: STATUS_CODES[error.status],
  status: error.status,
  detail: error.summary,
  errorCode: error.errorCode,
  errorId,
  errorCauses: error.causes.map((errorSummary) => ({ errorSummary })),
});
