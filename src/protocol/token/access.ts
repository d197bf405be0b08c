/**
 * Applies the server's access policies: features/policies/access-policy.policy.ts evaluates each authorization request and each access and refresh
 * token before it is issued. What no rule allows is `access_denied` (RFC 6749 section 4.1.2.1). A rule's lifetimes override the server's.
 */

import { BUILT_IN } from '../../features/authorization-servers/server-id.policy.ts';
import { scopesOfClaims } from '../../features/claims/claims.policy.ts';
import type { Belongings } from '../../features/claims/custom-claims.policy.ts';
import { ORGANIZATION_SCOPE } from '../../features/claims/custom-claims.policy.ts';
import {
  type AccessDecision,
  type AccessGrantType,
  type AccessPolicy,
  CIBA_GRANT,
  DEVICE_GRANT,
  decideAccess,
  dependsOnDetails,
  dependsOnGroups,
  dependsOnRoles,
  JWT_BEARER_GRANT,
  TOKEN_EXCHANGE_GRANT,
  type TokenLifetimes,
} from '../../features/policies/access-policy.policy.ts';
import { keptSteps } from '../../features/policies/decisions.policy.ts';
import { clientCredentialsScopes, type OfferedScope, spaceSeparated } from '../../features/scopes/granted-scopes.policy.ts';
import type { Scope } from '../../features/scopes/scopes.resource.ts';
import { scopesOfRequestedClaims } from '../authorize/claims.ts';
import { ASSERTED, EXCHANGED } from '../exchange/delegated-tokens.ts';
import { errors, type KoaContextWithOIDC, Provider } from '../library/oidc-provider.ts';
import { clientSettings } from '../servers/client-settings.ts';
import { type RecordDenial, requestedGrants } from '../servers/refusals.ts';
import { currentRequest } from '../storage/request-state.ts';
import { belongingsOf, organizationOf } from './server-claims.ts';

/** Facts about a token to be issued. */
export interface IssuedToken {
  readonly kind: string;
  readonly clientId?: string | undefined;
  readonly accountId?: string | undefined;
  readonly grantId?: string | undefined;
  /** The grant that it comes from, with a suffix after a refresh. */
  readonly gty?: string | undefined;
  scope?: string | undefined;
  /** Parameter `claims` of the authorization request. */
  readonly claims?: { readonly id_token?: object | undefined } | undefined;
}

export interface AccessRules {
  /** @throws {errors.AccessDenied} */
  evaluateToken(token: IssuedToken): Promise<void>;
  /** Evaluates the request of a signed-in user. A hybrid request must be allowed for each of its grant types. @throws {errors.AccessDenied} */
  evaluateRequest(ctx: KoaContextWithOIDC): Promise<void>;
  /** @returns the lifetimes of the rule that allowed the token */
  lifetimesOf(token: object): TokenLifetimes;
  /**
   * @param subject a token, or the context of an authorization request for its direct response
   * @returns the hook of the rule that allowed it; undefined: none
   */
  hookOf(subject: object): RuleWithHook | undefined;
}

/** A rule with a hook that is called before its tokens are issued. */
export interface RuleWithHook {
  readonly hookId: string;
  readonly policyId: string;
  readonly ruleId: string;
}

function hookIn({ policy, rule }: AccessDecision): RuleWithHook | undefined {
  const hookId = rule?.actions.token?.inlineHook?.id;
  return hookId === undefined || policy === undefined || rule === undefined ? undefined : { hookId, policyId: policy.id, ruleId: rule.id };
}

/** Values of `gty` that differ from the grant type. */
const GRANT_WORDS: Readonly<Record<string, AccessGrantType>> = {
  device_code: DEVICE_GRANT,
  ciba: CIBA_GRANT,
  [EXCHANGED]: TOKEN_EXCHANGE_GRANT,
  [ASSERTED]: JWT_BEARER_GRANT,
};

function grantTypeOf({ kind, gty }: IssuedToken): AccessGrantType {
  if (kind === 'ClientCredentials') return 'client_credentials';
  const [first] = spaceSeparated(gty);
  return GRANT_WORDS[first ?? ''] ?? (first as AccessGrantType);
}

/** The scopes that a token's policies evaluate. Claims that the request named for its ID token count like their scopes. */
const evaluatedScopes = (token: IssuedToken): string[] => [
  ...new Set([...spaceSeparated(scopeOf(token)), ...scopesOfClaims(Object.keys(token.claims?.id_token ?? {}))]),
];

/** A refresh with fewer scopes is evaluated with those; its refresh token keeps all scopes. */
function scopeOf({ kind, gty, scope }: IssuedToken): unknown {
  const isRefresh = kind === 'RefreshToken' && spaceSeparated(gty).includes('refresh_token');
  return (isRefresh ? Provider.ctx?.oidc.params?.scope : undefined) ?? scope;
}

/**
 * @param policies active ones in order of priority
 * @param server default lifetimes
 * @param readGroups called once per request, if a rule names groups
 * @param isAssigned called for applications that require an assignment
 * @param readBelongings called once per request, if a rule names roles or a token is for an organization
 * @param denied called for refusals
 * @param detailTypesOf authorization details types of a token or request; called only if a rule names types
 * @param actorOf actor of a token exchange
 */
