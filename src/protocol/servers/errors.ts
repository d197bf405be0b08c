/** The OAuth errors that oidc-provider lacks. They are reported like the library's errors: RFC 6749 sections 4.1.2.1 and 5.2. */
import { errors, type KoaContextWithOIDC } from '../library/oidc-provider.ts';

/** The database is unreachable: 503 for clients, a redirect at the authorize endpoint. */
export class TemporarilyUnavailable extends errors.OIDCProviderError {
  // By default, oidc-provider reports errors of status 500 and above as server_error.
  override readonly expose = true;
  override readonly allow_redirect = true;

  constructor(cause?: unknown) {
    super(503, 'temporarily_unavailable');
    this.error_description = 'the service is temporarily unavailable. Try again in a moment';
    this.cause = cause;
  }
}

/** An assertion is not accepted as a grant: `invalid_grant`, with the reason (RFC 7523 section 3.1). */
export class AssertionRefused extends errors.OIDCProviderError {
  /** @param reason what is wrong with the assertion, for the developer of its sender */
  constructor(reason: string) {
    super(400, 'invalid_grant');
    this.error_description = `assertion: ${reason}`;
  }
}

/** The keys of a trusted issuer cannot be fetched: 503, because its token may be valid. */
export class IssuerKeysUnavailable extends errors.OIDCProviderError {
  override readonly expose = true;

  /** @param cause its message names the issuer */
  constructor(cause: Error) {
    super(503, 'temporarily_unavailable');
    this.error_description = `${cause.message}: they must be at a public address and answer with 200`;
    this.cause = cause;
  }
}

/** Too many failed attempts from this address: 429 (RFC 6585 section 4). */
export class TooManyFailuresHere extends errors.OIDCProviderError {
  /** @param retryAfter seconds */
  constructor(readonly retryAfter: number) {
    super(429, 'temporarily_unavailable');
    this.error_description = 'too many attempts from this IP address have failed. Try again later';
  }
}

/** An application requests sign-ins of its users too often: 429. */
export class TooManySignInRequests extends errors.OIDCProviderError {
  constructor() {
    super(429, 'temporarily_unavailable');
    this.error_description = 'too many sign-in requests for this user or from this application. Try again later';
  }
}

/** CIBA section 13; missing in the library's types. */
export class InvalidBindingMessage extends errors.OIDCProviderError {
  constructor(description: string) {
    super(400, 'invalid_binding_message');
    this.error_description = description;
  }
}

/** The password grant cannot request the user's second factor: `invalid_grant` (RFC 6749 section 5.2). */
export class SecondFactorNeeded extends errors.OIDCProviderError {
  constructor() {
    super(400, 'invalid_grant');
    this.error_description =
      'the user must sign in with a second factor, which this grant does not support. Use the authorization code flow';
  }
}

/** Retry-After in seconds if the database is down. */
const AWAY_FOR = 5;

/** Sets Retry-After if the time is known (RFC 9110 section 10.2.3). */
export function setRetryAfter(ctx: Pick<KoaContextWithOIDC, 'set'>, status: number, cause?: unknown): void {
  const seconds = cause instanceof TooManyFailuresHere ? cause.retryAfter : status === 503 ? AWAY_FOR : undefined;
  if (seconds !== undefined) ctx.set('Retry-After', String(seconds));
}
