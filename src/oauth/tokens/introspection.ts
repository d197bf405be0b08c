/** Introspection (RFC 7662): who may ask about which token, and the fields that oidc-provider does not fill. */
import type { AccessToken, Client, ClientCredentials, KoaContextWithOIDC, RefreshToken } from 'oidc-provider';
import { digest } from '../../secrets.ts';
import type { AuthorizationServer } from '../../store/authorization-servers.ts';
import { type RequestState, requestStateOf } from '../adapter/request-state.ts';
import { clientSettings } from '../client-settings.ts';
import { isJwtHandle, jtiOfHandle } from './access-token-format.ts';
import { isActive } from './account.ts';

type Token = AccessToken | ClientCredentials | RefreshToken;

/** A confidential application may introspect any token of the server unless it is set to its own; a public one only its own. */
export function mayIntrospect(
  _ctx: KoaContextWithOIDC,
  client: Pick<Client, 'clientId' | 'tokenEndpointAuthMethod'>,
  token: Token,
): boolean {
  if (token.clientId === client.clientId) return true;
  return client.tokenEndpointAuthMethod !== 'none' && clientSettings(client).introspectAny;
}

/** The identifier of a token as introspection tells it: never the token itself. */
function publicJti(stored: string): string {
  return isJwtHandle(stored) ? jtiOfHandle(stored) : digest(`jti ${stored}`).slice(0, 22);
}

const INACTIVE = { active: false };
const defined = (answer: Record<string, unknown>) => Object.fromEntries(Object.entries(answer).filter(([, value]) => value !== undefined));

/**
 * Completes oidc-provider's answer.
 * @param idToken the claims of the presented token when it is an ID token of this server
 */
export function completeIntrospection(
  ctx: KoaContextWithOIDC,
  server: AuthorizationServer,
  idToken: Record<string, unknown> | undefined,
): void {
  const { entities, client } = ctx.oidc;
  const answer = ctx.body as Record<string, unknown>;
  const request = requestStateOf(ctx);
  const token = entities.AccessToken ?? entities.RefreshToken ?? entities.ClientCredentials;
  if (answer.active === true && token !== undefined) ctx.body = describe(answer, token, server, ctx.oidc.issuer, request);
  else if (idToken !== undefined && client !== undefined && mayIntrospect(ctx, client, { clientId: idToken.aud } as Token)) {
    ctx.body = { active: true, ...idToken, client_id: idToken.aud, nbf: idToken.iat };
  } else ctx.body = INACTIVE;
}

function describe(
  answer: Record<string, unknown>,
  token: Token,
  server: AuthorizationServer,
  issuer: string,
  request: RequestState | undefined,
) {
  const accountId = 'accountId' in token ? token.accountId : undefined;
  const account = accountId === undefined ? undefined : request?.accounts.get(accountId);
  // A token of a user who was deleted or deactivated is dead at once.
  if (accountId !== undefined && (account === undefined || !isActive(account))) return INACTIVE;
  return defined({
    ...answer,
    token_type: answer.token_type ?? 'Bearer',
    nbf: token.iat,
    sub: answer.sub ?? token.clientId,
    aud: server.accessTokenFormat === 'jwt' && token.kind !== 'RefreshToken' ? server.audience : issuer,
    username: account?.login,
    uid: token.kind === 'AccessToken' ? accountId : undefined,
    jti: publicJti(token.jti),
  });
}
