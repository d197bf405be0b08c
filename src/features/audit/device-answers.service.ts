/** Audit events of a user's answer to a device (RFC 8628) or a backchannel request (CIBA). */
import { auditEvent } from './audit.service.ts';
import { eventRow } from './audit.store.ts';
import { NOBODY, type RequestContext } from './audit-event.policy.ts';
import type { EventType } from './event-types.policy.ts';

interface Named {
  readonly id: string;
  readonly name: string;
}

interface DeviceAnswer {
  /** undefined: refused before a sign-in. */
  readonly user: Named | undefined;
  readonly application: Named;
  readonly server: Named;
  readonly isAllowed: boolean;
}

/** As far as the connection reveals. */
type AnswerContext = Omit<RequestContext, 'actor' | 'roles'>;

/** @returns the event as the protocol's statement of writes takes it */
export const deviceAnswer = (answer: DeviceAnswer, request: AnswerContext): string =>
  answerEvent('app.oauth2.as.device.authorize', 'a device', answer, request);

/** @returns the event as the protocol's statement of writes takes it */
export const signInRequestAnswer = (answer: DeviceAnswer, request: AnswerContext): string =>
  answerEvent('app.oauth2.as.backchannel.authorize', 'a sign-in request', answer, request);

function answerEvent(
  eventType: EventType,
  what: string,
  { user, application, server, isAllowed }: DeviceAnswer,
  request: AnswerContext,
): string {
  const actor = user === undefined ? NOBODY : ({ id: user.id, type: 'User', displayName: user.name } as const);
  return eventRow(
    auditEvent({
      eventType,
      displayMessage: isAllowed ? `User allowed ${what}` : `User refused ${what}`,
      request: { ...request, actor },
      targets: [
        { id: application.id, type: 'AppInstance', displayName: application.name },
        ...(user === undefined ? [] : [{ id: user.id, type: 'User', displayName: user.name }]),
        { id: server.id, type: 'AuthorizationServer', displayName: server.name },
      ],
      ...(!isAllowed && { failure: 'DENIED_BY_USER' as const }),
    }),
  );
}
