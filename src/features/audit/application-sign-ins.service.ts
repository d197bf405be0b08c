/** Audit event of a user's first authorization of an application in a session: once per session and application. */
import { auditEvent } from './audit.service.ts';
import type { RequestContext } from './audit-event.policy.ts';
import type { AuditEvent } from './events.resource.ts';

interface Named {
  readonly id: string;
  readonly name: string;
}

/** @param request as far as the connection reveals @returns the event that the protocol writes */
export function applicationSignIn(
  { user, application, server }: { readonly user: Named; readonly application: Named; readonly server: Named },
  request: Omit<RequestContext, 'actor' | 'roles'>,
): AuditEvent {
  const himself = { id: user.id, type: 'User', displayName: user.name } as const;
  return auditEvent({
    eventType: 'user.authentication.sso',
    displayMessage: 'User single sign on to app',
    request: { ...request, actor: himself },
    targets: [
      { id: application.id, type: 'AppInstance', displayName: application.name },
      himself,
      { id: server.id, type: 'AuthorizationServer', displayName: server.name },
    ],
  });
}
