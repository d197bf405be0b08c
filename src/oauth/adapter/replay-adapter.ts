/**
 * Client assertions that were seen (RFC 7523 section 3): oidc-provider looks one up and then saves it, between which a second one slips
 * through. Here the look-up finds nothing, and saving succeeds once, at once and whatever becomes of the request.
 */
import { type Adapter, type AdapterPayload, errors } from 'oidc-provider';
import { epochSeconds } from '../../clock.ts';
import { digest } from '../../secrets.ts';
import { insertOnce } from '../../store/protocol-writes.ts';
import type { ServerState } from './server-state.ts';
import { withoutUsableValues } from './stored-payload.ts';

export class ReplayAdapter implements Adapter {
  constructor(readonly server: ServerState) {}

  /** @throws {errors.InvalidClientAuth} when it was seen before */
  async upsert(id: string, payload: AdapterPayload, expiresIn: number): Promise<void> {
    const now = epochSeconds();
    const row = {
      model: 'ReplayDetection' as const,
      id: digest(id),
      serverKey: this.server.key,
      payload: withoutUsableValues(payload),
      accountId: undefined,
      clientId: undefined,
      grantId: undefined,
      uid: undefined,
      expiresAt: now + expiresIn,
    };
    if (!(await this.server.read((pool) => insertOnce(pool, row, now))))
      throw new errors.InvalidClientAuth('the client assertion was used before');
  }

  async find(): Promise<undefined> {
    return undefined;
  }

  async consume(): Promise<void> {}
  async destroy(): Promise<void> {}
  async revokeByGrantId(): Promise<void> {}

  async findByUid(): Promise<undefined> {
    return undefined;
  }

  async findByUserCode(): Promise<undefined> {
    return undefined;
  }
}
