/**
 * Refused requests of applications in the audit log: decisions of rules about a user or an application, and protocol errors. Each has an event with
 * its request ID, up to a limit a minute; those beyond it are counted, so that a loop of requests does not fill the log
 * (refusal-limits.policy.ts). Successful requests are not recorded.
 */
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { atMost } from '../../platform/cache/cache.ts';
import { present } from '../../platform/clock/clock.ts';
import { timings } from '../../platform/clock/timings.ts';
import { repeat } from '../../platform/concurrency/repeat.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { findApplicationById } from '../applications/applications.store.ts';
import type { RequestRefused } from '../policies/decisions.policy.ts';
import { userTarget } from '../users/user-reach.service.ts';
import { findUserById } from '../users/users.store.ts';
import { recordEvent } from './audit.service.ts';
import { type Actor, type RequestContext, SYSTEM } from './audit-event.policy.ts';
import { type CountedRefusal, RefusalLimits } from './refusal-limits.policy.ts';

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
  readonly endpoint: RefusedEndpoint;
  /** undefined: the application acts for itself. */
  readonly userId: string | undefined;
  readonly server: { readonly id: string; readonly name: string };
  readonly decision: RequestRefused;
}

/** A request of a known application that breaks a rule of the protocol. */
export interface RejectedRequest {
  readonly endpoint: RefusedEndpoint;
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

const AUTHORIZE = 'app.oauth2.as.authorize';
const TOKEN = 'app.oauth2.as.token.grant';
/** Events by the last part of the endpoint's path. */
const EVENTS = {
  authorize: { eventType: AUTHORIZE, displayMessage: 'OAuth2 authorization request' },
  par: { eventType: AUTHORIZE, displayMessage: 'OAuth2 pushed authorization request' },
  device_authorization: { eventType: AUTHORIZE, displayMessage: 'OAuth2 device authorization request' },
  'backchannel-authentication': { eventType: AUTHORIZE, displayMessage: 'OAuth2 backchannel authentication request' },
  logout: { eventType: AUTHORIZE, displayMessage: 'OAuth2 logout request' },
  token: { eventType: TOKEN, displayMessage: 'OAuth2 token request' },
  introspect: { eventType: TOKEN, displayMessage: 'OAuth2 introspection request' },
  revoke: { eventType: TOKEN, displayMessage: 'OAuth2 revocation request' },
  userinfo: { eventType: TOKEN, displayMessage: 'OAuth2 userinfo request' },
} as const;

export type RefusedEndpoint = keyof typeof EVENTS;

/** The endpoint of a path below the issuer. A request continues below authorize and device after the user's action. */
export function refusedEndpoint(path: string): RefusedEndpoint {
  const name = path.slice(1);
  return name in EVENTS ? (name as RefusedEndpoint) : 'authorize';
}

type Connection = Omit<RequestContext, 'actor' | 'roles'>;

export class RefusedRequests {
  readonly #recent = new LRUCache<string, true>({ ...atMost(MOST_REMEMBERED), ttl: ONCE_IN_MS });
  readonly #limits = new RefusalLimits();

  constructor(readonly services: Pick<Services, 'database'>) {}

  /** @param request the sender, as far as the connection reveals */
  async note(refused: RefusedRequest, request: Connection): Promise<void> {
    const { endpoint, userId, server, decision } = refused;
    // The kind does not contain the scopes: the caller chooses them, and could fill the log with different ones.
    const { clientId, grantType } = decision.request;
    await this.#within({ applicationId: clientId, endpoint, reason: decision.kind, about: [userId, server.id, grantType] }, async () => {
      await this.#write(refused, request);
      return true;
    });
  }

  /** @param request the sender, as far as the connection reveals */
  async reject(rejected: RejectedRequest, request: Connection): Promise<void> {
    const { endpoint, clientId, server, error, description, redirectUri } = rejected;
    await this.#within({ applicationId: clientId, endpoint, reason: error, about: [server.id] }, async () => {
      const { knex } = this.services.database;
      const application = await findApplicationById(knex, clientId);
      if (application === undefined) return false;
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
      return true;
    });
  }

  /** Records how many requests were refused without an event of their own. A crash loses those of the last minute. */
  async writeFurther(): Promise<void> {
    const { knex } = this.services.database;
    for (const { applicationId, requests, reasons } of this.#limits.takeFurther()) {
      const application = await findApplicationById(knex, applicationId);
      await recordEvent(knex, {
        eventType: 'app.oauth2.as.requests.refuse',
        displayMessage: 'Further refused requests',
        request: SYSTEM,
        targets: [{ id: applicationId, type: 'AppInstance', displayName: application?.label ?? applicationId }],
        failure: 'TOO_MANY_REFUSALS',
        after: { requests, reasons },
      });
    }
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

  /** @param write returns whether it wrote an event */
  async #within(refusal: CountedRefusal, write: () => Promise<boolean>): Promise<void> {
    if (!this.#limits.admits(refusal, present().getTime())) return;
    let isWritten = false;
    try {
      isWritten = await write();
    } finally {
      if (!isWritten) this.#limits.withdraw(refusal);
    }
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

/** Starts writing the numbers of further refusals. @returns a handle that stops it after a last write */
export function writeFurtherRefusals(refused: RefusedRequests, log: Logger): { stop(): Promise<void> } {
  const write = () =>
    refused.writeFurther().catch((error: unknown) => log.warn({ err: error }, 'could not record how many more requests were refused'));
  const writer = repeat('write further refusals', write, () => timings.usesPause);
  return {
    async stop() {
      await writer.stop();
      await write();
    },
  };
}
