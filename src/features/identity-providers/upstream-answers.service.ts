/** An external provider's answer counts once: whoever sends it again, from the same browser too, comes too late (RFC 9700 section 4.5). */
import { epochSeconds } from '../../platform/clock/clock.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { ALL_SERVERS } from '../../protocol/storage/protocol-state.store.ts';
import { insertOnce } from '../../protocol/storage/protocol-writes.store.ts';

/** Longer than any browser keeps what belongs to it. */
const KEPT_SECONDS = 3600;

/** @param state of the authorization request, unguessable @returns false when it was answered before; of many at once one gets true */
export function claimAnswer({ database }: Services, state: string): Promise<boolean> {
  const now = epochSeconds();
  const nobody = { accountId: undefined, clientId: undefined, grantId: undefined, uid: undefined };
  const id = digest(`upstream answer ${state}`);
  const row = { model: 'ReplayDetection', id, serverKey: ALL_SERVERS, payload: {}, ...nobody, expiresAt: now + KEPT_SECONDS } as const;
  return insertOnce(database.pool, row, now);
}
