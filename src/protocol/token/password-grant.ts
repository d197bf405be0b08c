/**
 * The password grant (RFC 6749 section 4.3), for applications that enable it: the same checks of user name and password as on the sign-in page, and
 * the same tokens as from the code grant. There is no browser to ask for consent or a second factor, so users who need one are refused.
 */

import { passwordScopes, spaceSeparated } from '../../features/scopes/granted-scopes.policy.ts';
import type { Scope } from '../../features/scopes/scopes.resource.ts';
import { ONE_FACTOR } from '../../features/second-factors/second-factor.policy.ts';
import { TooManyFailures } from '../../features/sign-in/failure-limits.service.ts';
import { epochSeconds } from '../../platform/clock/clock.ts';
import { isUnavailable } from '../../platform/database/database-failures.ts';
import { type Configuration, errors, type KoaContextWithOIDC, type Provider } from '../library/oidc-provider.ts';
import { clientSettings } from '../servers/client-settings.ts';
import type { ProviderParts } from '../servers/dependencies.ts';
import { SecondFactorNeeded, TemporarilyUnavailable, TooManyFailuresHere } from '../servers/errors.ts';
import { markAsRecorded, type RecordDenial } from '../servers/refusals.ts';
import { bindToken } from './proof-of-possession.ts';

export const PASSWORD_PARAMETERS = ['username', 'password', 'scope'];

export interface PasswordGrantParts extends Pick<ProviderParts, 'authenticate' | 'needsSecondFactor' | 'noteSignIn'> {
  readonly provider: Provider;
  readonly scopes: readonly Scope[];
  readonly findAccount: NonNullable<Configuration['findAccount']>;
  readonly denied: RecordDenial;
  /** @throws {errors.InvalidTarget} */
  checkAudience(ctx: KoaContextWithOIDC): void;
  /** Is the user assigned to the application, if it requires an assignment? */
  isAssigned(applicationId: string, userId: string): Promise<boolean>;
}

/** @returns the handler that oidc-provider calls for `grant_type=password` after client authentication */
export function passwordGrant(parts: PasswordGrantParts): (ctx: KoaContextWithOIDC) => Promise<void> {
  return async (ctx) => {
    const { client, params } = ctx.oidc;
    if (client === undefined || params === undefined) throw new Error('the client is authenticated before the grant is carried out');
    const settings = clientSettings(client);
    const scope = grantedScopes(spaceSeparated(params.scope), parts.scopes, {
      ...settings,
      refreshable: client.grantTypeAllowed('refresh_token'),
    }).join(' ');
    parts.checkAudience(ctx);
    const user = await signIn(ctx, parts);
    const { id, authenticatedAt } = user;
    const attempt = { clientId: client.clientId, userId: id, grantType: 'password', scopes: spaceSeparated(scope) } as const;
    if (settings.assignment === 'ASSIGNED' && !(await parts.isAssigned(client.clientId, id))) {
      await parts.denied({ kind: 'not-assigned', ...attempt });
      throw new errors.AccessDenied('the application is not assigned to the user');
    }
    await unlessAway(async () => {
      if (await parts.needsSecondFactor(user, client.clientId, ctx.req)) {
        await parts.denied({ kind: 'second-factor-needed', ...attempt });
        throw new SecondFactorNeeded();
      }
      await parts.noteSignIn(user, client.clientId, ctx.req);
    });
    await issueTokens(ctx, parts, { accountId: id, authTime: Math.floor(authenticatedAt.getTime() / 1000), scope });
  };
}

/** @throws {TemporarilyUnavailable} the database is down */
const unlessAway = (run: () => Promise<void>): Promise<void> =>
  run().catch((error: unknown) => {
    throw isUnavailable(error) ? new TemporarilyUnavailable(error) : error;
  });

