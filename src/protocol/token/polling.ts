/** Polling interval of devices and backchannel requests while the user has not answered (RFC 8628 section 3.5, CIBA section 11). */
import { epochSeconds } from '../../platform/clock/clock.ts';
import type { KoaContextWithOIDC } from '../library/oidc-provider.ts';
import { notePoll } from '../storage/device-codes.store.ts';
import type { StoredKey } from '../storage/protocol-state.store.ts';
import { rowKey } from '../storage/row-keys.ts';
import type { ServerState } from '../storage/server-state.ts';

/** Seconds between two polls: the default of RFC 8628 section 3.2. */
export const POLLING_INTERVAL = 5;

/** Tolerance in seconds: polls that keep the interval arrive closer together if the first one was delayed. */
const LATE = 1;

/**
 * After the library's response: `authorization_pending` becomes `slow_down` if the client polled too early. Once the user has answered, the
 * next poll gets the answer at any time.
 */
export async function slowDownPolling(ctx: KoaContextWithOIDC, server: ServerState): Promise<void> {
  const body = ctx.body as { error?: unknown; error_description?: string } | undefined;
  if (body?.error !== 'authorization_pending') return;
  const key = polledKey(ctx, server);
  if (key === undefined || (await server.read((pool) => notePoll(pool, key, epochSeconds(), POLLING_INTERVAL - LATE)))) return;
  body.error = 'slow_down';
  body.error_description = `polled too early. Wait ${POLLING_INTERVAL} seconds longer between two polls`;
}

function polledKey({ oidc: { params } }: KoaContextWithOIDC, { key: serverKey }: ServerState): StoredKey | undefined {
  const { device_code: device, auth_req_id: request } = params ?? {};
  if (typeof device === 'string') return { id: rowKey(device), model: 'DeviceCode', serverKey };
  return typeof request === 'string' ? { id: rowKey(request), model: 'BackchannelAuthenticationRequest', serverKey } : undefined;
}
