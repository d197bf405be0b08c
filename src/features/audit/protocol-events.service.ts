/**
 * Audit events of the protocol: a user’s first authorization of an application in a session, tokens that an application got on behalf of a user
 * by another token (token exchange of RFC 8693, assertion of RFC 7523), and a user’s answer to a device (RFC 8628) or a backchannel request
 * (CIBA). The protocol writes them with its own state. The request context is what the connection reveals.
 */

import { auditEvent } from './audit.service.ts';
import { type Actor, NOBODY, type RequestContext } from './audit-event.policy.ts';
import type { EventType } from './event-types.policy.ts';
import type { AuditEvent } from './events.resource.ts';

type Request = Omit<RequestContext, 'actor' | 'roles'>;

interface Named {
  readonly id: string;
  readonly name: string;
}

/** An application at an authorization server. */
interface Parties {
  readonly application: Named;
  readonly server: Named;
}

const userOf = ({ id, name }: Named): Actor => ({ id, type: 'User', displayName: name });
const applicationOf = ({ id, name }: Named) => ({ id, type: 'AppInstance', displayName: name });
const serverOf = ({ id, name }: Named) => ({ id, type: 'AuthorizationServer', displayName: name });

/** Once per session and application. */
export const applicationSignIn = ({ user, application, server }: Parties & { readonly user: Named }, request: Request): AuditEvent =>
  auditEvent({
    eventType: 'user.authentication.sso',
    displayMessage: 'User single sign on to app',
    request: { ...request, actor: userOf(user) },
    targets: [applicationOf(application), userOf(user), serverOf(server)],
  });

interface Delegated extends Parties {
  readonly user: { readonly id: string; readonly login: string };
  readonly details: {
    readonly scope: string;
    /** Token exchange: the actor, and earlier actors nested in it. */
    readonly act?: object;
    /** ID-JAG: the authorization server that it was issued for. */
    readonly audience?: string;
    /** Assertion: the identity provider that issued it. */
    readonly issuer?: string;
    readonly idpId?: string;
  };
}

const EXCHANGED = { eventType: 'app.oauth2.as.token.exchange', displayMessage: 'Token exchanged' } as const;
const ASSERTED = { eventType: 'app.oauth2.as.token.assertion', displayMessage: 'Assertion accepted' } as const;

/** Maximum characters of the scope in the event. */
const LONGEST_SCOPE = 500;

/** An application exchanged a token. */
export const tokenExchanged = (delegated: Delegated, request: Request): AuditEvent => delegation(EXCHANGED, delegated, request);

/** An application got a token for an assertion. */
export const assertionAccepted = (delegated: Delegated, request: Request): AuditEvent => delegation(ASSERTED, delegated, request);

const delegation = (
  event: typeof EXCHANGED | typeof ASSERTED,
  { user, application, server, details }: Delegated,
  request: Request,
): AuditEvent =>
  auditEvent({
    ...event,
    request: { ...request, actor: { id: application.id, type: 'PublicClientApp', displayName: application.name } },
    targets: [userOf({ id: user.id, name: user.login }), applicationOf(application), serverOf(server)],
    after: { ...details, scope: details.scope.slice(0, LONGEST_SCOPE) },
  });

interface Answer extends Parties {
  /** undefined: refused before a sign-in. */
  readonly user: Named | undefined;
  readonly isAllowed: boolean;
}

/** A user allowed or refused a device. */
export const deviceAnswer = (answer: Answer, request: Request): AuditEvent =>
  answerEvent('app.oauth2.as.device.authorize', 'a device', answer, request);

/** A user allowed or refused a backchannel request. */
export const signInRequestAnswer = (answer: Answer, request: Request): AuditEvent =>
  answerEvent('app.oauth2.as.backchannel.authorize', 'a sign-in request', answer, request);

const answerEvent = (eventType: EventType, what: string, { user, application, server, isAllowed }: Answer, request: Request): AuditEvent =>
  auditEvent({
    eventType,
    displayMessage: isAllowed ? `User allowed ${what}` : `User refused ${what}`,
    request: { ...request, actor: user === undefined ? NOBODY : userOf(user) },
    targets: [applicationOf(application), ...(user === undefined ? [] : [userOf(user)]), serverOf(server)],
    ...(!isAllowed && { failure: 'DENIED_BY_USER' as const }),
  });
