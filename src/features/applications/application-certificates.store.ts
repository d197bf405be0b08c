/** Applications that use client certificates (RFC 8705). */
import type { Executor } from '../../platform/database/database.ts';

export interface ApplicationWithCertificate {
  readonly id: string;
  readonly label: string;
  /** Must the certificate be issued by a CA? */
  readonly byAuthority: boolean;
}

/** Active applications that authenticate by certificate or whose tokens are bound to one, ordered by ID. */
export async function listApplicationsWithCertificate(executor: Executor, limit: number): Promise<readonly ApplicationWithCertificate[]> {
  const { rows } = await executor.raw<{ rows: ApplicationWithCertificate[] }>(
    `SELECT id, label, settings->>'token_endpoint_auth_method' = 'tls_client_auth' AS "byAuthority" FROM applications
      WHERE status = 'ACTIVE' AND (settings->>'token_endpoint_auth_method' IN ('tls_client_auth', 'self_signed_tls_client_auth')
        OR settings->>'tls_client_certificate_bound_access_tokens' = 'true')
      ORDER BY id LIMIT ?`,
    [limit],
  );
  return rows;
}
