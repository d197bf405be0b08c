/** The event of a user's answer to a device that waits for one (RFC 8628). */
import { auditEvent } from './audit.service.ts';
import { eventRow } from './audit.store.ts';
import { NOBODY, type RequestContext } from './audit-event.policy.ts';

interface Named {
  readonly id: string;
  readonly name: string;
}

interface DeviceAnswer {
  /** undefined: it was refused before anybody signed in. */
  readonly user: Named | undefined;
  readonly application: Named;
  readonly server: Named;
  readonly isAllowed: boolean;
}

/** @param request as far as the connection tells @returns the event as the protocol's statement of writes takes it */
export function deviceAnswer(
  { user, application, server, isAllowed }: DeviceAnswer,
  request: Omit<RequestContext, 'actor' | 'roles'>,
): string {
  const actor = user === undefined ? NOBODY : ({ id: user.id, type: 'User', displayName: user.name } as const);
  return eventRow(
    auditEvent({
      eventType: 'app.oauth2.as.device.authorize',
      displayMessage: isAllowed ? 'User allowed a device' : 'User refused a device',
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
