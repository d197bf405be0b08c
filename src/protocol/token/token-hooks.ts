/**
 * Calls the inline hook of an access policy's rule (features/inline-hooks/token-hook.service.ts): once per request, before its access token, or a
 * single ID token, is issued. Without a rule with a hook nothing is read or called.
 */
import { LIFETIMES } from '../../../config/defaults.ts';
import type { AuthorizationServer } from '../../features/authorization-servers/authorization-servers.resource.ts';
import { isProtocolClaim } from '../../features/claims/claim-settings.policy.ts';
import { type TokenChanges, withChanges } from '../../features/inline-hooks/token-hook.policy.ts';
import type { TokenHookFacts, TokenHookOutcome } from '../../features/inline-hooks/token-hook.service.ts';
import { spaceSeparated } from '../../features/scopes/granted-scopes.policy.ts';
import { epochSeconds } from '../../platform/clock/clock.ts';
import { errors, type KoaContextWithOIDC, Provider } from '../library/oidc-provider.ts';
import { clientSettings } from '../servers/client-settings.ts';
import type { ProviderParts } from '../servers/dependencies.ts';
import { TemporarilyUnavailable } from '../servers/errors.ts';
import type { Account } from '../storage/protocol-state.store.ts';
import { currentRequest } from '../storage/request-state.ts';
import type { ServerState } from '../storage/server-state.ts';
import type { AccessRules, IssuedToken, RuleWithHook } from './access.ts';
import { type ClaimedToken, HOOKED_CLAIMS, type ServerClaims } from './server-claims.ts';

type Values = Readonly<Record<string, unknown>>;

interface PlannedIdToken {
  payload(): Promise<object>;
}

export interface TokenHooks {
  /** Calls the hook of the rule that allowed the token, if it has one. @throws {errors.AccessDenied} @throws {TemporarilyUnavailable} */
  transform(token: IssuedToken): Promise<void>;
  /** @returns the custom claims that fit into a JWT access token, as changed by a hook @param payload the other claims */
  ownClaims(token: ClaimedToken, payload: object): Promise<Values>;
  /** @returns all custom claims for the token's row; empty if no hook changed them */
  extraOf(token: object): Values;
  /** The lifetime in seconds: the rule's, or the hook's shorter one. */
  accessTokenSeconds(token: object): number;
  /** Applies the hook's changes to an ID token. @returns undefined: no change @throws as `transform` */
  changeIdToken(ctx: KoaContextWithOIDC, token: PlannedIdToken): Promise<{ payload?: object; expiresAt?: number } | undefined>;
}

export interface TokenHooksParts {
  readonly server: AuthorizationServer;
  readonly issuer: string;
  readonly state: ServerState;
  readonly access: AccessRules;
  readonly claims: Pick<ServerClaims, 'ofAccessToken' | 'forAccessToken'>;
  audienceOf(token: object): string | string[] | undefined;
  readUser(id: string): Promise<Account | undefined>;
  readonly runTokenHook: ProviderParts['runTokenHook'];
}

/** Parameters of an OAuth request that a hook receives; none is a secret. */
const SENT_PARAMETERS = [
  'grant_type',
  'response_type',
  'response_mode',
  'redirect_uri',
  'scope',
  'state',
  'audience',
  'resource',
  'prompt',
  'acr_values',
];

