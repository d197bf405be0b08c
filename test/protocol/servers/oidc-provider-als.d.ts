declare module 'oidc-provider/lib/helpers/als.js' {
  const als: import('node:async_hooks').AsyncLocalStorage<unknown>;
  export default als;
}
