/** Everything of oidc-provider that the rest of the protocol uses. Nothing outside this folder imports the library itself. */
export {
  type AccessToken,
  type Adapter,
  type AdapterPayload,
  type ClaimsParameter,
  type Client,
  type ClientCredentials,
  type Configuration,
  ExternalSigningKey,
  errors,
  interactionPolicy,
  type KoaContextWithOIDC,
  Provider,
  type RefreshToken,
  type ResponseType,
  type UnknownObject,
} from 'oidc-provider';
export { checkDpopReplay, checkDpopRequired, checkMtlsCert, validateDpop } from 'oidc-provider/lib/helpers/grants.js';
