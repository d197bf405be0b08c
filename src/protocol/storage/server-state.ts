/** One authorization server's access to the database: reads at once, writes together at the end of the request. */

import type pg from 'pg';
import { epochSeconds } from '../../platform/clock/clock.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import { isUnavailable } from '../../platform/database/database-failures.ts';
import { errors, Provider } from '../library/oidc-provider.ts';
import { clientSettings } from '../servers/client-settings.ts';
import { TemporarilyUnavailable } from '../servers/errors.ts';
import { deleteGrant } from './protocol-state.store.ts';
import { AlreadyUsed, insertOnce, wasUsed, write } from './protocol-writes.store.ts';
import { currentRequest, RequestState } from './request-state.ts';

export class ServerState {
  constructor(
    readonly pool: pg.Pool,
    readonly key: number,
    readonly issuer: string,
  ) {}

  /** @throws {TemporarilyUnavailable} the database is down */
  async read<T>(query: (pool: pg.Pool) => Promise<T>): Promise<T> {
    try {
      return await query(this.pool);
    } catch (error) {
      throw isUnavailable(error) ? new TemporarilyUnavailable(error) : error;
    }
  }

  /**
   * Marks a value as used, immediately and regardless of the request's result: of concurrent calls one succeeds.
   * @param until epoch seconds
   * @returns false if it was used before
   */
  claim(value: string, until: number): Promise<boolean> {
    const nobody = { accountId: undefined, clientId: undefined, grantId: undefined, uid: undefined };
    const row = { model: 'ReplayDetection' as const, id: digest(value), serverKey: this.key, payload: {}, ...nobody, expiresAt: until };
    return this.read((pool) => insertOnce(pool, row, epochSeconds()));
  }

  /** Collects a write for the end of the request; outside of a request it is executed immediately. */
  async write(note: (request: RequestState) => void): Promise<void> {
    const request = currentRequest();
    if (request !== undefined) return void note(request);
    const own = new RequestState();
    note(own);
    await this.commit(own);
  }

  /**
   * Executes the collected writes.
   * @throws {errors.InvalidRequestUri} a pushed authorization request was used meanwhile: nothing was written
   * @throws {errors.InvalidGrant} a code or refresh token was used or revoked meanwhile: nothing was written
   * @throws {TemporarilyUnavailable} the database is down: the response must not be sent
   */
  async commit(request: RequestState): Promise<void> {
    await this.read(async (pool) => {
      try {
        await write(pool, request.writes, epochSeconds());
      } catch (error) {
        if (!(error instanceof AlreadyUsed)) throw error;
        // A second use revokes the tokens of the first. A value that was only revoked meanwhile does not.
        if (await wasUsed(pool, request.writes.uses)) for (const grantId of request.grants.keys()) await deleteGrant(pool, grantId);
        if (request.writes.uses.some(({ model }) => model === 'PushedAuthorizationRequest'))
          throw new errors.InvalidRequestUri('the request_uri was already used. Push a new request');
        throw new errors.InvalidGrant('used by a parallel request');
      }
      for (const grantId of request.endedGrants) await deleteGrant(pool, grantId);
    });
  }

  /**
   * Seconds in which a rotated refresh token can be used again, by its own application only.
   * @param clientId the token's application
   */
  refreshTokenLeeway(clientId: unknown): number {
    const client = Provider.ctx?.oidc.client;
    return client === undefined || client.clientId !== clientId ? 0 : clientSettings(client).refreshTokenLeeway;
  }
}
