/**
 * Client assertions that were seen (RFC 7523 section 3): oidc-provider looks one up and then saves it, between which a second one slips
 * through. Here the look-up finds nothing, and saving succeeds once, at once and whatever becomes of the request.
 */

import { epochSeconds } from '../../platform/clock/clock.ts';
import { type AdapterPayload, errors } from '../library/oidc-provider.ts';
import { NoAdapter } from './no-adapter.ts';
import type { ServerState } from './server-state.ts';

/** How far the end of an assertion may be ahead, in seconds: for so long it is remembered. */
const LONGEST_LIFE = 86_400;

export class ReplayAdapter extends NoAdapter {
  constructor(readonly server: ServerState) {
    super();
  }

  /** @throws {errors.InvalidClientAuth} when it was seen before, or is valid for too long */
  override async upsert(id: string, _payload: AdapterPayload, expiresIn: number): Promise<void> {
    if (expiresIn > LONGEST_LIFE) throw new errors.InvalidClientAuth('the client assertion is valid for too long');
    if (!(await this.server.claim(id, epochSeconds() + expiresIn)))
      throw new errors.InvalidClientAuth('the client assertion was used before');
  }
}
