/**
 * Allows pages of other origins to read responses of token, introspect, revoke and userinfo (Fetch standard, section 3.2, CORS protocol): the
 * application's `allowed_origins`. These endpoints use no cookies, so credentials are not allowed. Discovery and keys are public: oidc-provider
 * allows every origin.
 */
import type { KoaContextWithOIDC } from '../library/oidc-provider.ts';
import { clientSettings } from './client-settings.ts';

/** Response headers that pages can read: reason of a refusal, next DPoP nonce, time to retry, and request ID. */
const EXPOSED = 'WWW-Authenticate, DPoP-Nonce, Retry-After, X-Request-Id';
const OF_PREFLIGHTS = ['Access-Control-Allow-Methods', 'Access-Control-Allow-Headers', 'Access-Control-Max-Age'];

/**
 * Final CORS headers of a response, including errors; overrides what oidc-provider set before it knew the client.
 * @param isRegistered called without a known client: a preflight names none, and an error can precede it
 */
export async function shareWithOrigin(ctx: KoaContextWithOIDC, isRegistered: (origin: string) => Promise<boolean>): Promise<void> {
  ctx.vary('Origin');
  const origin = ctx.get('Origin');
  if (origin !== '' && (await mayRead(ctx, origin, isRegistered))) {
    ctx.set('Access-Control-Allow-Origin', origin);
    if (ctx.method !== 'OPTIONS') ctx.set('Access-Control-Expose-Headers', EXPOSED);
    return;
  }
  for (const header of ['Access-Control-Allow-Origin', 'Access-Control-Expose-Headers', ...OF_PREFLIGHTS]) ctx.remove(header);
}

async function mayRead(ctx: KoaContextWithOIDC, origin: string, isRegistered: (origin: string) => Promise<boolean>): Promise<boolean> {
  // Absent where the request was refused before the library's own route was entered.
  const oidc: KoaContextWithOIDC['oidc'] | undefined = ctx.oidc;
  const client = oidc?.client;
  if (client !== undefined) return clientSettings(client).allowedOrigins.includes(origin);
  // The response is complete: if the database is down, only the page cannot read it. A database that hangs would delay this response again.
  return ctx.status !== 503 && isRegistered(origin).catch(() => false);
}
