/** The events of tokens that an application got on behalf of a user by another token: a token exchange (RFC 8693), or an assertion (RFC 7523). */
import { auditEvent } from './audit.service.ts';
import { eventRow } from './audit.store.ts';
import type { RequestContext } from './audit-event.policy.ts';

interface Named {
  readonly id: string;
  readonly name: string;
}

interface Delegated {
  readonly user: { readonly id: string; readonly login: string };
  /** To which the token was issued. */
  readonly application: Named;
  readonly server: Pick<Named, 'id' | 'name'>;
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

/** @param request as far as the connection reveals @returns the event for the protocol's write statement */
export const tokenExchanged = (delegated: Delegated, request: Request): string => rowOf(EXCHANGED, delegated, request);

/** @param request as far as the connection reveals @returns the event for the protocol's write statement */
export const assertionAccepted = (delegated: Delegated, request: Request): string => rowOf(ASSERTED, delegated, request);

const rowOf = (event: typeof EXCHANGED | typeof ASSERTED, { user, application, server, details }: Delegated, request: Request): string =>
  eventRow(
    auditEvent({
      ...event,
      request: { ...request, actor: { id: application.id, type: 'PublicClientApp', displayName: application.name } },
      targets: [
        { id: user.id, type: 'User', displayName: user.login },
        { id: application.id, type: 'AppInstance', displayName: application.name },
        { id: server.id, type: 'AuthorizationServer', displayName: server.name },
      ],
      after: { ...details, scope: details.scope.slice(0, LONGEST_SCOPE) },
    }),
  );
