/**
 * Handles an authorization request whose session ends during the response: it gets no code or token, because its application would not be notified of
 * the end (OpenID Connect Back-Channel Logout 1.0 section 2.5). It is processed again without a session: `login_required` or the sign-in page.
 */
import type { KoaContextWithOIDC } from '../library/oidc-provider.ts';
import { isSignInRequest } from '../storage/device-code-adapter.ts';
import { requestStateOf } from '../storage/request-state.ts';

/** Marks a request as answered from its session; called by oidc-provider. */
export function issuesInSession(ctx: KoaContextWithOIDC): void {
  const request = requestStateOf(ctx);
  if (request !== undefined) request.writes.bySession = true;
}

/**
 * Discards the response and redirects the browser to the same request. Parameters of a request object are merged, because it can be used only once.
 */
export function repeatRequest(ctx: KoaContextWithOIDC): void {
  const { params, provider, entities } = ctx.oidc;
  if (entities.DeviceCode !== undefined) {
    // The user enters the code again, because the request was not answered.
    ctx.set('Cache-Control', 'no-store');
    ctx.redirect(isSignInRequest(entities.DeviceCode) ? '/account/requests' : '/activate');
    ctx.status = 303;
    return;
  }
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params ?? {})) {
    if (typeof value === 'string') query.set(name, value);
  }
  const { pathname } = new URL(provider.urlFor('authorization'));
  ctx.status = 303;
  ctx.set('Cache-Control', 'no-store');
  ctx.redirect(`${pathname}?${query}`);
}
