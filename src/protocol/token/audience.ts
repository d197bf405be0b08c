/**
 * The audience of access tokens (RFC 8707). The parameters `resource` and `audience` are equivalent. A code or refresh token stores the
 * granted audiences in its field `resource`; each access token, JWT or opaque, stores its audience in `extra.aud`.
 */
import { audiencesOf, decideAudiences } from '../../features/authorization-servers/audience.policy.ts';
import type { AuthorizationServer } from '../../features/authorization-servers/authorization-servers.resource.ts';
import { spaceSeparated } from '../../features/scopes/granted-scopes.policy.ts';
import { errors, type KoaContextWithOIDC, Provider } from '../library/oidc-provider.ts';
import { grantSource, isTokenRequest } from './grant-source.ts';

/** oidc-provider copies these fields by name from a code to its refresh token. */
interface Granting {
  readonly kind: string;
  readonly gty?: string | undefined;
  resource?: string | string[] | undefined;
}

type Parameters = Readonly<Record<string, unknown>>;

/** @returns the audiences of both parameters, each of which can be repeated; URIs contain no spaces */
export const requestedAudiences = ({ resource, audience }: Parameters): string[] =>
  [resource, audience].flatMap((value) => (Array.isArray(value) ? value : [value])).flatMap((value) => spaceSeparated(value));

export interface AudienceRules {
  /** Limits the audience of a token to be saved. */
  limit(token: object, audiences: readonly string[]): void;
  /** Sets the audience of a token that is about to be saved. @throws {errors.InvalidTarget} */
  grant(token: object): void;
  /** @throws {errors.InvalidTarget} the server does not have a requested audience */
  check(ctx: KoaContextWithOIDC): void;
  /** @returns `aud` of an access token; undefined: an opaque one for the server itself, without a requested audience */
  audienceOf(token: object): string | string[] | undefined;
}

const compact = (audiences: readonly string[]): string | string[] | undefined => (audiences.length > 1 ? [...audiences] : audiences[0]);

const ISSUED_FOR_USE: ReadonlySet<string> = new Set(['AccessToken', 'ClientCredentials']);

export function audienceRules(server: AuthorizationServer): AudienceRules {
  const offered = audiencesOf(server);
  const decided = new WeakMap<object, readonly string[]>();
  const limits = new WeakMap<object, readonly string[]>();

  function decide(requested: readonly string[], granted: readonly string[] | undefined): readonly string[] {
    const decision = decideAudiences({ offered, requested, granted });
    if (decision.audiences === undefined) throw new errors.InvalidTarget(decision.reason);
    return decision.audiences;
  }

  return {
    limit: (token, audiences) => void limits.set(token, audiences),

    grant(token) {
      const { ctx } = Provider;
      const one = token as Granting;
      // Rotated tokens and tokens from a code keep its audiences.
      if (one.kind === 'RefreshToken' && one.gty !== 'password') return;
      const requested = ctx === undefined ? [] : tokenRequestAudiences(ctx);
      if (ISSUED_FOR_USE.has(one.kind)) decided.set(token, decide(requested, limits.get(token) ?? grantedBefore(ctx)));
      else one.resource = compact(decide(requested, undefined));
    },

    check(ctx) {
      decide(tokenRequestAudiences(ctx), undefined);
    },

    audienceOf(token) {
      const audiences = decided.get(token) ?? [];
      return compact(audiences.length === 0 && server.accessTokenFormat === 'jwt' ? [server.audience] : audiences);
    },
  };
}

/** Authorization requests are prepared before (protocol/authorize/request.ts). The library drops both parameters of token requests. */
export const tokenRequestAudiences = (ctx: KoaContextWithOIDC): string[] =>
  requestedAudiences((isTokenRequest(ctx) ? ctx.oidc.body : ctx.oidc.params) ?? {});

/** Audiences of the presented code or refresh token; undefined: neither. */
function grantedBefore(ctx: KoaContextWithOIDC | undefined): readonly string[] | undefined {
  const source = grantSource(ctx) as Granting | undefined;
  return source === undefined ? undefined : [source.resource ?? []].flat();
}
