/** Settings of an application beyond client metadata (RFC 7591), stored as one property of oidc-provider's client. */

import type { ApplicationOrigin, IdJagTarget, Profile } from '../../features/applications/application-settings.policy.ts';
import { profileInForce } from '../../features/applications/fapi2.policy.ts';
import type { FederatedCredential } from '../../features/applications/federated-credentials.policy.ts';
import type { ConsentMethod } from '../../features/consents/consent.policy.ts';
import type { OrganizationSetting } from '../../features/organizations/sign-in-organization.policy.ts';
import type { ApplicationRegistration } from '../../features/sign-up/sign-up.policy.ts';

/** The property's name in the client's metadata. */
export const CLIENT_SETTINGS = 'gatehouse';

export interface ClientSettings {
  readonly label: string;
  /** Epoch seconds. */
  readonly createdAt: number;
  readonly consentMethod: ConsentMethod;
  /** Origin of the application. Users see the host of applications with dynamic registration or a metadata document. */
  readonly origin: ApplicationOrigin;
  /** The only server that accepts it; null: all servers. */
  readonly registeredAt: string | null;
  /** ASSIGNED: open only to users that it is assigned to, directly or by a group. */
  readonly assignment: 'EVERYONE' | 'ASSIGNED';
  readonly pkceRequired: boolean;
  /** Its authorization requests must be pushed (RFC 9126). */
  readonly pushRequired: boolean;
  readonly allowedOrigins: readonly string[];
  /** undefined: the claims of the granted scopes. */
  readonly idTokenClaims: readonly string[] | undefined;
  /** undefined: the authorization server's. */
  readonly profile: Profile | undefined;
  /** The first setting that FAPI 2.0 does not allow, with the rule. */
  readonly breaksFapi2: string | undefined;
  readonly signedRequestRequired: boolean;
  /** The required algorithm of its request objects; undefined: any that is supported. */
  readonly requestObjectAlg: string | undefined;
  /** The external providers on its sign-in page; undefined: all. */
  readonly identityProviders: readonly string[] | undefined;
  /** Brand colour of its pages. */
  readonly brandColor: string | undefined;
  /** Sector of pairwise subjects; undefined: public subjects (user IDs). */
  readonly sector: string | undefined;
  readonly introspectAny: boolean;
  /** Can it manage its own signal streams? */
  readonly managesSignals: boolean;
  /** Do all its users need a second factor? */
  readonly mfaRequired: boolean;
  /** Can users create accounts on its sign-in page? */
  readonly registration: ApplicationRegistration;
  /** Must its users sign in for one of their organizations? */
  readonly organization: OrganizationSetting;
  readonly rotateRefreshTokens: boolean;
  /** Seconds. */
  readonly refreshTokenLeeway: number;
  /** The APIs that it represents: it may exchange access tokens for them. */
  readonly tokenExchangeAudiences: readonly string[];
  /** Authorization servers that it gets ID-JAGs for. */
  readonly idJagTargets: readonly IdJagTarget[];
  /** Types of authorization details that it may request (RFC 9396 section 10). */
  readonly authorizationDetailsTypes: readonly string[];
  /** Tokens of other issuers that authenticate it. */
  readonly federated: readonly FederatedCredential[];
  /** The ID of its newest secret; undefined: it has none. */
  readonly newestSecretId: string | undefined;
  /** Further secrets that are valid beside the newest one, for rotation. */
  readonly olderSecrets: readonly { readonly id: string; readonly value: string }[];
}

/** The settings of an oidc-provider client. */
export function clientSettings(client: object): ClientSettings {
  return (client as Record<typeof CLIENT_SETTINGS, ClientSettings>)[CLIENT_SETTINGS];
}

/** The profile that applies to a client's requests. @param client absent: not yet identified */
export const effectiveProfile = (client: object | undefined, server: { readonly profile: Profile }): Profile =>
  profileInForce(client && clientSettings(client).profile, server.profile);
