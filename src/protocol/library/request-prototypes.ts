/** Prototypes of koa's request objects: shared by all servers. */
import type { Provider } from 'oidc-provider';

type Prototypes = Pick<Provider, 'context' | 'request' | 'response'>;
const shared = new Map<boolean, Prototypes>();

/**
 * V8 identifies objects by their prototype. Each provider has its own prototypes. With two hundred servers V8 would no longer optimize
 * access to requests, which costs a fifth of a token request. Here all providers use the prototypes of the first; nothing specific to a
 * provider is written to them.
 * @param secure is BASE_URL https? Then every request counts as secure, also behind a proxy and without trusting a header
 */
export function sharePrototypes(provider: Provider, secure: boolean): void {
  const { context, request, response } = shared.get(secure) ?? provider;
  if (!shared.has(secure)) {
    if (secure) Object.defineProperty(request, 'protocol', { get: () => 'https' });
    shared.set(secure, { context, request, response });
  }
  Object.assign(provider, { context, request, response });
}
