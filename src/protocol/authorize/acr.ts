/**
 * Authentication context classes at the authorize endpoint (`acr_values` and the essential claim `acr`, OpenID Connect Core 1.0 sections 3.1.2.1 and
 * 5.5.1.1): the requested class, whether the session reaches it, and the value in tokens.
 */

import type { OrganizationPolicy } from '../../features/organization-policy/organization-policy.policy.ts';
import { spaceSeparated } from '../../features/scopes/granted-scopes.policy.ts';
import {
  acrOf,
  isMultiFactor,
  type MfaSettings,
  mfaPolicyAt,
  type RequirementReason,
  secondFactorRequirement,
} from '../../features/second-factors/second-factor.policy.ts';
import { present } from '../../platform/clock/clock.ts';
import type { KoaContextWithOIDC } from '../library/oidc-provider.ts';
import { clientSettings } from '../servers/client-settings.ts';

/** Reason for a sign-in prompt: the user has a session but needs a second factor. */
export const SECOND_FACTOR_NEEDED = 'second_factor_needed';

interface Requests {
  readonly acr_values?: unknown;
  readonly claims?: unknown;
}

interface AcrClaim {
  readonly value?: unknown;
  readonly values?: unknown;
}

/** @returns the requested classes, best first, from the claims parameter or else from `acr_values` */
export function requestedAcr({ acr_values: values, claims }: Requests): readonly string[] {
  const parsed = typeof claims === 'string' ? (JSON.parse(claims) as { id_token?: { acr?: AcrClaim | null } | null }) : undefined;
  const claim = parsed?.id_token?.acr;
  const requested = [claim?.value ?? claim?.values ?? []].flat().filter((value) => typeof value === 'string');
  return requested.length > 0 ? requested : spaceSeparated(values);
}

/**
 * @param policyOf reads the policy of the organization that the user signs in for
 * @param isTrusted does the user trust the browser, so that no second factor is needed?
 * @returns what requires a second factor that the signed-in user has not used yet
 */
export const secondFactorCheck =
  (
    settings: MfaSettings,
    isAdministrator: (userId: string) => Promise<boolean>,
    policyOf: (ctx: KoaContextWithOIDC) => Promise<OrganizationPolicy | undefined>,
    isTrusted: (ctx: KoaContextWithOIDC, userId: string, demandedBy: RequirementReason) => Promise<boolean>,
  ) =>
  async (ctx: KoaContextWithOIDC): Promise<RequirementReason | undefined> => {
    const { session, client, params } = ctx.oidc;
    if (session?.accountId === undefined || client === undefined || isMultiFactor(session.amr ?? [])) return undefined;
    const policy = mfaPolicyAt(settings, present());
    const demandedBy = secondFactorRequirement({
      policy,
      administrator: policy === 'ADMINISTRATORS' && (await isAdministrator(session.accountId)),
      applicationRequires: clientSettings(client).mfaRequired,
      organizationRequires: (await policyOf(ctx))?.mfa === 'REQUIRED',
      acrValues: requestedAcr(params ?? {}),
    });
    return demandedBy === undefined || (await isTrusted(ctx, session.accountId, demandedBy)) ? undefined : demandedBy;
  };

interface Authentication {
  readonly acr?: string | undefined;
  /** Epoch seconds. */
  readonly authTime?: number | undefined;
}

/** The library's properties for the grant of an access token. */
const SOURCES = ['AuthorizationCode', 'DeviceCode', 'BackchannelAuthenticationRequest', 'RefreshToken'] as const;

/**
 * Claims about how and when the user of an access token signed in (RFC 9470 section 6, RFC 9068 section 2.2.1). A refresh keeps those of the original
 * sign-in.
 * @param token tokens of the password grant carry them
 * @returns nothing for a token without a user
 */
export function authenticationClaims(
  { oidc }: KoaContextWithOIDC,
  token: { readonly kind: string } & Authentication,
): { readonly acr?: string; readonly auth_time?: number } {
  if (token.kind !== 'AccessToken') return {};
  const entities = oidc.entities as Readonly<Partial<Record<(typeof SOURCES)[number], Authentication>>>;
  const source = SOURCES.map((name) => entities[name]).find((entity) => entity !== undefined);
  const { acr, authTime } = source ?? (token.acr === undefined ? ofSession(oidc) : token);
  return { ...(acr !== undefined && { acr }), ...(authTime !== undefined && { auth_time: authTime }) };
}

/** For tokens issued by the authorize endpoint. */
const ofSession = (oidc: KoaContextWithOIDC['oidc']): Authentication =>
  // The library's `acr` reads the session, and there is none at the token endpoint.
  oidc.session?.accountId === undefined ? {} : { acr: oidc.acr, authTime: oidc.session.authTime() };

/** Sets the class that the session has reached in the tokens of this request. */
export function setAcr({ oidc }: KoaContextWithOIDC): void {
  const acr = acrOf(oidc.session?.amr ?? [], requestedAcr(oidc.params ?? {}));
  Object.defineProperty(oidc, 'acr', { value: acr, configurable: true });
}
