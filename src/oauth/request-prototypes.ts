/** What koa makes each request's objects from: the same for all servers, whichever one a request is for. */
import Koa from 'koa';
import type { Provider } from 'oidc-provider';

const asTheSocketSays = new Koa();
/** BASE_URL is https: behind a proxy too, and without trusting a header. */
const asHttps = new Koa();
Object.defineProperty(asHttps.request, 'protocol', { get: () => 'https' });

/**
 * V8 knows objects by their prototype. A provider has prototypes of its own, and where requests go round two hundred of them V8 would know none any
 * more: a fifth of the cost of a token request.
 * @param secure are all addresses https?
 */
export function sharePrototypes(provider: Provider, secure: boolean): void {
  const { context, request, response } = secure ? asHttps : asTheSocketSays;
  Object.assign(provider, { context, request, response });
}
