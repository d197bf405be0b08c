/** Errors of SCIM (RFC 7644 section 3.12). */
import type { ApiError } from '../../platform/errors/errors.ts';

const ERROR_MESSAGE = 'urn:ietf:params:scim:api:messages:2.0:Error';

/** RFC 7644, table 9. */
export type ScimErrorType =
  | 'invalidFilter'
  | 'tooMany'
  | 'uniqueness'
  | 'mutability'
  | 'invalidSyntax'
  | 'invalidPath'
  | 'noTarget'
  | 'invalidValue';

export class ScimError extends Error {
  override readonly name = 'ScimError';

  /** @param detail for the client's administrator: the problem and its place */
  constructor(
    readonly status: number,
    readonly scimType: ScimErrorType | undefined,
    detail: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(detail);
  }
}

export const badRequest = (scimType: ScimErrorType, detail: string): ScimError => new ScimError(400, scimType, detail);
export const notFoundHere = (id: string): ScimError => new ScimError(404, undefined, `Resource ${id} not found`);
export const versionMismatch = (): ScimError =>
  new ScimError(412, undefined, 'The resource has changed in the meantime. Read it again, then repeat the change.');

/**
 * @param names SCIM names by internal field, e.g. `profile.login`
 * @returns the error in SCIM format
 */
export function asScimError(error: ApiError, names: ReadonlyMap<string, string>): ScimError {
  const messages = error.causes.map((cause) => {
    const [, field = '', message = cause] = /^([\w.]+): (.*)$/s.exec(cause) ?? [];
    return `${names.get(field.replace(/^profile\./, '')) ?? field}: ${message}`;
  });
  const detail = messages.length > 0 ? messages.join('; ') : error.summary;
  return new ScimError(error.status, SCIM_TYPES[error.errorCode], detail, error.headers);
}

const SCIM_TYPES: Readonly<Record<string, ScimErrorType>> = { E0000001: 'invalidValue', E0000003: 'invalidSyntax', E0000014: 'uniqueness' };

export const errorBody = ({ status, scimType, message }: ScimError) => ({
  schemas: [ERROR_MESSAGE],
  status: String(status),
  ...(scimType !== undefined && { scimType }),
  detail: message,
});