export function tokenHooks({ server, issuer, state, access, claims, audienceOf, readUser, runTokenHook }: TokenHooksParts): TokenHooks {
  /** Hook changes, by access token. */
  const changed = new WeakMap<object, { readonly claims?: Values; readonly lifetime: number | undefined }>();
  /** Hook changes of ID tokens, by request. */
  const ofRequest = new WeakMap<object, TokenChanges | undefined>();

  /** @throws if the hook refuses, or failed and is CLOSED */
  function changesOf(outcome: TokenHookOutcome): Partial<Record<'access' | 'identity', TokenChanges>> {
    if (outcome.kind === 'denied') throw new errors.AccessDenied(outcome.summary);
    if (outcome.kind === 'failed') throw new TemporarilyUnavailable(new Error(`the inline hook failed: ${outcome.problem}`));
    return outcome.kind === 'changed' ? outcome : {};
  }

  async function ask(ctx: KoaContextWithOIDC, rule: RuleWithHook, planned: Pick<TokenHookFacts, 'access' | 'identity'>, userId?: string) {
    const { client, params, body } = ctx.oidc;
    const user = userId === undefined ? undefined : (currentRequest()?.accounts.get(userId) ?? (await readUser(userId)));
    const given: Values = { ...body, ...params };
    const parameters = SENT_PARAMETERS.flatMap((name) => (typeof given[name] === 'string' ? [[name, given[name].slice(0, 2048)]] : []));
    const facts: TokenHookFacts = {
      ...planned,
      hookId: rule.hookId,
      issuer,
      server: { id: server.id, name: server.name },
      client: {
        id: client?.clientId ?? '',
        name: client === undefined ? '' : clientSettings(client).label,
        type: client?.tokenEndpointAuthMethod === 'none' ? 'PUBLIC' : 'CONFIDENTIAL',
      },
      user: user && { id: user.id, login: user.login, profile: user.profile },
      policy: { id: rule.policyId, ruleId: rule.ruleId },
      parameters: { client_id: client?.clientId ?? '', ...Object.fromEntries(parameters) },
      url: `${issuer}${ctx.path}`,
      method: ctx.method,
    };
    return changesOf(await state.read(() => runTokenHook(facts, ctx.req)));
  }

  /** The ID token that the request will issue beside an access token, as far as it is known. */
  async function plannedIdToken(ctx: KoaContextWithOIDC, token: IssuedToken): Promise<TokenHookFacts['identity']> {
    const { oidc } = ctx;
    const { AuthorizationCode: code, DeviceCode: deviceCode, RefreshToken: refreshToken } = oidc.entities;
    const comes = oidc.route === 'token' || spaceSeparated(oidc.params?.response_type).includes('id_token');
    const account = oidc.account;
    if (!comes || account === undefined || !spaceSeparated(token.scope).includes('openid')) return undefined;
    const source = code ?? deviceCode ?? refreshToken;
    const requested = (source === undefined ? oidc.claims : source.claims)?.id_token ?? {};
    const idTokenClaims = await account.claims('id_token', token.scope ?? '', requested as never, []);
    return { claims: { ...idTokenClaims, iss: issuer, aud: oidc.client?.clientId }, lifetime: LIFETIMES.idToken };
  }

  return {
    async transform(token) {
      const { ctx } = Provider;
      const rule = access.hookOf(token);
      if (rule === undefined || ctx === undefined) return;
      const own = await claims.ofAccessToken(token as ClaimedToken);
      const scopes = spaceSeparated(token.scope);
      const protocol = { iss: issuer, sub: token.accountId ?? token.clientId, client_id: token.clientId, aud: audienceOf(token) ?? issuer };
      const lifetime = access.lifetimesOf(token).accessTokenSeconds;
      const identity = await plannedIdToken(ctx, token);
      const planned = {
        access: { claims: { ...own, ...protocol, ...(scopes.length > 0 && { scp: scopes }) }, lifetime, scopes },
        ...(identity !== undefined && { identity }),
      };
      const outcome = await ask(ctx, rule, planned, token.accountId);
      ofRequest.set(ctx, outcome.identity);
      if (outcome.access === undefined) return;
      const { set, removed } = outcome.access;
      const differ = Object.keys(set).length > 0 || removed.length > 0;
      changed.set(token, { ...(differ && { claims: withChanges(own, outcome.access) }), lifetime: outcome.access.lifetime });
    },

    ownClaims: (token, payload) => claims.forAccessToken(token, payload, changed.get(token)?.claims),
    extraOf(token) {
      const claims = changed.get(token)?.claims;
      return claims === undefined ? {} : { [HOOKED_CLAIMS]: claims };
    },

    accessTokenSeconds: (token) => changed.get(token)?.lifetime ?? access.lifetimesOf(token).accessTokenSeconds,

    async changeIdToken(ctx, token) {
      const rule = ofRequest.has(ctx) ? undefined : access.hookOf(ctx);
      if (rule === undefined && !ofRequest.has(ctx)) return undefined;
      const payload = (await token.payload()) as Values;
      if (rule !== undefined) {
        const planned = { identity: { claims: { ...payload, iss: issuer, aud: ctx.oidc.client?.clientId }, lifetime: LIFETIMES.idToken } };
        ofRequest.set(ctx, (await ask(ctx, rule, planned, ctx.oidc.account?.accountId)).identity);
      }
      const changes = ofRequest.get(ctx);
      if (changes === undefined) return undefined;
      // Names of protocol claims were refused when the response was read. A claim added later can also have become a protocol claim.
      const removed = changes.removed.filter((name) => !isProtocolClaim(name));
      return {
        payload: withChanges(payload, { set: changes.set, removed }),
        ...(changes.lifetime !== undefined && { expiresAt: epochSeconds() + changes.lifetime }),
      };
    },
  };
}
