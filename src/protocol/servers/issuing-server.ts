/** Parts of an authorization server that are needed to validate its tokens. */
import type { AuthorizationServer } from '../../features/authorization-servers/authorization-servers.resource.ts';
import type { Provider } from '../library/oidc-provider.ts';
import type { ServerState } from '../storage/server-state.ts';
import type { AccessTokenFormat } from '../token/access-token-format.ts';

export interface IssuingServer {
  readonly provider: Provider;
  readonly issuer: string;
  readonly server: AuthorizationServer;
  readonly state: ServerState;
  readonly format: Pick<AccessTokenFormat, 'handleOf' | 'idTokenClaims'>;
}
