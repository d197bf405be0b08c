/** Facts about tokens issued on behalf of a user: actor, latest expiry, and allowed details. */
import type { AuthorizationDetail } from '../../features/authorization-details/details.policy.ts';
import { epochSeconds } from '../../platform/clock/clock.ts';
import type { Act } from './presented-identity.ts';

/** Value of `gty` for tokens from a token exchange. */
export const EXCHANGED = 'token_exchange';
/** Value of `gty` for tokens from an assertion. */
export const ASSERTED = 'jwt_bearer';

interface Delegation {
  /** undefined: the actor is the application that the token is issued to. */
  readonly act?: Act | undefined;
  /** Expiry of the presented token in epoch seconds; undefined: no limit. */
  readonly expiresAt?: number | undefined;
  /** Details granted to the subject token (RFC 9396) or allowed by the assertion; undefined: not restricted. */
  readonly details?: readonly AuthorizationDetail[] | undefined;
}

export class DelegatedTokens {
  readonly #known = new WeakMap<object, Delegation>();

  note(token: object, delegation: Delegation): void {
    this.#known.set(token, delegation);
  }

  /** Additional claims of the issued token. */
  claimsOf(token: object): { readonly act?: Act } {
    const act = this.#known.get(token)?.act;
    return act === undefined ? {} : { act };
  }

  /** @returns undefined: the token comes from no exchange, and from no assertion with details */
  detailsOf(token: object): readonly AuthorizationDetail[] | undefined {
    return this.#known.get(token)?.details;
  }

  actorOf(token: object): string | undefined {
    return this.#known.get(token)?.act?.sub;
  }

  /** @param seconds lifetime that the policy grants @returns the lifetime of the token in seconds */
  lifetimeOf(token: object, seconds: number): number {
    const { expiresAt } = this.#known.get(token) ?? {};
    return expiresAt === undefined ? seconds : Math.max(1, Math.min(seconds, expiresAt - epochSeconds()));
  }
}
