/**
 * Authorization servers: found by path, built on demand, rebuilt on every change; the least recently used are dropped. Local changes apply at once,
 * others by notification; a time limit covers lost notifications.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { LRUCache } from 'lru-cache';
import { loadServer } from '../../features/authorization-servers/authorization-servers.service.ts';
import { BUILT_IN } from '../../features/authorization-servers/server-id.policy.ts';
import { readSettings } from '../../features/settings/settings.service.ts';
import { atMost } from '../../platform/cache/cache.ts';
import { timings } from '../../platform/clock/timings.ts';
import { isUnavailable } from '../../platform/database/database-failures.ts';
import type { Change } from '../../platform/database/notifications.ts';
import { isPrintable } from '../../platform/validation/text.ts';
import { respondByShortPath } from '../introspection/short-path.ts';
import { handleRegistration, isRegistration } from '../registration/registration.ts';
import { findServerRevisions } from '../storage/server-state.store.ts';
import type { ProviderParts } from './dependencies.ts';
import { isProgramEndpoint, methodsOf, OAUTH_METADATA, OPENID_CONFIGURATION, withoutAlias } from './endpoints.ts';
import { TemporarilyUnavailable } from './errors.ts';
import { type BuiltServer, buildServer, type ServerFoundation } from './provider.ts';
import { sendJson } from './responses.ts';

/** Fraction of the cache time after which a server in use is checked together with another one that is due. */
const NEARLY_DUE = 0.9;
const MOST_KEPT = 500;
const BASE = '/oauth/v1';

/** Target of a request. */
export type Destination =
  | {
      readonly kind: 'endpoint';
      readonly serverId: string;
      readonly base: string;
      readonly path: string;
      /** Used if the server does not exist: an alias of the built-in one. */
      readonly otherwise?: EndpointDestination;
    }
  | { readonly kind: 'elsewhere' };
type EndpointDestination = Extract<Destination, { kind: 'endpoint' }>;

/** @param path the request's path, without query */
export function destinationOf(path: string): Destination {
  // RFC 8414 section 3.1: the well-known segment precedes the issuer's path. MCP clients also look for the OpenID Connect document there.
  const wellKnown = [OAUTH_METADATA, OPENID_CONFIGURATION].find((document) => path.startsWith(`${document}${BASE}`));
  if (wellKnown !== undefined) {
    const base = path.slice(wellKnown.length);
    const id = base === BASE ? BUILT_IN : /^\/oauth\/v1\/([a-z0-9][a-z0-9_-]*)$/.exec(base)?.[1];
    return id === undefined ? { kind: 'elsewhere' } : { kind: 'endpoint', serverId: id, base, path: wellKnown };
  }
  if (!path.startsWith(`${BASE}/`)) return { kind: 'elsewhere' };
  const own = path.slice(BASE.length);
  if (methodsOf(own) !== undefined) return { kind: 'endpoint', serverId: BUILT_IN, base: BASE, path: own };
  const aliased = withoutAlias(own);
  const builtIn: EndpointDestination | undefined =
    aliased === own ? undefined : { kind: 'endpoint', serverId: BUILT_IN, base: BASE, path: aliased };
  const [, id, below = ''] = /^\/([a-z0-9][a-z0-9_-]*)(\/.*)$/.exec(own) ?? [];
  const endpoint = withoutAlias(below);
  if (id === undefined || id === BUILT_IN || methodsOf(endpoint) === undefined) return { kind: 'elsewhere' };
  return { kind: 'endpoint', serverId: id, base: `${BASE}/${id}`, path: endpoint, ...(builtIn && { otherwise: builtIn }) };
}

interface Kept {
  readonly built: BuiltServer;
  /** Identifies the data that the server was built from; an unchanged one keeps the server. */
  readonly fingerprint: string;
  /** The database's revision, read before the data. */
  revision: string;
  checkedAt: number;
  usedAt: number;
}

