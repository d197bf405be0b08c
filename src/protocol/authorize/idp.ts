/**
 * The parameters `idp` and `idp_scope`, extensions of ours: the external provider that the sign-in goes straight to, and scopes that it is asked for beside
 * its own. One that is unknown, inactive or not among the application's is `invalid_request` (RFC 6749 section 4.1.2.1), whoever is signed in already.
 */

import { areScopes } from '../../features/identity-providers/upstream-request.policy.ts';
import { isPrintable } from '../../platform/validation/text.ts';
import { errors, type KoaContextWithOIDC } from '../library/oidc-provider.ts';
import { clientSettings } from '../servers/client-settings.ts';

/** @throws {errors.InvalidRequest} */
export async function checkIdp(
  ctx: KoaContextWithOIDC,
  find: (id: string) => Promise<{ readonly status: 'ACTIVE' | 'INACTIVE' } | undefined>,
): Promise<void> {
  const { params, client } = ctx.oidc;
  const idp = params?.idp;
  if (typeof idp !== 'string') return;
  const allowed = client && clientSettings(client).identityProviders;
  const found = isPrintable(idp) && (allowed === undefined || allowed.includes(idp)) ? await find(idp) : undefined;
  if (found?.status !== 'ACTIVE') throw new errors.InvalidRequest('idp names no identity provider that is open to the application');
}

/** @throws {errors.InvalidRequest} */
export function checkIdpScope(ctx: KoaContextWithOIDC): void {
  const scopes = ctx.oidc.params?.idp_scope;
  if (typeof scopes === 'string' && !areScopes(scopes))
    throw new errors.InvalidRequest('idp_scope must be scopes with spaces between them');
}
