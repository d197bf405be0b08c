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

  /** @throws {TemporarilyUnavailable} when the database is away */
  async read<T>(query: (pool: pg.Pool) => Promise<T>): Promise<T> {
    try {
      return await query(this.pool);
    } catch (error) {
      throw isUnavailable(error) ? new TemporarilyUnavailable(error) : error;
    }
  }

  /**
   * Marks a value as seen, at once and regardless of the request's result: of concurrent calls one succeeds.
   * @param until epoch seconds
   * @returns false when it was seen before
   */
  claim(value: string, until: number): Promise<boolean> {
    const nobody = { accountId: undefined, clientId: undefined, grantId: undefined, uid: undefined };
    const row = { model: 'ReplayDetection' as const, id: digest(value), serverKey: this.key, payload: {}, ...nobody, expiresAt: until };
    return this.read((pool) => insertOnce(pool, row, epochSeconds()));
  }

  /** Notes a write for the end of the request; outside of a request it is carried out at once. */
  async write(note: (request: RequestState) => void): Promise<void> {
    const request = currentRequest();
    if (request !== undefined) return void note(request);
    const own = new RequestState();
    note(own);
    await this.commit(own);
  }

  /**
   * Carries out what the request noted.
   * @throws {errors.InvalidRequestUri} when a pushed authorization request was used meanwhile: nothing was written
   * @throws {errors.InvalidGrant} when a code or refresh token was used or revoked meanwhile: nothing was written
   * @throws {TemporarilyUnavailable} when the database is away: the answer must not leave
   */
  async commit(request: RequestState): Promise<void> {
    await this.read(async (pool) => {
      try {
        await write(pool, request.writes, epochSeconds());
      } catch (error) {
        if (!(error instanceof AlreadyUsed)) throw error;
        // A second use ends what the first was given; a value that was only revoked meanwhile takes nothing with it.
        if (await wasUsed(pool, request.writes.uses)) for (const grantId of request.grants.keys()) await deleteGrant(pool, grantId);
        if (request.writes.uses.some(({ model }) => model === 'PushedAuthorizationRequest'))
          throw new errors.InvalidRequestUri('the request_uri was already used. Push a new request');
        throw new errors.InvalidGrant('used by a parallel request');
      }
      for (const grantId of request.endedGrants) await deleteGrant(pool, grantId);
    });
  }

  /**
   * Seconds in which a rotated refresh token may be used again: by the application it belongs to, and by no other one that asks about it.
   * @param clientId whose token it is
   */
  refreshTokenLeeway(clientId: unknown): number {
    const client = Provider.ctx?.oidc.client;
    return client === undefined || client.clientId !== clientId ? 0 : clientSettings(client).refreshTokenLeeway;
  }
}
