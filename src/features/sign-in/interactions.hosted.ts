/**
 * Interface between hosted pages and a pending authorization request. The authorization servers implement it; the pages know nothing else of OAuth.
 * (OpenID Connect Core 1.0 sections 3.1.2.3 and 3.1.2.4.)
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HostedDeps as SharedHouse } from '../../pages/hosted/deps.ts';
import type { AccountFacts, ApplicationFacts } from '../../pages/hosted/page-models.ts';
import type { DetailType } from '../authorization-details/detail-types.resource.ts';
import type { AuthorizationDetail } from '../authorization-details/details.policy.ts';
import type { Scope } from '../scopes/scopes.resource.ts';
import type { ApplicationRegistration } from '../sign-up/sign-up.policy.ts';

interface ConsentScope {
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  /** Its texts in other languages. */
  readonly translations?: Scope['translations'];
  /** The user may leave it out. */
  readonly optional: boolean;
}

interface ProviderPreferences {
  /** Go straight to this one. */
  readonly idp?: string;
  /** Additional scopes for the provider, space-separated. */
  readonly idpScope?: string;
  /** The ids of those that the sign-in page offers; absent: all that are active. */
  readonly identityProviders?: readonly string[];
  /** Seconds that an authentication may be old; 0: the user must authenticate again. Absent: any age is accepted. */
  readonly maxAge?: number;
}

export interface InteractionDetails {
  readonly uid: string;
  readonly serverId: string;
  /** `assignment`: the application is not open to the signed-in user. `organization`: they must choose one, or are not a member of the one that is named. */
  readonly prompt: 'login' | 'assignment' | 'organization' | 'consent';
  /** For the prompt of that name. */
  readonly organization?: { readonly isRefused: boolean; readonly wanted?: string };
  /** The ID or the name of the organization that the request names, or that the user has chosen. */
  readonly signsInFor?: string;
  readonly application: ApplicationFacts;
  /** Does it ask a second factor of all its users? */
  readonly applicationDemands?: boolean;
  /** Does the organization that they sign in for? */
  readonly organizationDemands?: boolean;
  /** May people create accounts on its sign-in page? */
  readonly registration?: ApplicationRegistration;
  /** The application asks for the page on which accounts are created. */
  readonly creates?: boolean;
  /** Origin of an application that no administrator created. */
  readonly unchecked?: {
    /** A program on the device of this browser, or on the one that shows the code of a device request. */
    readonly from: 'host' | 'this-device' | 'other-device';
    /** Meaning of `host`: the redirect target, or the host of the client's document. */
    readonly host: string;
  };
  /** Signed-in user; always present with `consent`. */
  readonly account?: AccountFacts;
  readonly loginHint?: string;
  readonly display?: string;
  readonly uiLocales?: string;
  /** Identity provider preferences of the application. */
  readonly upstream?: ProviderPreferences;
  /** Requested authentication context classes, the best first. */
  readonly acrValues?: readonly string[];
  /** The user is signed in and needs only a second factor. */
  readonly stepUp?: {
    readonly user: { readonly id: string; readonly login: string };
    readonly amr: readonly string[];
    readonly authenticatedAt: Date;
    readonly idp?: string | undefined;
  };
  readonly consent?: {
    readonly scopes: readonly ConsentScope[];
    /** Authorization details, each with its type (RFC 9396). */
    readonly details: readonly { readonly detail: AuthorizationDetail; readonly type: DetailType | undefined }[];
    /** URLs of the APIs that the application gets access to. */
    readonly resources: readonly string[];
    /** With these scopes the application reads all claims of the user at userinfo, not just those the scopes name. */
    readonly wholeProfile: boolean;
    /** The application gets a refresh token without a scope that says so. */
    readonly staysConnected: boolean;
  };
  /** Origin of the validated redirect URI (the scheme, `com.example.app:`, of a native application's) first, then the application's others. */
  readonly redirectOrigins: readonly string[];
}

export type InteractionResult =
  | {
      readonly login: {
        readonly accountId: string;
        readonly amr: readonly string[];
        /** Absent: now. */
        readonly authenticatedAt?: Date | undefined;
        /** The external provider that has proved it. */
        readonly idp?: string | undefined;
      };
    }
  | { readonly consent: { readonly scopes: readonly string[] } }
  /** The ID of the one that the user signs in for. */
  | { readonly organization: string }
  /** Continue the request with another sign-in. */
  | { readonly switchAccount: true }
  | { readonly error: 'access_denied'; readonly error_description: string };

export interface Interactions {
  /** @returns the application of a pending sign-in, in any browser; undefined when it is over */
  waiting(
    serverId: string,
    uid: string,
  ): Promise<(Pick<InteractionDetails, 'redirectOrigins'> & { readonly applicationId: string }) | undefined>;
  /** @throws {InteractionGone} */
  details(req: IncomingMessage, res: ServerResponse, serverId: string, uid: string): Promise<InteractionDetails>;
  /**
   * @returns the address to continue at, without a query
   * @throws {InteractionGone}
   */
  finish(req: IncomingMessage, res: ServerResponse, serverId: string, uid: string, result: InteractionResult): Promise<string>;
}

/** The interaction cannot continue: it ended, belongs to another browser, or the browser's session changed. */
export class InteractionGone extends Error {
  override readonly name = 'InteractionGone';
  constructor(readonly reason: 'expired' | 'other-browser' | 'session-changed') {
    super(`the interaction cannot go on: ${reason}`);
  }
}

/** Dependencies of the pages. */
export interface SignInDeps extends SharedHouse {
  readonly interactions: Interactions;
  /** @returns the address that confirms the request of a device; undefined: none waits under this user code */
  findDeviceRequest(userCode: string): Promise<string | undefined>;
}
