/**
 * Evaluates custom claims: user data is read when a token is issued or userinfo is requested, and only if an active claim needs it.
 * features/claims/custom-claims.policy.ts selects the claims.
 */

import type { Logger } from 'pino';
import { type ClaimsWithinLimit, jsonSize, limitToTokenSize } from '../../features/authorization-servers/token-size.policy.ts';
import { idTokenContent, userinfoClaims } from '../../features/claims/claims.policy.ts';
import type { Belongings } from '../../features/claims/custom-claims.policy.ts';
import {
  type ClaimDecision,
  type ClaimFacts,
  claimNeeds,
  decideClaims,
  hasClaimsFor,
  type ServerClaim,
} from '../../features/claims/custom-claims.policy.ts';
import { spaceSeparated } from '../../features/scopes/granted-scopes.policy.ts';
import type { KoaContextWithOIDC } from '../library/oidc-provider.ts';
import type { Account } from '../storage/protocol-state.store.ts';
import { currentRequest } from '../storage/request-state.ts';

/** Facts that the claims of an access token depend on. */
export interface ClaimedToken {
  readonly grantId?: string | undefined;
  /** The organization that the user signed in for, of a stored token. */
  readonly orgId?: string | undefined;
  readonly clientId?: string | undefined;
  readonly accountId?: string | undefined;
  readonly scope?: string | undefined;
}

/** In the `extra` of a stored access token: all custom claims, if a hook changed them. Not part of tokens and responses. */
export const HOOKED_CLAIMS = 'hooked_claims';

type Values = Readonly<Record<string, unknown>>;

export interface ServerClaims {
  /** All claims of an access token. @param known its user, if already read */
  ofAccessToken(token: ClaimedToken, known?: Account): Promise<Values>;
  /**
   * The custom claims that fit into a JWT access token.
   * @param payload the other claims
   * @param hooked all custom claims, if a hook changed them
   */
  forAccessToken(token: ClaimedToken, payload: object, hooked?: Values): Promise<Values>;
  /** @param standard userinfo without custom claims @param token presented access token @returns userinfo */
  forUserinfo(account: Account, standard: Values, token: ClaimedToken): Promise<Values>;
  /** @param standard the user's claims in the ID token without them @param chosen by the application @param requested by the request @returns the user's claims in it */
  forIdToken(
    ctx: KoaContextWithOIDC,
    account: Account,
    standard: Values,
    scope: string,
    chosen: readonly string[] | undefined,
    requested: readonly string[],
  ): Promise<Values>;
}

export interface ServerClaimsParts {
  readonly serverId: string;
  readonly claims: readonly ServerClaim[];
  readonly log: Logger;
  readAccount(id: string): Promise<Account | undefined>;
  readBelongings(userId: string, applicationId: string): Promise<Belongings>;
}

/** Read once per request for each user and application. */
export function belongingsOf(
  userId: string,
  applicationId: string,
  read: (userId: string, applicationId: string) => Promise<Belongings>,
): Promise<Belongings> {
  const request = currentRequest();
  const key = `${userId} ${applicationId}`;
  const known = request?.belongings.get(key) ?? read(userId, applicationId);
  request?.belongings.set(key, known);
  return known;
}

/** The organization that the user of a token signed in for. A token that is not stored yet has it from its grant. */
export const organizationOf = ({ orgId, grantId }: Pick<ClaimedToken, 'orgId' | 'grantId'>): string | undefined =>
  orgId ?? (grantId === undefined ? undefined : currentRequest()?.organizations.get(grantId));

const NO_BELONGINGS: Belongings = { groups: [], memberships: [] };
/** Bytes of an ID token apart from issuer, audience, nonce and the user: ID, times, hashes, session, authentication. */
const PROTOCOL_CLAIMS = 432;

export function serverClaims({ serverId, claims, log, readAccount, readBelongings }: ServerClaimsParts): ServerClaims {
  async function decide(
    account: Account | undefined,
    clientId: string | undefined,
    orgId: string | undefined,
    facts: Omit<ClaimFacts, 'person'>,
  ): Promise<ClaimDecision> {
    const needs = claimNeeds(claims, facts);
    const isNeeded = needs.groups || needs.memberships || needs.roles;
    const belongings = account !== undefined && isNeeded ? await belongingsOf(account.id, clientId ?? '', readBelongings) : NO_BELONGINGS;
    const organization = belongings.memberships.find((membership) => membership.orgId === orgId);
    return decideClaims(claims, Object.assign({}, facts, { person: account && Object.assign({}, account, belongings, { organization }) }));
  }

  /** @returns the claims that are included */
  function withOmissionsLogged({ claims: held, omitted }: ClaimsWithinLimit, token: string, clientId: string | undefined): Values {
    if (omitted.length > 0)
      log.warn({ server: serverId, application: clientId, claims: omitted }, `omitted claims from the ${token}: it would exceed 8 KiB`);
    return held;
  }

  async function ofAccessToken(token: ClaimedToken, known?: Account): Promise<Values> {
    const { clientId, accountId, scope } = token;
    const scopes = spaceSeparated(scope);
    if (!hasClaimsFor(claims, 'RESOURCE', scopes)) return {};
    const account =
      accountId === undefined ? undefined : (known ?? currentRequest()?.accounts.get(accountId) ?? (await readAccount(accountId)));
    return (await decide(account, clientId, organizationOf(token), { claimType: 'RESOURCE', scopes })).claims;
  }

  return {
    ofAccessToken,

    async forAccessToken(token, payload, hooked) {
      return withOmissionsLogged(
        limitToTokenSize(hooked ?? (await ofAccessToken(token)), jsonSize(payload)),
        'access token',
        token.clientId,
      );
    },

    async forUserinfo(account, standard, token) {
      const facts = { claimType: 'IDENTITY', scopes: spaceSeparated(token.scope) } as const;
      return userinfoClaims(standard, await decide(account, token.clientId, organizationOf(token), facts));
    },

    async forIdToken({ oidc }, account, standard, scope, chosen, requested) {
      const { client, entities, params, issuer } = oidc;
      // A request for only an ID token gives the application no access token for userinfo.
      const besideAccessToken = params?.response_type !== 'id_token';
      const own = await decide(account, client?.clientId, organizationOf({ grantId: entities.Grant?.jti }), {
        claimType: 'IDENTITY',
        scopes: spaceSeparated(scope),
        besideAccessToken,
        chosen,
        requested,
      });
      const nonce = entities.AuthorizationCode?.nonce ?? entities.RefreshToken?.nonce ?? params?.nonce;
      const content = idTokenContent(standard, own, { iss: issuer, aud: client?.clientId, nonce }, PROTOCOL_CLAIMS);
      return withOmissionsLogged(content, 'ID token', client?.clientId);
    },
  };
}
