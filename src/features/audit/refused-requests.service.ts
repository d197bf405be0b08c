/**
 * Refused requests of applications in the audit log: decisions of rules about a user or an application, and protocol errors. Duplicates are recorded
 * once a minute, so that a loop of requests does not fill the log. Successful requests are not recorded.
 */
import { LRUCache } from 'lru-cache';
import { atMost } from '../../platform/cache/cache.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { findApplicationById } from '../applications/applications.store.ts';
import type { RequestRefused } from '../policies/decisions.policy.ts';
import { userTarget } from '../users/user-reach.service.ts';
import { findUserById } from '../users/users.store.ts';
import { recordEvent } from './audit.service.ts';
import type { Actor, RequestContext } from './audit-event.policy.ts';

const ONCE_IN_MS = 60_000;
const MOST_REMEMBERED = 10_000;

const REASONS: Readonly<Record<RequestRefused['kind'], string>> = {
  'access-policy': 'ACCESS_POLICY',
  'not-assigned': 'NOT_ASSIGNED',
  'not-a-member': 'NOT_A_MEMBER',
  'second-factor-needed': 'SECOND_FACTOR_NEEDED',
  'consent-required': 'CONSENT_REQUIRED',
};

export interface RefusedRequest {
  readonly endpoint: 'authorize' | 'token';
  /** undefined: the application acts for itself. */
  readonly userId: string | undefined;
  readonly server: { readonly id: string; readonly name: string };
  readonly decision: RequestRefused;
}

/** A request of a known application that breaks a rule of the protocol. */
export interface RejectedRequest {
  readonly endpoint: 'authorize' | 'token';
  readonly clientId: string;
  readonly server: { readonly id: string; readonly name: string };
  /** Error code of the response to the application. */
  readonly error: string;
  readonly description: string;
  /** The redirect URI of the request, if it caused the error. */
  readonly redirectUri?: string | undefined;
}

/** A client ID metadata document that was refused. */
export interface RefusedDocument {
  /** URL of the document. */
  readonly clientId: string;
  readonly reason: string;
  readonly server: { readonly id: string; readonly name: string };
}

/** Maximum characters of a description in the event. */
const LONGEST_REASON = 200;

const EVENTS = {
  authorize: { eventType: 'app.oauth2.as.authorize', displayMessage: 'OAuth2 authorization request' },
  token: { eventType: 'app.oauth2.as.token.grant', displayMessage: 'OAuth2 token request' },
} as const;

type Connection = Omit<RequestContext, 'actor' | 'roles'>;

export class RefusedRequests {
  readonly #recent = new LRUCache<string, true>({ ...atMost(MOST_REMEMBERED), ttl: ONCE_IN_MS });

  constructor(readonly services: Pick<Services, 'database'>) {}

  /** @param request the sender, as far as the connection reveals */
  async note(refused: RefusedRequest, request: Connection): Promise<void> {
    const { endpoint, userId, server, decision } = refused;
    // The key does not contain the scopes: the caller chooses them, and could fill the log with different ones.
    const { clientId, grantType } = decision.request;
    await this.#once([endpoint, userId, server.id, decision.kind, clientId, grantType], () => this.#write(refused, request));
  }

  /** @param request the sender, as far as the connection reveals */
  async reject(rejected: RejectedRequest, request: Connection): Promise<void> {
    const { endpoint, clientId, server, error, description, redirectUri } = rejected;
    await this.#once([endpoint, server.id, clientId, error], async () => {
      const { knex } = this.services.database;
      const application = await findApplicationById(knex, clientId);
      if (application === undefined) return;
      const { id, label } = application;
      await recordEvent(knex, {
        ...EVENTS[endpoint],
        request: { ...request, actor: { id, type: 'PublicClientApp', displayName: label } },
        targets: [
          { id, type: 'AppInstance', displayName: label },
          { id: server.id, type: 'AuthorizationServer', displayName: server.name },
        ],
        failure: `${error}: ${description}`.slice(0, LONGEST_REASON),
        ...(redirectUri !== undefined && { decision: { kind: 'redirect-uri', redirectUri } }),
      });
    });
  }

  /** Recorded once a minute per host. @param request the sender, as far as the connection reveals */
  async refuseDocument({ clientId, reason, server }: RefusedDocument, request: Connection): Promise<void> {
    const { host } = new URL(clientId);
    await this.#once(['document', host, server.id], async () => {
      await recordEvent(this.services.database.knex, {
        eventType: 'app.oauth2.client_document.refuse',
        displayMessage: 'Client metadata document refused',
        request: { ...request, actor: { id: clientId, type: 'PublicClientApp', displayName: host } },
        targets: [{ id: server.id, type: 'AuthorizationServer', displayName: server.name }],
        failure: reason.slice(0, LONGEST_REASON),
      });
    });
  }

  /** Skips duplicates within a minute. */
  async #once(what: readonly unknown[], write: () => Promise<void>): Promise<void> {
    const same = JSON.stringify(what);
    if (this.#recent.has(same)) return;
    this.#recent.set(same, true);
    try {
      await write();
    } catch (error) {
      this.#recent.delete(same);
      throw error;
    }
  }

  async #write({ endpoint, userId, server, decision }: RefusedRequest, request: Connection): Promise<void> {
    const { clientId } = decision.request;
    const { knex } = this.services.database;
    const application = await findApplicationById(knex, clientId);
    const user = userId === undefined ? undefined : await findUserById(knex, userId);
    const label = application?.label ?? clientId;
    const actor: Actor =
      userId === undefined
        ? { id: clientId, type: 'PublicClientApp', displayName: label }
        : { id: userId, type: 'User', displayName: user?.login ?? userId };
    await recordEvent(knex, {
      ...EVENTS[endpoint],
      request: { ...request, actor },
      targets: [
        { id: clientId, type: 'AppInstance', displayName: label },
        { id: server.id, type: 'AuthorizationServer', displayName: server.name },
        // A target, so that deleting the user deletes the decision about them, too.
        ...(user === undefined ? [] : [userTarget(user)]),
      ],
      failure: REASONS[decision.kind],
      decision,
    });
  }
}
