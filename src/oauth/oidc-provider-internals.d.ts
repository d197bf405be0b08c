/** The internal module that undocumented.ts reaches into: the library's own state of a Provider. */
declare module 'oidc-provider/lib/helpers/weak_cache.js' {
  import type { Provider } from 'oidc-provider';
  export default function instance(provider: Provider): { readonly configuration: { readonly responseTypes: string[] } };
}
