/**
 * Userinfo (OpenID Connect Core 1.0 section 5.3).
 * 1. The access token is read from the header or the form (credentials.ts) and looked up once, with its user.
 * 2. `userinfoRule` decides whether the token is accepted: the scope `openid` is not always required.
 * 3. `userinfoResponse` builds the response for both paths.
 */
import type { Profile } from '../../features/applications/application-settings.policy.ts';
import { isForServer } from '../../features/authorization-servers/audience.policy.ts';
import { opensUserinfo, USERINFO_SCOPES, userClaims } from '../../features/claims/claims.policy.ts';
import { spaceSeparated } from '../../features/scopes/granted-scopes.policy.ts';
import { type Client, errors, type KoaContextWithOIDC } from '../library/oidc-provider.ts';
import { effectiveProfile } from '../servers/client-settings.ts';
import type { Account, FoundModel } from '../storage/protocol-state.store.ts';
import { type BearerRule, requestStateOf } from '../storage/request-state.ts';
import type { ClaimedToken, ServerClaims } from '../token/server-claims.ts';
import type { Subjects } from '../token/subjects.ts';

interface UserinfoServer {
  /** For clients without a profile of their own. */
  readonly profile: Profile;
  readonly audience: string;
  readonly issuer: string;
}

const hasScope = ({ model, payload }: Token, client: Client, server: UserinfoServer): boolean =>
  model === 'AccessToken' && opensUserinfo(effectiveProfile(client, server), new Set(spaceSeparated(payload.scope)));

const isForUs = ({ payload }: Token, server: UserinfoServer): boolean =>
  isForServer((payload.extra as { readonly aud?: unknown } | undefined)?.aud, server);

type Token = Pick<FoundModel, 'model' | 'payload'>;

export const mayReadUserinfo = (token: Token, client: Client, server: UserinfoServer): boolean =>
  hasScope(token, client, server) && isForUs(token, server);

/**
 * The rule for a bearer token at userinfo, applied when oidc-provider reads the token. The library then requires `openid`, which an
 * accepted token need not have.
 * @throws {errors.InsufficientScope} RFC 6750 section 3.1: the token has no user, or none of the scopes
 * @throws {errors.InvalidToken} it is only for other APIs, which must not read the user's claims with it
 */
export const userinfoRule =
  (server: UserinfoServer, findClient: (id: string) => Promise<Client | undefined>): BearerRule =>
  async ({ model, payload }) => {
    const scopes = spaceSeparated(payload.scope);
    const shown = { scope: scopes.includes('openid') ? scopes.join(' ') : ['openid', ...scopes].join(' ') };
    const client = await findClient(String(payload.clientId));
    if (client === undefined) return shown;
    if (hasScope({ model, payload }, client, server)) {
      if (isForUs({ model, payload }, server)) return shown;
      const description = `the access token is for another API. userinfo needs one with the audience ${server.audience}`;
      throw Object.assign(new errors.InvalidToken(description), { error_description: description });
    }
    const helpful = effectiveProfile(client, server) !== 'service' ? ['openid', ...USERINFO_SCOPES] : USERINFO_SCOPES;
    const names = `${helpful.slice(0, -1).join(', ')} or ${helpful.at(-1)}`;
    const description =
      model === 'AccessToken'
        ? `the access token needs one of the scopes ${names}`
        : `the access token does not belong to a user. userinfo needs one that a user granted, with the scope ${names}`;
    throw new errors.InsufficientScope(description, helpful.join(' '));
  };

export interface UserinfoParts {
  /** Names of all claims that the server may return, in response order. */
  readonly names: readonly string[];
  readonly claims: ServerClaims;
  readonly subjects: Subjects;
}

/**
 * @param client that the token was issued to
 * @param token the access token of the request
 */
export async function userinfoResponse(
  account: Account,
  client: Client,
  token: ClaimedToken,
  { names, claims, subjects }: UserinfoParts,
): Promise<object> {
  const userClaimValues = await claims.forUserinfo(account, userClaims(account), token);
  const values: Readonly<Record<string, unknown>> = Object.assign({}, userClaimValues, { sub: await subjects.of(client, account.id) });
  return Object.fromEntries(names.filter((name) => name in values).map((name) => [name, values[name]]));
}

/** Replaces oidc-provider's response after it has accepted the token. */
export async function replaceUserinfoResponse(ctx: KoaContextWithOIDC, parts: UserinfoParts): Promise<object> {
  const token = ctx.oidc.entities.AccessToken;
  const account = token === undefined ? undefined : requestStateOf(ctx)?.accounts.get(token.accountId);
  const { client } = ctx.oidc;
  if (token === undefined || account === undefined || client === undefined) throw new Error('userinfo is answered for an accepted token');
  const { grantId } = token;
  const scope = spaceSeparated(ctx.oidc.params?.scope ?? token.scope).join(' ');
  return userinfoResponse(account, client, { scope, grantId, clientId: client.clientId }, parts);
}