export function accessRules(
  policies: readonly AccessPolicy[],
  server: TokenLifetimes,
  readGroups: (userId: string) => Promise<readonly string[]>,
  isAssigned: (applicationId: string, userId: string) => Promise<boolean>,
  readBelongings: (userId: string, applicationId: string) => Promise<Belongings>,
  denied: RecordDenial,
  actorOf: (token: object) => string | undefined,
  detailTypesOf: (subject: object) => readonly string[],
): AccessRules {
  const namesGroups = dependsOnGroups(policies);
  const namesRoles = dependsOnRoles(policies);
  const namesDetails = dependsOnDetails(policies);
  const decisions = new WeakMap<object, AccessDecision>();

  function groupsOf(userId: string): Promise<readonly string[]> {
    const request = currentRequest();
    const known = request?.groups.get(userId) ?? readGroups(userId);
    request?.groups.set(userId, known);
    return known;
  }

  const isMember = async (orgId: string, userId: string, applicationId: string): Promise<boolean> =>
    (await belongingsOf(userId, applicationId, readBelongings)).memberships.some((membership) => membership.orgId === orgId);

  async function decide(
    clientId: string,
    userId: string | undefined,
    grantType: AccessGrantType,
    scopes: readonly string[],
    subject: object,
  ): Promise<AccessDecision> {
    const actor = actorOf(subject);
    const detailTypes = namesDetails ? detailTypesOf(subject) : [];
    const user =
      userId === undefined
        ? undefined
        : {
            id: userId,
            groupIds: namesGroups ? await groupsOf(userId) : [],
            roles: namesRoles ? ((await belongingsOf(userId, clientId, readBelongings)).roles ?? []) : [],
          };
    const decision = decideAccess(policies, { clientId, user, grantType, scopes, actor, detailTypes }, server);
    if (decision.allowed) return decision;
    await denied({ kind: 'access-policy', clientId, userId, grantType, scopes, actor, detailTypes, ...keptSteps(decision) });
    throw new errors.AccessDenied('no access policy of the authorization server allows this request');
  }

  return {
    async evaluateToken(token) {
      const { clientId = '', accountId } = token;
      // Checked again: a user who has lost an application gets no new tokens for it by an old code or refresh token.
      const client = Provider.ctx?.oidc.client;
      const isClosed = client !== undefined && accountId !== undefined && clientSettings(client).assignment === 'ASSIGNED';
      if (isClosed && !(await isAssigned(clientId, accountId))) {
        await denied({ kind: 'not-assigned', clientId, userId: accountId, grantType: grantTypeOf(token), scopes: evaluatedScopes(token) });
        throw new errors.AccessDenied('the user is not assigned to the application');
      }
      // Removal from an organization revokes the member's tokens. This covers tokens that are issued at the same moment; the scope's claims
      // need the same read.
      const orgId = spaceSeparated(token.scope).includes(ORGANIZATION_SCOPE) ? organizationOf(token) : undefined;
      if (orgId !== undefined && accountId !== undefined && !(await isMember(orgId, accountId, clientId))) {
        await denied({ kind: 'not-a-member', clientId, userId: accountId, grantType: grantTypeOf(token), scopes: evaluatedScopes(token) });
        throw new errors.AccessDenied('the user is not a member of the organization');
      }
      decisions.set(token, await decide(clientId, accountId, grantTypeOf(token), evaluatedScopes(token), token));
    },

    async evaluateRequest(ctx) {
      const { client, account, params } = ctx.oidc;
      if (client === undefined || account === undefined) return;
      const scopes = [...new Set([...spaceSeparated(params?.scope), ...scopesOfRequestedClaims(ctx)])];
      for (const type of requestedGrants(ctx)) {
        const decision = await decide(client.clientId, account.accountId, type, scopes, ctx);
        // An ID token of the authorize endpoint is not evaluated separately.
        if (type === 'implicit') decisions.set(ctx, decision);
      }
    },

    lifetimesOf: (token) => decisions.get(token)?.lifetimes ?? server,

    hookOf(subject) {
      const decision = decisions.get(subject);
      return decision && hookIn(decision);
    },
  };
}

/** Scopes of the built-in server only, for applications that may manage their signal streams (CAEP Interoperability Profile 1.0 section 2.7.2). */
const SIGNAL_SCOPES: readonly OfferedScope[] = ['ssf.manage', 'ssf.read'].map((name) => ({ name, consent: 'IMPLICIT', isDefault: false }));

/**
 * @param oidc the request: its raw parameter includes unknown scopes that the library removes
 * @returns the granted scopes: if none were requested, the server's default scopes that an application can have
 * @throws {errors.InvalidScope} unknown, about a user, or requires a user's consent
 */
export function clientCredentialsScope(oidc: KoaContextWithOIDC['oidc'] | undefined, serverId: string, scopes: readonly Scope[]): string {
  const managesSignals = serverId === BUILT_IN && oidc?.client !== undefined && clientSettings(oidc.client).managesSignals;
  const offered: readonly OfferedScope[] = managesSignals ? [...scopes, ...SIGNAL_SCOPES] : scopes;
  const { granted, refused } = clientCredentialsScopes(spaceSeparated(oidc?.body?.scope), offered);
  if (refused.length > 0) {
    throw new errors.InvalidScope(
      'a requested scope does not exist, or cannot be granted to an application without a user',
      refused.join(' '),
    );
  }
  return granted.join(' ');
}
