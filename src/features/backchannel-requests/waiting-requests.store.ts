/** Pending sign-in requests of applications (CIBA) for one user. protocol/storage starts and ends them. */
import type { Executor } from '../../platform/database/database.ts';
import { MODELS } from '../../protocol/storage/protocol-state.store.ts';

export interface WaitingRequest {
  /** ID of its row. */
  readonly id: string;
  readonly serverId: string;
  readonly clientId: string;
  /** Code in the URL of the page that confirms it. Other users cannot use it. */
  readonly code: string;
  /** Message of the application. */
  readonly message: string | null;
  readonly requested: Date;
  readonly expires: Date;
}

/** Maximum number of requests shown to a user. */
const MOST = 20;

const WAITING = `SELECT p.id, s.id AS "serverId", p.client_id AS "clientId", p.payload->>'code' AS code, p.payload->>'message' AS message,
    to_timestamp((p.payload->>'iat')::float8) AS requested, to_timestamp((p.payload->>'until')::float8) AS expires
  FROM oidc_payload p JOIN authorization_servers s ON s.key = p.server_key AND s.status = 'ACTIVE'
  WHERE p.account_id = :userId AND p.model = ${MODELS.BackchannelAuthenticationRequest} AND to_timestamp((p.payload->>'until')::float8) > :now
    AND NOT jsonb_exists_any(p.payload, ARRAY['accountId', 'error']) ORDER BY requested DESC, p.id LIMIT ${MOST}`;

/** Newest first. @param now excludes requests that have expired by then */
export async function listWaitingRequests(executor: Executor, userId: string, now: Date): Promise<WaitingRequest[]> {
  return (await executor.raw<{ rows: WaitingRequest[] }>(WAITING, { userId, now })).rows;
}
