/**
 * Reads and writes of one request. Reads are cached, so that oidc-provider's repeated lookups cost one statement; writes are collected and committed
 * together before the response ("one read and one write per request").
 */
import type { IncomingMessage } from 'node:http';
import type Koa from 'koa';
import type { AuditEvent } from '../../features/audit/events.resource.ts';
import type { Belongings } from '../../features/claims/custom-claims.policy.ts';
import type { OrganizationPolicy } from '../../features/organization-policy/organization-policy.policy.ts';
import { Provider } from '../library/oidc-provider.ts';
import type { Account, FoundModel, StoredKey, StoredModel } from './protocol-state.store.ts';
import type { Answer, Extension, Note, SessionClient, SessionSave, WriteSet } from './protocol-writes.store.ts';
import type { SingleUse } from './shared-writes.store.ts';

const same = (a: StoredKey, b: StoredKey): boolean => a.id === b.id && a.model === b.model && a.serverKey === b.serverKey;

/** The writes of one request, without an order: they become one statement. The last write of a row counts. */
class PendingWrites implements WriteSet {
  inserts: StoredModel[] = [];
  sessions: SessionSave[] = [];
  uses: SingleUse[] = [];
  extensions: Extension[] = [];
  answers: Answer[] = [];
  deletes: StoredKey[] = [];
  notes: Note[] = [];
  sessionClients: SessionClient[] = [];
  events: AuditEvent[] = [];
  bySession = false;

  insert(row: StoredModel): void {
    this.#forget(row);
    this.inserts.push(row);
  }

  /** The last answer to a device or backchannel request. */
  answer(row: StoredModel): void {
    this.answers = [...this.answers.filter((other) => !same(other, row)), row];
  }

  /** Saves a session that was found, perhaps under a new id: the row is re-keyed, so the old id needs no deletion. */
  resaveSession(row: SessionSave): void {
    this.deletes = this.deletes.filter((key) => !(key.model === row.model && key.id === row.foundId));
    this.sessions = [row];
  }

  delete(key: StoredKey): void {
    this.#forget(key);
    this.deletes.push(key);
  }

  #forget(key: StoredKey): void {
    this.inserts = this.inserts.filter((other) => !same(other, key));
    this.sessions = this.sessions.filter((other) => !same(other, key));
  }
}

/** A grant for oidc-provider: never stored, because its token contains the same data. */
export interface DerivedGrant {
  readonly accountId: string;
  readonly clientId: string;
  readonly scope: string;
  readonly claims: readonly string[];
  readonly exp: number;
}

/** An endpoint's rule for its bearer token. @returns the scope for oidc-provider @throws if the token is refused */
export type BearerRule = (token: Pick<FoundModel, 'model' | 'payload'>) => Promise<{ readonly scope: string }>;

export class RequestState {
  bearerRule: BearerRule | undefined;
  /** Client of a request, where the library does not know it: of the bearer token at userinfo, or at logout. */
  clientId: string | undefined;
  /** The token to introspect or revoke, if it was sent as a JWT: an access token or possibly an ID token. */
  presentedJwt: string | undefined;
  readonly writes = new PendingWrites();
  readonly models = new Map<string, Promise<FoundModel | undefined>>();
  /** The values under which presented access tokens are stored. */
  readonly handles = new Map<string, string>();
  readonly accounts = new Map<string, Account>();
  readonly grants = new Map<string, DerivedGrant>();
  /** Organizations that users signed in for, by grant. */
  readonly organizations = new Map<string, string>();
  /** Policies of these organizations, by grant. */
  readonly organizationPolicies = new Map<string, OrganizationPolicy>();
  /** Browser of the presented code or refresh token (session-device.ts). */
  deviceId: string | undefined;
  /** IDs of a user's groups, read on demand. */
  readonly groups = new Map<string, Promise<readonly string[]>>();
  /** Memberships of users, read on demand. */
  readonly belongings = new Map<string, Promise<Belongings>>();
  /** Token families to revoke, each in its own transaction after the request's writes. */
  readonly endedGrants = new Set<string>();
  /** The session's authorizations at this server as they were read, to write only what changed. */
  readonly sessionClients = new Map<string, string>();
  /** Sessions that were found, by uid to hashed ID: saving one of them is an update. */
  readonly foundSessions = new Map<string, string>();
}

const KEY = 'gatehouseRequest';
const looked = new WeakMap<IncomingMessage, { readonly id: string; readonly found: Promise<FoundModel | undefined> }>();

/** Passes on a lookup that started before the request state, so that it is not repeated. @param id the hashed ID */
export const shareLookup = (req: IncomingMessage, id: string, found: Promise<FoundModel | undefined>): void =>
  void looked.set(req, { id, found });

const failed = new WeakMap<IncomingMessage, unknown>();

/** Passes on an earlier failure, so that the lookup is not repeated. */
export const noteFailure = (req: IncomingMessage, failure: unknown): void => void failed.set(req, failure);

/** @throws the recorded failure, if any */
export function throwRecordedFailure(req: IncomingMessage): void {
  if (failed.has(req)) throw failed.get(req);
}

/** Creates the state of a request. Call once, before the library sees the request. */
export function beginRequest(ctx: Koa.Context): RequestState {
  const state = new RequestState();
  const known = looked.get(ctx.req);
  if (known !== undefined) state.models.set(known.id, known.found);
  ctx.state[KEY] = state;
  return state;
}

/** @returns the state of the request with this context; undefined before `beginRequest` */
export const requestStateOf = (ctx: Koa.Context): RequestState | undefined => ctx.state[KEY];

/** The state of the request that oidc-provider is processing; undefined outside of one. */
export function currentRequest(): RequestState | undefined {
  const ctx = Provider.ctx as Koa.Context | undefined;
  return ctx && requestStateOf(ctx);
}
