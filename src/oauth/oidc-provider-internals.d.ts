/** The internal module that undocumented.ts reaches into: the library's own state of a Provider. */
declare module 'oidc-provider/lib/helpers/weak_cache.js' {
  import type { KoaContextWithOIDC, Provider } from 'oidc-provider';

  type ResponseMode = (ctx: KoaContextWithOIDC, redirectUri: string, fields: Record<string, unknown>) => Promise<void> | void;
  interface State {
    readonly configuration: { readonly responseTypes: string[] };
    readonly responseModes: Map<string, ResponseMode>;
  }
  export default function instance(provider: Provider): State;
}
