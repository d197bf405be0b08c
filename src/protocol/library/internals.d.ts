/** The internal modules that patches.ts uses: the library's state of a Provider, its router, and its context. */
declare module 'oidc-provider/lib/helpers/weak_cache.js' {
  import type { KoaContextWithOIDC, Provider } from 'oidc-provider';

  type ResponseMode = (ctx: KoaContextWithOIDC, redirectUri: string, fields: Record<string, unknown>) => Promise<void> | void;
  interface State {
    readonly configuration: { readonly responseTypes: string[] };
    readonly responseModes: Map<string, ResponseMode>;
    readonly router: {
      match(method: string, path: string): { readonly route: { run(ctx: object, next: () => Promise<void>): Promise<void> } } | undefined;
    };
  }
  export default function instance(provider: Provider): State;
}

declare module 'oidc-provider/lib/helpers/router.js' {
  import type { Middleware } from 'koa';

  type Register = (this: unknown, name: string, path: string, ...middleware: readonly Middleware[]) => unknown;
  const Router: { readonly prototype: Record<'get' | 'post' | 'put' | 'delete' | 'options', Register> };
  export default Router;
}

declare module 'oidc-provider/lib/helpers/grants.js' {
  import type { KoaContextWithOIDC, Provider } from 'oidc-provider';

  interface Proof {
    readonly thumbprint: string;
    readonly jti: string;
  }
  type Certificate = string | object;
  type ErrorClass = new (description: string) => Error;
  /** Reads the DPoP header, once a request. */
  export function validateDpop(provider: Provider, ctx: KoaContextWithOIDC, accessToken?: string): Promise<Proof | undefined>;
  export function checkDpopReplay(
    provider: Provider,
    ctx: KoaContextWithOIDC,
    proof: Proof | undefined,
    clientId: string,
    error?: ErrorClass,
  ): Promise<void>;
  export function checkDpopRequired(provider: Provider, ctx: KoaContextWithOIDC, proof: Proof | undefined): void;
  export function checkMtlsCert(provider: Provider, ctx: KoaContextWithOIDC): Certificate | undefined;
}

declare module 'oidc-provider/lib/helpers/als.js' {
  import type { AsyncLocalStorage } from 'node:async_hooks';

  const current: AsyncLocalStorage<object>;
  export default current;
}
