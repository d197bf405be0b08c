/** The event of a token exchange (RFC 8693): who acts for which user from now on. */
import { auditEvent } from './audit.service.ts';
import { eventRow } from './audit.store.ts';
import type { RequestContext } from './audit-event.policy.ts';

interface Named {
  readonly id: string;
  readonly name: string;
}

interface TokenExchanged {
  readonly user: { readonly id: string; readonly login: string };
  /** To which the token was issued. */
  readonly application: Named;
  readonly server: Pick<Named, 'id' | 'name'>;
  /** Who acts, and for whom that one acted before. */
  readonly act: object;
  readonly scope: string;
}

/** Characters of the scope that are kept. */
const LONGEST_SCOPE = 500;

/** @param request as far as the connection tells @returns the event as the protocol's statement of writes takes it */
export function tokenExchanged(
  { user, application, server, act, scope }: TokenExchanged,
  request: Omit<RequestContext, 'actor' | 'roles'>,
): string {
  return eventRow(
    auditEvent({
      eventType: 'app.oauth2.as.token.exchange',
      displayMessage: 'Token exchanged',
      request: { ...request, actor: { id: application.id, type: 'PublicClientApp', displayName: application.name } },
      targets: [
        { id: user.id, type: 'User', displayName: user.login },
        { id: application.id, type: 'AppInstance', displayName: application.name },
        { id: server.id, type: 'AuthorizationServer', displayName: server.name },
      ],
      after: { act, scope: scope.slice(0, LONGEST_SCOPE) },
    }),
  );
}
