/** The event of a user's first authorization of an application in a session: once per session and application, whatever tokens follow. */
import { auditEvent } from './audit.service.ts';
import { eventRow } from './audit.store.ts';
import type { RequestContext } from './audit-event.policy.ts';

interface Named {
  readonly id: string;
  readonly name: string;
}

/** @param request as far as the connection tells @returns the event as the protocol's statement of writes takes it */
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
