/** An audit event and the request that caused it. */
import type { Role } from '../administrators/administration.policy.ts';
import type { Decision } from '../policies/decisions.policy.ts';
import type { EventType } from './event-types.policy.ts';

/** Actor of an event: a user, the service, or an application. */
export interface Actor {
  readonly id: string;
  readonly type: 'User' | 'SystemPrincipal' | 'PublicClientApp';
  readonly displayName: string;
}

/** Actor and origin of a request; created once per request at the edge. */
export interface RequestContext {
  readonly actor: Actor;
  /** Roles of an administrator; absent: none. */
  readonly roles?: readonly Role[];
  readonly ipAddress?: string;
  readonly userAgent?: string;
  /** Does the client reject values that Okta does not have? */
  readonly knowsOktaValuesOnly?: boolean;
  readonly requestId?: string;
  /** Did it come through a proxy? */
  readonly isForwarded?: boolean;
  /** BCP 47: language of the page. */
  readonly language?: string;
  /** Value of the browser's device cookie. */
  readonly device?: string;
  /** The tokens of the browser's trust cookie. */
  readonly trustTokens?: readonly string[];
}

/** The service itself, e.g. at its first start. */
export const SYSTEM: RequestContext = {
  actor: { id: 'system', type: 'SystemPrincipal', displayName: 'Gatehouse' },
  roles: [{ type: 'SUPER_ADMIN' }],
};

/** An unauthenticated sender. */
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
  /** The decision and its reasons, for events that record one. */
  readonly decision?: Decision | undefined;
}
