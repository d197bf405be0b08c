/** Reasons for a failed sign-in with an external provider: the message for the user, and the details for administrators. */

/**
 * denied: cancelled or refused at the provider. refused: the provider returned another error. unreachable: no response in time. untrusted: invalid
 * response. stale: the authentication is too old. no-email: a verified address is required but missing. no-user-name: the name cannot be a user name
 * here. not-admitted: no matching user. not-offered: inactive, or not allowed for the application. linked-elsewhere: linked to another user.
 * linked-already: the user has another account there. last-way: the user's only way to sign in.
 */
export type UpstreamProblem =
  | 'denied'
  | 'refused'
  | 'unreachable'
  | 'untrusted'
  | 'stale'
  | 'no-email'
  | 'no-user-name'
  | 'not-admitted'
  | 'not-offered'
  | 'linked-elsewhere'
  | 'linked-already'
  | 'last-way';

export class UpstreamFailure extends Error {
  override readonly name = 'UpstreamFailure';
  /** @param reason for the audit log; contains no secrets, and no text from the provider */
  constructor(
    readonly problem: UpstreamProblem,
    readonly reason: string,
    cause?: unknown,
    /** Also for the audit log. */
    readonly details?: Readonly<Record<string, unknown>> | undefined,
  ) {
    super(`${problem}: ${reason}`, { cause });
  }
}
