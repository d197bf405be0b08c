/** Why a sign-in by an external provider did not work: what its user is told, and what is kept for anyone who looks after it. */

/**
 * denied: the user gave up there, or was not let in. refused: the provider told another error. unreachable: it does not answer, or not in time.
 * untrusted: its answer is not what it must be. stale: it authenticated its user too long ago. no-email: a verified address is needed and not there.
 * no-user-name: what the provider calls its user may not be a user name. not-admitted: nobody here is that person. not-offered: not active, or not open to the application. linked-elsewhere: the account there is another user's.
 * linked-already: the user has another account there. last-way: without it they could not sign in any more.
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
  /** @param reason for the audit log: no secret, and nothing that the provider wrote */
  constructor(
    readonly problem: UpstreamProblem,
    readonly reason: string,
    cause?: unknown,
    /** For the audit log, too. */
    readonly details?: Readonly<Record<string, unknown>> | undefined,
  ) {
    super(`${problem}: ${reason}`, { cause });
  }
}