/** @throws {errors.InvalidGrant} with the same text for every reason */
async function signIn(ctx: KoaContextWithOIDC, { authenticate }: PasswordGrantParts) {
  const { username, password } = ctx.oidc.params ?? {};
  const missing = Object.entries({ username, password }).flatMap(([name, value]) =>
    typeof value === 'string' && value !== '' ? [] : [name],
  );
  if (missing.length > 0) throw new errors.InvalidRequest(`missing required parameter(s): ${missing.join(', ')}`);
  try {
    const user = await authenticate({ username: String(username), password: String(password) }, ctx.req);
    if (user !== undefined) return user;
  } catch (error) {
    if (isUnavailable(error)) throw new TemporarilyUnavailable(error);
    if (!(error instanceof TooManyFailures)) throw error;
    ctx.set('Retry-After', String(error.retryAfter));
    throw new TooManyFailuresHere(error.retryAfter);
  }
  markAsRecorded(ctx);
  throw new errors.InvalidGrant('the user name or the password is wrong');
}

/** @throws {errors.InvalidScope} unknown, or requires a user's consent */
function grantedScopes(
  requested: readonly string[],
  scopes: readonly Scope[],
  client: Parameters<typeof passwordScopes>[2],
): readonly string[] {
  const { granted, refused } = passwordScopes(requested, scopes, client);
  if (refused.length > 0) {
    throw new errors.InvalidScope('a requested scope does not exist, or requires the consent of the user', refused.join(' '));
  }
  return granted;
}

interface Grantee {
  readonly accountId: string;
  /** Epoch seconds. */
  readonly authTime: number;
  readonly scope: string;
}

async function issueTokens(
  ctx: KoaContextWithOIDC,
  { provider, findAccount }: PasswordGrantParts,
  { accountId, authTime, scope }: Grantee,
): Promise<void> {
  const { client } = ctx.oidc;
  const account = await findAccount(ctx, accountId);
  if (client === undefined || account === undefined) throw new errors.InvalidGrant('the user can no longer sign in');
  ctx.oidc.entity('Account', account);
  const scopes = new Set(spaceSeparated(scope));
  const grant = new provider.Grant({ accountId, clientId: client.clientId });
  grant.addOIDCScope(scope);
  const grantId = await grant.save();
  const given = { accountId, client, grantId, gty: 'password', scope: scope === '' ? undefined : scope };

  const signedIn = { amr: ['pwd'], acr: ONE_FACTOR, authTime };
  const accessToken = new provider.AccessToken(given as ConstructorParameters<typeof provider.AccessToken>[0]);
  // For authenticationClaims(); the library stores only its own fields.
  Object.assign(accessToken, signedIn);
  await bindToken(provider, ctx, accessToken);
  ctx.oidc.entity('AccessToken', accessToken);
  const access_token = await accessToken.save();

  let refresh_token: string | undefined;
  if (scopes.has('offline_access')) {
    const first = { ...given, ...signedIn, rotations: 0, iiat: epochSeconds() };
    const refreshToken = new provider.RefreshToken(first as unknown as ConstructorParameters<typeof provider.RefreshToken>[0]);
    // For public clients the refresh token is bound to the key.
    if (client.tokenEndpointAuthMethod === 'none')
      Object.assign(refreshToken, { jkt: accessToken.jkt, 'x5t#S256': accessToken['x5t#S256'] });
    ctx.oidc.entity('RefreshToken', refreshToken);
    refresh_token = await refreshToken.save();
  }

  let id_token: string | undefined;
  if (scopes.has('openid')) {
    const claims = await account.claims('id_token', scope, {}, []);
    const idToken = new provider.IdToken({ ...claims, amr: ['pwd'], acr: ONE_FACTOR, auth_time: authTime }, { ctx });
    Object.assign(idToken, { scope, mask: {}, rejected: [] });
    id_token = await idToken.issue({ use: 'idtoken' });
  }

  const { expiration: expires_in, tokenType: token_type, rar: authorization_details } = accessToken;
  ctx.body = { access_token, expires_in, id_token, refresh_token, scope, token_type, authorization_details };
}
