/** Prototypes of koa's request objects: shared by all servers. */
import type { Provider } from 'oidc-provider';

type Prototypes = Pick<Provider, 'context' | 'request' | 'response'>;
const shared = new Map<boolean, Prototypes>();

/**
 * V8 knows objects by their prototype. A provider has prototypes of its own, and where requests go round two hundred of them V8 would know none any
 * more: a fifth of the cost of a token request. Here each takes those of the first, which nothing that belongs to one provider is written to.
 * @param secure is BASE_URL https? Then each request is: behind a proxy too, and without trusting a header
 */
export function sharePrototypes(provider: Provider, secure: boolean): void {
  const { context, request, response } = shared.get(secure) ?? provider;
  if (!shared.has(secure)) {
    if (secure) Object.defineProperty(request, 'protocol', { get: () => 'https' });
    shared.set(secure, { context, request, response });
  }
  Object.assign(provider, { context, request, response });
}
