/**
 * Format of access tokens: opaque, or a JWT of RFC 9068 that is also stored, so that it can be introspected, revoked and used at userinfo.
 * oidc-provider signs the JWT; its row is stored under `jwt:<jti>`, which no client can present.
 */
import { type JWTVerifyGetKey, jwtVerify } from 'jose';
import { fapi2SigningAlg } from '../../features/applications/fapi2.policy.ts';
import type { AuthorizationServer } from '../../features/authorization-servers/authorization-servers.resource.ts';
import { present } from '../../platform/clock/clock.ts';
import type {
  AccessToken,
  AdapterPayload,
  ClientCredentials,
  Configuration,
  KoaContextWithOIDC,
  Provider,
} from '../library/oidc-provider.ts';
import { isFapi2 } from '../servers/fapi2.ts';
import { JWT_HANDLE } from '../storage/row-keys.ts';
import { type ClaimedToken, HOOKED_CLAIMS } from './server-claims.ts';

/** A handle under which nothing is ever stored. */
const NOTHING = `${JWT_HANDLE}nothing`;
/** Seconds that the clock of this process may be behind the one that signed, or may have been set back. How long a token lives, its row says. */
const CLOCK_STEP = 900;

export interface AccessTokenFormat {
  /** `ttl` of a token: the documented place that oidc-provider asks before it decides the format. */
  lifetime(
    seconds: (token: AccessToken | ClientCredentials) => number,
  ): (ctx: KoaContextWithOIDC, token: AccessToken | ClientCredentials) => number;
  /** `formats.customizers.jwt`: awaited before signing. */
  customizer: NonNullable<NonNullable<NonNullable<Configuration['formats']>['customizers']>['jwt']>;
  /** @returns the value under which a presented access token is stored; for a forged one, a value that is never found */
  handleOf(presented: string): Promise<string>;
  /** @returns the claims of an ID token of this server, undefined when it is none or has expired */
  idTokenClaims(presented: string): Promise<Record<string, unknown> | undefined>;
}

/** Dot-separated parts, the first a JSON object: no opaque value of ours looks like this. */
export const looksLikeJwt = (value: string): boolean => value.startsWith('eyJ') && value.includes('.');

/** RFC 9068 section 2.2 demands `client_id`. No ID token has it, and no claim of a server may have its name (features/claims/claim-settings.policy.ts). */
const isAccessToken = (claims: object): boolean => 'client_id' in claims;

/** Claims of every ID token of ours (library/patches.ts). JWT authorization responses have none of them, signed userinfo responses no `jti`. */
const OF_ID_TOKENS = ['sub', 'iat', 'jti'];

/** Access tokens can have the type `JWT` too. Logout tokens and introspection responses have types of their own. */
export const isIdToken = (typ: string | undefined, claims: object): boolean =>
  (typ ?? 'JWT').toUpperCase() === 'JWT' && !isAccessToken(claims) && OF_ID_TOKENS.every((name) => name in claims);

interface StoredToken {
  readonly constructor: { readonly IN_PAYLOAD: readonly string[] };
  readonly adapter: { upsert(id: string, payload: AdapterPayload, expiresIn: number): Promise<void> };
}

/**
 * @param keyOf finds the signing key of a presented JWT
 * @param audienceOf the audience of a token, also stored by extraTokenClaims
 * @param ownClaims claims that the server adds to a JWT; `payload` is the content without them
 */
export function accessTokenFormat(
  server: AuthorizationServer,
  issuer: string,
  keyOf: JWTVerifyGetKey,
  provider: () => Provider,
  audienceOf: (token: object) => string | string[] | undefined,
  ownClaims: (token: ClaimedToken, payload: object) => Promise<Readonly<Record<string, unknown>>>,
): AccessTokenFormat {
  return {
    lifetime: (seconds) => (_ctx, token) => {
      if (server.accessTokenFormat === 'jwt' && token.resourceServer === undefined) {
        const { ResourceServer } = provider();
        token.resourceServer = new ResourceServer(server.audience, {
          scope: '',
          // The library demands a single one here. The claim is written below.
          audience: server.audience,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: isFapi2(token.client, server) ? fapi2SigningAlg(server.signingAlg) : server.signingAlg } },
        });
      }
      return seconds(token);
    },

    async customizer(_ctx, token, jwt) {
      const { iat, exp, jti } = jwt.payload as { iat: number; exp: number; jti: string };
      const stored = token as unknown as StoredToken & Record<string, unknown>;
      const payload = Object.fromEntries(
        stored.constructor.IN_PAYLOAD.map((name) => [name, stored[name]]).filter(([, value]) => value !== undefined),
      );
      const id = JWT_HANDLE + jti;
      // oidc-provider refuses a token with an audience at userinfo; ours opens it, so the row has it in `extra` alone.
      const { aud: _, ...row } = Object.assign(payload, { iat, exp, jti: id }) as AdapterPayload;
      await stored.adapter.upsert(id, row, exp - iat);
      jwt.header = { typ: server.accessTokenType };
      jwt.payload.nbf = iat;
      jwt.payload.aud = audienceOf(token);
      delete jwt.payload[HOOKED_CLAIMS];
      jwt.payload = Object.assign({}, await ownClaims(token as ClaimedToken, jwt.payload), jwt.payload);
    },

    async handleOf(presented) {
      if (presented.startsWith(JWT_HANDLE)) return NOTHING;
      if (!looksLikeJwt(presented)) return presented;
      try {
        const { payload } = await jwtVerify(presented, keyOf, {
          issuer,
          currentDate: present(),
          clockTolerance: CLOCK_STEP,
        });
        return isAccessToken(payload) ? JWT_HANDLE + payload.jti : NOTHING;
      } catch {
        return NOTHING;
      }
    },

    async idTokenClaims(presented) {
      if (!looksLikeJwt(presented)) return undefined;
      try {
        const { payload, protectedHeader } = await jwtVerify(presented, keyOf, { issuer, currentDate: present() });
        return isIdToken(protectedHeader.typ, payload) ? payload : undefined;
      } catch {
        return undefined;
      }
    },
  };
}

/** Is this the value that a JWT access token is stored under? */
export const isJwtHandle = (stored: string): boolean => stored.startsWith(JWT_HANDLE);
/** The `jti` in the JWT itself. */
export const jtiOfHandle = (stored: string): string => stored.slice(JWT_HANDLE.length);
