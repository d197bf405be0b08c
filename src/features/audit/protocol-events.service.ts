/**
 * Audit events of tokens that an application got on behalf of a user by another token (a token exchange of RFC 8693, or an assertion of RFC
 * 7523), and of a user’s answer to a device (RFC 8628) or a backchannel request (CIBA).
 */

import { auditEvent } from './audit.service.ts';
import { NOBODY, type RequestContext } from './audit-event.policy.ts';
import type { EventType } from './event-types.policy.ts';
import type { AuditEvent } from './events.resource.ts';

interface Named {
  readonly id: string;
  readonly name: string;
}

interface Delegated {
  readonly user: { readonly id: string; readonly login: string };
  /** To which the token was issued. */
  readonly application: Named;
  readonly server: Named;
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

type Request = Omit<RequestContext, 'actor' | 'roles'>;

const EXCHANGED = { eventType: 'app.oauth2.as.token.exchange', displayMessage: 'Token exchanged' } as const;
const ASSERTED = { eventType: 'app.oauth2.as.token.assertion', displayMessage: 'Assertion accepted' } as const;

/** Characters of the scope that are kept. */
const LONGEST_SCOPE = 500;

/** @param request as far as the connection reveals @returns the event that the protocol writes */
export const tokenExchanged = (delegated: Delegated, request: Request): AuditEvent => eventOf(EXCHANGED, delegated, request);

/** @param request as far as the connection reveals @returns the event that the protocol writes */
export const assertionAccepted = (delegated: Delegated, request: Request): AuditEvent => eventOf(ASSERTED, delegated, request);

const eventOf = (
  event: typeof EXCHANGED | typeof ASSERTED,
  { user, application, server, details }: Delegated,
  request: Request,
): AuditEvent =>
  auditEvent({
    ...event,
    request: { ...request, actor: { id: application.id, type: 'PublicClientApp', displayName: application.name } },
    targets: [
      { id: user.id, type: 'User', displayName: user.login },
      { id: application.id, type: 'AppInstance', displayName: application.name },
      { id: server.id, type: 'AuthorizationServer', displayName: server.name },
    ],
    after: { ...details, scope: details.scope.slice(0, LONGEST_SCOPE) },
  });

interface DeviceAnswer {
  /** undefined: refused before a sign-in. */
  readonly user: Named | undefined;
  readonly application: Named;
  readonly server: Named;
  readonly isAllowed: boolean;
}

/** As far as the connection reveals. */
type AnswerContext = Omit<RequestContext, 'actor' | 'roles'>;

/** @returns the event that the protocol writes */
export const deviceAnswer = (answer: DeviceAnswer, request: AnswerContext): AuditEvent =>
  answerEvent('app.oauth2.as.device.authorize', 'a device', answer, request);

/** @returns the event that the protocol writes */
export const signInRequestAnswer = (answer: DeviceAnswer, request: AnswerContext): AuditEvent =>
  answerEvent('app.oauth2.as.backchannel.authorize', 'a sign-in request', answer, request);

function answerEvent(
  eventType: EventType,
  what: string,
  { user, application, server, isAllowed }: DeviceAnswer,
  request: AnswerContext,
): AuditEvent {
  const actor = user === undefined ? NOBODY : ({ id: user.id, type: 'User', displayName: user.name } as const);
  return auditEvent({
    eventType,
    displayMessage: isAllowed ? `User allowed ${what}` : `User refused ${what}`,
    request: { ...request, actor },
    targets: [
      { id: application.id, type: 'AppInstance', displayName: application.name },
      ...(user === undefined ? [] : [{ id: user.id, type: 'User', displayName: user.name }]),
      { id: server.id, type: 'AuthorizationServer', displayName: server.name },
    ],
    ...(!isAllowed && { failure: 'DENIED_BY_USER' as const }),
  });
}