/** A query for changed servers. */
interface RevisionQuery {
  readonly ids: ReadonlySet<string>;
  /** Time of the check. */
  readonly checkedAt: () => number;
  readonly revisions: Promise<ReadonlyMap<string, string>>;
}

export class AuthorizationServers {
  /** Counts changes, so that a load that began before a change does not count as fresh. */
  #changes = 0;
  readonly #kept = new LRUCache<string, Kept>(atMost(MOST_KEPT));
  readonly #building = new Map<string, Promise<BuiltServer | undefined>>();
  #look: RevisionQuery | undefined;

  constructor(readonly parts: ProviderParts) {}

  /**
   * @returns undefined if there is no active server of this ID
   * @throws {TemporarilyUnavailable} a lookup is needed and the database is down
   */
  async get(id: string): Promise<BuiltServer | undefined> {
    if (!isPrintable(id)) return undefined;
    const kept = this.#kept.get(id);
    if (kept !== undefined) {
      kept.usedAt = performance.now();
      if (kept.usedAt - kept.checkedAt < timings.cache) return kept.built;
    }
    return this.#building.get(id) ?? this.#begin(id);
  }

  async builtIn(): Promise<BuiltServer> {
    const built = await this.get(BUILT_IN);
    if (built === undefined) throw new Error('the built-in authorization server is missing');
    return built;
  }

  /** Handles a change made here or in another process. */
  changed(change: Change | 'everything'): void {
    const { clients } = this.parts;
    this.#changes += 1;
    // A load in progress may have read older data, so later requests start a new one.
    this.#building.clear();
    this.#look = undefined;
    if (change === 'everything') clients.forgetAll();
    if (change === 'everything' || change.kind === 'settings') {
      this.#kept.forEach((kept) => {
        kept.checkedAt = Number.NEGATIVE_INFINITY;
      });
    } else if (change.kind === 'server') {
      const kept = this.#kept.get(change.id);
      if (kept !== undefined) kept.checkedAt = Number.NEGATIVE_INFINITY;
    } else if (change.kind === 'application') clients.forget(change.id);
  }

  /**
   * Answers a request to an endpoint.
   * @returns false if nothing was answered, because the server does not exist
   */
  async answer(req: IncomingMessage, res: ServerResponse, destination: EndpointDestination): Promise<boolean> {
    const built = await this.get(destination.serverId);
    if (built === undefined && destination.otherwise !== undefined) return this.answer(req, res, destination.otherwise);
    if (built === undefined) return refuseProgram(res, destination.path);
    const methods = methodsOf(destination.path) ?? [];
    if (!methods.includes(req.method ?? '')) {
      refuseMethod(res, methods);
      return true;
    }
    if (isRegistration(destination.path)) {
      const { registration, describe } = this.parts;
      await handleRegistration(registration, built, { req, res, path: destination.path }, describe(req));
      return true;
    }
    if (req.method === 'OPTIONS' && !isPreflight(req)) {
      respondMethods(res, methods);
      return true;
    }
    if (await respondByShortPath(built.shortPath, req, res, destination.path)) return true;
    const url = req.url ?? '/';
    const query = url.indexOf('?');
    // oidc-provider finds its mount path here, as express would leave it.
    Object.assign(req, { originalUrl: url, baseUrl: destination.base });
    req.url = destination.path + (query < 0 ? '' : url.slice(query));
    await built.callback(req, res);
    return true;
  }

  #begin(id: string): Promise<BuiltServer | undefined> {
    const building = this.#load(id).finally(() => {
      if (this.#building.get(id) === building) this.#building.delete(id);
    });
    this.#building.set(id, building);
    return building;
  }

  async #load(id: string): Promise<BuiltServer | undefined> {
    const unavailable = (error: unknown): never => {
      throw isUnavailable(error) ? new TemporarilyUnavailable(error) : error;
    };
    const { revisions, checkedAt } = this.#lookAt(id);
    const revision = (await revisions.catch(unavailable)).get(id);
    const unchanged = this.#kept.get(id);
    if (unchanged !== undefined && unchanged.revision === revision) return unchanged.built;
    const found = revision === undefined ? undefined : await this.#find(id).catch(unavailable);
    if (revision === undefined || found === undefined) {
      this.#kept.delete(id);
      return undefined;
    }
    const fingerprint = JSON.stringify(found);
    const kept = this.#kept.get(id);
    if (kept?.fingerprint === fingerprint) {
      Object.assign(kept, { revision, checkedAt: checkedAt() });
      return kept.built;
    }
    const built = buildServer(found, this.parts, (other) => this.get(other));
    this.#kept.set(id, { built, fingerprint, revision, checkedAt: checkedAt(), usedAt: performance.now() });
    return built;
  }

  /**
   * Checks all servers in use that are due or nearly due in one statement: checking hundreds of servers separately every few seconds would cost more
   * than their responses, as would checking all whenever an unused one is requested.
   */
  #lookAt(id: string): RevisionQuery {
    if (this.#look?.ids.has(id)) return this.#look;
    const changes = this.#changes;
    const begun = performance.now();
    const ids = new Set([id]);
    // Anyone can request a server that does not exist. That costs one lookup and affects no other server.
    const isKept = this.#kept.peek(id) !== undefined;
    if (isKept) {
      this.#kept.forEach(({ usedAt, checkedAt }, other) => {
        if (begun - usedAt < timings.cache && begun - checkedAt > NEARLY_DUE * timings.cache) ids.add(other);
      });
    }
    const checkedAt = () => (changes === this.#changes ? begun : Number.NEGATIVE_INFINITY);
    const ask = async () => {
      try {
        const revisions = await findServerRevisions(this.parts.database.pool, [...ids]);
        for (const [other, revision] of revisions) {
          const kept = this.#kept.peek(other);
          if (kept?.revision === revision) kept.checkedAt = checkedAt();
        }
        return revisions;
      } finally {
        if (this.#look === look) this.#look = undefined;
      }
    };
    const look: RevisionQuery = { ids, checkedAt, revisions: ask() };
    if (isKept) this.#look = look;
    return look;
  }

  async #find(id: string): Promise<ServerFoundation | undefined> {
    const { database } = this.parts;
    const parts = await loadServer(database, id);
    if (parts === undefined || parts.server.status !== 'ACTIVE') return undefined;
    return { ...parts, signIn: await readSettings({ database }, 'sign-in') };
  }
}

