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

/** A handle of no row. */
const NOTHING = `${JWT_HANDLE}nothing`;
/** Seconds that this process's clock may be behind the signer's, or may have been set back. The row decides about expiry. */
const CLOCK_STEP = 900;

export interface AccessTokenFormat {
  /** `ttl` of a token, which oidc-provider reads before it chooses the format. */
  lifetime(
    seconds: (token: AccessToken | ClientCredentials) => number,
  ): (ctx: KoaContextWithOIDC, token: AccessToken | ClientCredentials) => number;
  /** `formats.customizers.jwt`: awaited before signing. */
  customizer: NonNullable<NonNullable<NonNullable<Configuration['formats']>['customizers']>['jwt']>;
  /** @returns the handle of a presented access token; for a forged one, a handle of no row */
  handleOf(presented: string): Promise<string>;
  /** @returns the claims of an ID token of this server; undefined if it is none or has expired */
  idTokenClaims(presented: string): Promise<Record<string, unknown> | undefined>;
}

/** Dot-separated parts, the first a JSON object: none of our opaque values looks like this. */
export const looksLikeJwt = (value: string): boolean => value.startsWith('eyJ') && value.includes('.');

/**
 * RFC 9068 section 2.2 requires `client_id`. ID tokens have none, and a server's claim cannot have this name
 * (features/claims/claim-settings.policy.ts).
 */
const isAccessToken = (claims: object): boolean => 'client_id' in claims;

/**
 * Claims of every ID token of this service (library/patches.ts). JWT authorization responses have none of them, signed userinfo responses no `jti`.
 */
const OF_ID_TOKENS = ['sub', 'iat', 'jti'];

/** Access tokens can have the type `JWT` too. Logout tokens and introspection responses have their own types. */
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
          // The library requires a single audience here. The claim is set below.
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
      // oidc-provider refuses tokens with an audience at userinfo. Ours are allowed there, so the row has it in `extra` only.
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

/** Is this the handle of a JWT access token? */
export const isJwtHandle = (stored: string): boolean => stored.startsWith(JWT_HANDLE);
/** The `jti` of the JWT. */
export const jtiOfHandle = (stored: string): string => stored.slice(JWT_HANDLE.length);
