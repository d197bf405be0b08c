/** An event of the audit log, and the request that it tells of. */
import type { Role } from '../administrators/administration.policy.ts';
import type { Decision } from '../policies/decisions.policy.ts';
import type { EventType } from './event-types.policy.ts';

/** Who acts: a person, the service itself, or an application. */
export interface Actor {
  readonly id: string;
  readonly type: 'User' | 'SystemPrincipal' | 'PublicClientApp';
  readonly displayName: string;
}

/** Who asks and from where; made at the edge, once a request. */
export interface RequestContext {
  readonly actor: Actor;
  /** What an administrator may do; absent: nothing. */
  readonly roles?: readonly Role[];
  readonly ipAddress?: string;
  readonly userAgent?: string;
  /** Does the caller's program refuse values that Okta does not have? */
  readonly knowsOktaValuesOnly?: boolean;
  readonly requestId?: string;
  /** Did it come through a proxy? */
  readonly isForwarded?: boolean;
  /** BCP 47: of the page that it was made on. */
  readonly language?: string;
  /** Value of the browser's device cookie. */
  readonly device?: string;
  /** The tokens of the browser's trust cookie. */
  readonly trustTokens?: readonly string[];
}

/** The service acting by itself, e.g. at its first start. */
export const SYSTEM: RequestContext = {
  actor: { id: 'system', type: 'SystemPrincipal', displayName: 'Gatehouse' },
  roles: [{ type: 'SUPER_ADMIN' }],
};

/** Somebody who has not proved who they are. */
export const NOBODY: Actor = { id: 'unknown', type: 'User', displayName: 'unknown' };

export interface Event {
  readonly eventType: EventType;
  readonly displayMessage: string;
  readonly request: RequestContext;
  readonly targets?: readonly { readonly id: string; readonly type: string; readonly displayName: string }[];
  /** Present: it failed, and why. */
  readonly failure?: string;
  /** The resource as it was and as it is now, never with a secret or its hash. */
  readonly before?: unknown;
  readonly after?: unknown;
  /** What decided, where something was decided. */
  readonly decision?: Decision | undefined;
}
