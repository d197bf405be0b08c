/** Facts for a simulated request, read in advance. */
import type { ApplicationOrigin, ApplicationSettings, Profile } from '../applications/application-settings.policy.ts';
import type { OfferedType } from '../authorization-details/details.policy.ts';
import type { ClaimSource } from '../claims/claims.policy.ts';
import type { ClaimPerson, ServerClaim } from '../claims/custom-claims.policy.ts';
import type { ClientIdMetadataSettings } from '../client-documents/client-id.policy.ts';
import type { RequestedDetail } from '../consents/consent.policy.ts';
import type { RegistrationSettings } from '../registration/registration.policy.ts';
import type { OfferedScope } from '../scopes/granted-scopes.policy.ts';
import type { AccessGrantType, AccessPolicy, TokenLifetimes } from './access-policy.policy.ts';

export type SimulatedPrompt = 'none' | 'login' | 'consent';

export interface SimulatedUser extends ClaimSource, ClaimPerson {
  readonly status: string;
  readonly groupIds: readonly string[];
}

export interface SimulatedRefusal {
  /** Error code of RFC 6749 sections 4.1.2.1 and 5.2, OpenID Connect Core section 3.1.2.6. */
  readonly error: string;
  readonly reason: string;
}

export interface SimulationFacts {
  readonly server: {
    readonly id: string;
    readonly status: string;
    readonly profile: Profile;
    readonly issuer: string;
    readonly audience: string;
    readonly furtherAudiences: readonly string[];
    readonly accessTokenFormat: 'opaque' | 'jwt';
    readonly lifetimes: TokenLifetimes;
    /** Active policies in order of priority. */
    readonly policies: readonly AccessPolicy[];
    readonly scopes: readonly OfferedScope[];
    readonly claims: readonly ServerClaim[];
    /** Authorization details types by name. */
    readonly detailTypes: ReadonlyMap<string, OfferedType>;
    readonly clientIdMetadata: ClientIdMetadataSettings;
    readonly registration: RegistrationSettings;
  };
  readonly application: {
    readonly id: string;
    readonly status: string;
    readonly origin: ApplicationOrigin;
    readonly registeredAt: string | null;
    readonly settings: ApplicationSettings;
  };
  /** undefined: the application acts for itself. */
  readonly user: SimulatedUser | undefined;
  /** `sub` of the user at the application; undefined: there is no user. */
  readonly subject: string | undefined;
  readonly isAssigned: boolean;
  /** Scopes that the user allowed the application before at this server. */
  readonly remembered: ReadonlySet<string>;
  readonly grantType: AccessGrantType;
  /** Token exchange: the acting application. */
  readonly actor?: string | undefined;
  /** The request's scopes. */
  readonly asked: readonly string[];
  /** The request's authorization details. */
  readonly details: readonly RequestedDetail[];
  /** The types of all its authorization details, without duplicates, including types whose content is not known. */
  readonly detailTypes: readonly string[];
  /** The request's parameter `organization`. */
  readonly organization?: string | undefined;
  /** The request's parameters `resource` and `audience`. */
  readonly resources: readonly string[];
  readonly prompts: ReadonlySet<SimulatedPrompt>;
  /** Password grant: why the user cannot sign in by password, and why not by a password alone; undefined: they can. */
  readonly byPassword?: { readonly refusal: SimulatedRefusal | undefined; readonly aloneRefusal: SimulatedRefusal | undefined } | undefined;
}