/** Programs get JSON; browsers get the page for unknown addresses. @returns whether it was answered */
function refuseProgram(res: ServerResponse, path: string): boolean {
  if (!isProgramEndpoint(path)) return false;
  sendJson(res, 404, { error: 'invalid_request', error_description: 'the authorization server does not exist' });
  return true;
}

/** Paths are exact. A program that adds a slash at the end gets JSON, too. @returns whether it was answered */
export function refuseSlash(res: ServerResponse, path: string): boolean {
  const meant = path.endsWith('/') ? destinationOf(path.slice(0, -1)) : undefined;
  if (meant?.kind !== 'endpoint' || !isProgramEndpoint(meant.path)) return false;
  sendJson(res, 404, {
    error: 'invalid_request',
    error_description: 'the endpoint does not exist. Remove the slash at the end of its URL',
  });
  return true;
}

/** Is it a CORS preflight (Fetch standard, section 3.2.2)? oidc-provider answers these, but no other OPTIONS. */
const isPreflight = ({ headers }: IncomingMessage): boolean =>
  headers.origin !== undefined && headers['access-control-request-method'] !== undefined;

/** RFC 9110 section 9.3.7. */
function respondMethods(res: ServerResponse, methods: readonly string[]): void {
  res.writeHead(204, { Allow: methods.join(', '), 'Cache-Control': 'no-store' }).end();
}

/** RFC 9110 section 15.5.6. */
function refuseMethod(res: ServerResponse, methods: readonly string[]): void {
  const body = { error: 'invalid_request', error_description: 'the endpoint does not accept this HTTP method' };
  sendJson(res, 405, body, { Allow: methods.join(', ') });
}
