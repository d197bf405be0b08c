/** Handlers of oidc-provider's events. */
import { issuesInSession } from '../authorize/ended-session.ts';
import type { Provider } from '../library/oidc-provider.ts';
import { explainGrantError } from '../token/grant-errors.ts';
import type { ProviderParts } from './dependencies.ts';
import { rememberError } from './refusals.ts';

export function watchProvider(provider: Provider, issuer: string, { log, requestId }: Pick<ProviderParts, 'log' | 'requestId'>): void {
  provider.on('authorization.error', rememberError);
  provider.on('code_verification.error', rememberError);
  provider.on('device_resume.error', rememberError);
  provider.on('grant.error', (ctx, error) => {
    explainGrantError(ctx, error);
    Object.assign(ctx.body as object, { error_description: error.error_description });
  });
  provider.on('authorization.success', (ctx, response = {}) => {
    issuesInSession(ctx);
    // The library omits it beside an ID token. Clients that follow RFC 9207 section 2.4 expect it in every response.
    response.iss = issuer;
  });
  provider.on('server_error', (ctx, error) => log.error({ err: error, requestId: requestId(ctx.req) }, 'server_error'));
}
