/**
 * Client assertions that were seen (RFC 7523 section 3): oidc-provider looks one up and then saves it, between which a second one slips
 * through. Here the look-up finds nothing, and saving succeeds once, at once and whatever becomes of the request.
 */
import { type AdapterPayload, errors } from 'oidc-provider';
import { epochSeconds } from '../../clock.ts';
import { digest } from '../../secrets.ts';
import { insertOnce } from '../../store/protocol-writes.ts';
import { NoAdapter } from './no-adapter.ts';
import type { ServerState } from './server-state.ts';
import { withoutUsableValues } from './stored-payload.ts';

export class ReplayAdapter extends NoAdapter {
  constructor(readonly server: ServerState) {
    super();
  }

  /** @throws {errors.InvalidClientAuth} when it was seen before */
  override async upsert(id: string, payload: AdapterPayload, expiresIn: number): Promise<void> {
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
}
