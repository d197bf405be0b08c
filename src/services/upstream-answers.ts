/** An external provider's answer counts once: whoever sends it again, from the same browser too, comes too late (RFC 9700 section 4.5). */
import { epochSeconds } from '../clock.ts';
import { digest } from '../secrets.ts';
import { ALL_SERVERS } from '../store/protocol-state.ts';
import { insertOnce } from '../store/protocol-writes.ts';
import type { Services } from './dependencies.ts';

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
