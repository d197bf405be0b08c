/**
 * The browser session, shared by all authorization servers. Its authorizations have one row for each server and client, so that concurrent
 * sign-ins at two servers do not overwrite each other. An ended session is never saved again.
 */

import { LIFETIMES } from '../../../config/defaults.ts';
import { epochSeconds } from '../../platform/clock/clock.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import type { AdapterPayload } from '../library/oidc-provider.ts';
import { NoAdapter } from './no-adapter.ts';
import { ALL_SERVERS, type FoundSession, findSession, type StoredKey } from './protocol-state.store.ts';
import { currentRequest } from './request-state.ts';
import type { ServerState } from './server-state.ts';
import { withoutUsableValues } from './stored-payload.ts';

type Authorizations = Record<string, Record<string, unknown>>;

export class SessionAdapter extends NoAdapter {
  /** @param longest maximum seconds of a session from its sign-in */
  constructor(
    readonly server: ServerState,
    readonly longest: number = LIFETIMES.session,
  ) {
    super();
  }

  override async upsert(id: string, payload: AdapterPayload, expiresIn: number): Promise<void> {
    const { authorizations, ...session } = payload as AdapterPayload & { authorizations?: Authorizations };
    const expiresAt = payload.exp ?? epochSeconds() + expiresIn;
    // Extending a session does not rewrite them: they are kept for the session's maximum lifetime.
    const authorizedUntil = (typeof payload.loginTs === 'number' ? payload.loginTs : epochSeconds()) + this.longest;
    const uid = String(payload.uid);
    const row = {
      model: 'Session' as const,
      id: digest(id),
      serverKey: ALL_SERVERS,
      payload: withoutUsableValues(session),
      accountId: typeof payload.accountId === 'string' ? payload.accountId : undefined,
      clientId: undefined,
      grantId: undefined,
      uid,
      expiresAt,
    };
    await this.server.write((request) => {
      const foundId = request.foundSessions.get(uid);
      if (foundId === undefined) request.writes.insert(row);
      else request.writes.resaveSession({ foundId, ...row });
      for (const [clientId, state] of changed(authorizations ?? {}, request.sessionClients)) {
        const isFirst = !request.sessionClients.has(clientId);
        request.writes.sessionClients.push({
          sessionUid: uid,
          serverKey: this.server.key,
          clientId,
          state,
          isFirst,
          expiresAt: authorizedUntil,
        });
      }
    });
  }

  override async find(id: string): Promise<AdapterPayload | undefined> {
    const hashed = digest(id);
    const found = await this.server.read((pool) => findSession(pool, { id: hashed }, this.server.key, epochSeconds()));
    if (found !== undefined) currentRequest()?.foundSessions.set(String(found.payload.uid), hashed);
    return found && this.#present(found, id);
  }

  override async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    const found = await this.server.read((pool) => findSession(pool, { uid }, this.server.key, epochSeconds()));
    // The cookie's value is not stored and cannot be returned. Callers by uid compare only the account.
    return found && this.#present(found, undefined);
  }

  override async destroy(id: string): Promise<void> {
    await this.server.write((request) => request.writes.delete(key(id)));
  }

  #present(found: FoundSession, jti: string | undefined): AdapterPayload {
    const request = currentRequest();
    if (found.account !== undefined) request?.accounts.set(found.account.id, found.account);
    for (const [clientId, state] of Object.entries(found.clients)) request?.sessionClients.set(clientId, JSON.stringify(state));
    const present = { exp: Math.floor(found.expiresAt), authorizations: structuredClone(found.clients) };
    return Object.assign({}, found.payload, jti === undefined ? {} : { jti }, present);
  }
}

const key = (id: string): StoredKey => ({ model: 'Session', id: digest(id), serverKey: ALL_SERVERS });

/** The changed authorizations. The grant is left out: it is new each time and never looked up. */
function changed(authorizations: Authorizations, before: ReadonlyMap<string, string>): [string, Record<string, unknown>][] {
  return Object.entries(authorizations)
    .map(([clientId, { grantId: _, ...state }]): [string, Record<string, unknown>] => [clientId, state])
    .filter(([clientId, state]) => before.get(clientId) !== JSON.stringify(state));
}
