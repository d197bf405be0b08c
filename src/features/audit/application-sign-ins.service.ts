/** Audit event of a user's first authorization of an application in a session: once per session and application. */
import { auditEvent } from './audit.service.ts';
import { eventRow } from './audit.store.ts';
import type { RequestContext } from './audit-event.policy.ts';

interface Named {
  readonly id: string;
  readonly name: string;
}

/** @param request as far as the connection reveals @returns the event for the protocol's write statement */
export function applicationSignIn(
  { user, application, server }: { readonly user: Named; readonly application: Named; readonly server: Named },
  request: Omit<RequestContext, 'actor' | 'roles'>,
): string {
  const himself = { id: user.id, type: 'User', displayName: user.name } as const;
  return eventRow(
    auditEvent({
      eventType: 'user.authentication.sso',
      displayMessage: 'User single sign on to app',
      request: { ...request, actor: himself },
      targets: [
        { id: application.id, type: 'AppInstance', displayName: application.name },
        himself,
        { id: server.id, type: 'AuthorizationServer', displayName: server.name },
      ],
    }),
  );
}
