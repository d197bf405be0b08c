import type { Scope } from '../../features/scopes/scopes.resource.ts';
import type { KoaContextWithOIDC } from '../library/oidc-provider.ts';
import { OAUTH_METADATA, OPENID_CONFIGURATION } from '../servers/endpoints.ts';

/** Takes the scopes that are published to nobody out of a discovery document; any other answer stays. */
export function withholdScopes(ctx: KoaContextWithOIDC, scopes: readonly Scope[]): void {
  if ((ctx.path !== OPENID_CONFIGURATION && ctx.path !== OAUTH_METADATA) || ctx.status !== 200) return;
  const withheld = new Set(scopes.filter(({ metadataPublish }) => metadataPublish === 'NO_CLIENTS').map(({ name }) => name));
  const document = ctx.body as { readonly scopes_supported: readonly string[] };
  ctx.body = { ...document, scopes_supported: document.scopes_supported.filter((name) => !withheld.has(name)) };
}
