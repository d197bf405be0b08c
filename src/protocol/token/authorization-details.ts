/**
 * Authorization details of requests and tokens (RFC 9396). The library's feature requires its resource indicators, so the parameter is handled here;
 * granted details use the library's field `rar`, which it copies from a code to its tokens, JWTs and token responses.
 */

import { mismatchIn } from '../../features/authorization-details/detail-schema.service.ts';
import type { DetailType } from '../../features/authorization-details/detail-types.resource.ts';
import { readDetails } from '../../features/authorization-details/detail-types.service.ts';
import { type AuthorizationDetail, decideDetails, type OfferedType } from '../../features/authorization-details/details.policy.ts';
import type { RequestedDetail } from '../../features/consents/consent.policy.ts';
import { keyOfDetail } from '../../features/consents/consents.resource.ts';
import { spaceSeparated } from '../../features/scopes/granted-scopes.policy.ts';
import { ASSERTED } from '../exchange/delegated-tokens.ts';
import { errors, type KoaContextWithOIDC, Provider } from '../library/oidc-provider.ts';
import { clientSettings } from '../servers/client-settings.ts';
import { grantSource, isTokenRequest } from './grant-source.ts';

interface Granting {
  readonly kind: string;
  readonly gty?: string | undefined;
  readonly accountId?: string | undefined;
  rar?: readonly AuthorizationDetail[] | undefined;
}

export interface DetailRules {
  /** Sets the details of a code or token that is about to be saved. @throws {errors.OIDCProviderError} invalid_authorization_details */
  grant(token: object): void;
  /** Validates a request that a user answers. @throws {errors.OIDCProviderError} invalid_authorization_details, invalid_request */
  check(ctx: KoaContextWithOIDC): void;
  /** Details that the user must allow. */
  requested(ctx: KoaContextWithOIDC): readonly RequestedDetail[];
  /** @param subject a token with details, or the context of a request that a user answers @returns each type once */
  typesOf(subject: object): readonly string[];
}

/** Characters that a description can contain (RFC 6749 section 5.2). */
const describable = (text: string): string => text.replaceAll(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, '?').slice(0, 300);

const refuse = (problem: string, index?: number) =>
  new errors.CustomOIDCProviderError(
    'invalid_authorization_details',
    describable(`authorization_details${index === undefined ? '' : ` ${index}:`} ${problem}`),
  );

/** @param subjectDetails details of the subject token of an exchange, or of an assertion; undefined: neither, or the assertion has none */
export function detailRules(
  detailTypes: readonly DetailType[],
  subjectDetails: (token: object) => readonly AuthorizationDetail[] | undefined,
): DetailRules {
  const offered = new Map(detailTypes.map(({ name, schema }): [string, OfferedType] => [name, { name, mismatch: mismatchIn(schema) }]));
  const remembered = new Map(detailTypes.map(({ name, rememberConsent }) => [name, rememberConsent]));

  /** @param otherwise default if the request contains none */
  function decide(
    ctx: KoaContextWithOIDC,
    granted?: readonly AuthorizationDetail[],
    otherwise: readonly AuthorizationDetail[] = [],
  ): readonly AuthorizationDetail[] {
    const read = readDetails(parameterOf(ctx));
    if ('problem' in read) throw refuse(read.problem);
    const requested = read.details.length > 0 ? read.details : otherwise;
    const { client } = ctx.oidc;
    const allowed = client === undefined ? [] : clientSettings(client).authorizationDetailsTypes;
    const decision = decideDetails({ requested, granted, types: offered, allowed });
    if ('problem' in decision) throw refuse(decision.problem, decision.index);
    return decision.details;
  }

  const requestedDetails = (ctx: KoaContextWithOIDC) => (parameterOf(ctx) === undefined ? [] : decide(ctx));

  return {
    grant(token) {
      const { ctx } = Provider;
      const one = token as Granting;
      // Rotated tokens and tokens from a code keep its details.
      if (ctx === undefined || (one.kind === 'RefreshToken' && one.gty !== 'password')) return;
      const source = grantSource(ctx) as Granting | undefined;
      const granted = source === undefined ? subjectDetails(token) : (source.rar ?? []);
      // An issuer cannot consent for the user. Its details limit the token, and unknown ones are refused (section 5).
      const isAsserted = source === undefined && one.gty === ASSERTED;
      const details = decide(ctx, granted, isAsserted ? granted : undefined);
      const isUnasked = isTokenRequest(ctx) && (granted === undefined || isAsserted) && one.accountId !== undefined;
      if (details.length > 0 && isUnasked) requireTrusted(ctx);
      one.rar = details.length > 0 ? details : undefined;
    },

    check(ctx) {
      if (parameterOf(ctx) === undefined) return;
      const types = spaceSeparated(ctx.oidc.params?.response_type);
      if (types.length > 0 && (!types.includes('code') || types.includes('token')))
        throw new errors.InvalidRequest('authorization_details requires the response type code');
      decide(ctx);
    },

    requested(ctx) {
      return requestedDetails(ctx).map((detail) => ({
        detail,
        key: keyOfDetail(detail),
        rememberConsent: remembered.get(detail.type) === true,
      }));
    },

    typesOf(subject) {
      const details = 'oidc' in subject ? requestedDetails(subject as KoaContextWithOIDC) : evaluatedDetails(subject as Granting);
      return [...new Set(details.map(({ type }) => type))];
    },
  };
}

/** A refresh with fewer details is evaluated with those; its refresh token keeps all. */
function evaluatedDetails({ kind, gty, rar = [] }: Granting): readonly AuthorizationDetail[] {
  const isRefresh = kind === 'RefreshToken' && spaceSeparated(gty).includes('refresh_token');
  const read = readDetails(isRefresh && Provider.ctx !== undefined ? parameterOf(Provider.ctx) : undefined);
  return 'details' in read && read.details.length > 0 ? read.details : rar;
}

/** The library drops unknown parameters of token requests. */
const parameterOf = (ctx: KoaContextWithOIDC): unknown => (isTokenRequest(ctx) ? ctx.oidc.body : ctx.oidc.params)?.authorization_details;

/** For the password grant and assertions: the user cannot be asked. */
function requireTrusted({ oidc: { client } }: KoaContextWithOIDC): void {
  if (client !== undefined && clientSettings(client).consentMethod !== 'TRUSTED')
    throw refuse("cannot be granted without the user's consent");
}

/** The library's feature is off, because the parameter is handled here. The library still calls these two for codes and tokens with details. */
export const CARRIED_DETAILS = {
  enabled: false as const,
  authorizationDetailsForAccessToken: async (_ctx: KoaContextWithOIDC, _token: object, source?: Pick<Granting, 'rar'>) => source?.rar,
  authorizationDetailsForIntrospection: async (_ctx: KoaContextWithOIDC, token: Pick<Granting, 'rar'>) => token.rar,
};
