/**
 * Interface between hosted pages and a pending authorization request, implemented by the authorization servers. The pages contain no other
 * OAuth (OpenID Connect Core 1.0 sections 3.1.2.3 and 3.1.2.4).
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HostedDeps as SharedDeps } from '../../pages/hosted/deps.ts';
import type { AccountFacts, ApplicationFacts } from '../../pages/hosted/page-models.ts';
import type { DetailType } from '../authorization-details/detail-types.resource.ts';
import type { AuthorizationDetail } from '../authorization-details/details.policy.ts';
import type { Scope } from '../scopes/scopes.resource.ts';
import type { ApplicationRegistration } from '../sign-up/sign-up.policy.ts';
import type { InteractionEnd, InteractionResult } from './interactions.resource.ts';

interface ConsentScope {
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  /** Its texts in other languages. */
  readonly translations?: Scope['translations'];
  /** Can the user deselect it? */
  readonly optional: boolean;
}

interface ProviderPreferences {
  /** The provider to redirect to. */
  readonly idp?: string;
  /** Additional scopes for the provider, space-separated. */
  readonly idpScope?: string;
  /** IDs of the providers on the sign-in page; absent: all active ones. */
  readonly identityProviders?: readonly string[];
  /** Maximum age of the authentication in seconds; 0: the user must authenticate again. Absent: any age is accepted. */
  readonly maxAge?: number;
}

export interface InteractionDetails {
  readonly uid: string;
  readonly serverId: string;
  /**
   * `assignment`: the application is not assigned to the signed-in user. `organization`: they must choose one, or are not a member of the
   * requested one.
   */
  readonly prompt: 'login' | 'assignment' | 'organization' | 'consent';
  /** For the prompt of that name. */
  readonly organization?: { readonly isRefused: boolean; readonly wanted?: string };
  /** ID or name of the organization that the request names or the user has chosen. */
  readonly signsInFor?: string;
  readonly application: ApplicationFacts;
  /** Does the application require a second factor of all its users? */
  readonly applicationRequires?: boolean;
  /** Does the organization that they sign in for require one? */
  readonly organizationRequires?: boolean;
  /** Can users create accounts on its sign-in page? */
  readonly registration?: ApplicationRegistration;
  /** Does the application request the page that creates accounts? */
  readonly creates?: boolean;
  /** Origin of an application that no administrator created. */
  readonly unchecked?: {
    /** A program on this browser's device, or on the device that shows the code. */
    readonly from: 'host' | 'this-device' | 'other-device';
    /** Meaning of `host`: the redirect target, or the host of the client's document. */
    readonly host: string;
  };
  /** Signed-in user; always present with `consent`. */
  readonly account?: AccountFacts;
  readonly loginHint?: string;
  readonly display?: string;
  readonly uiLocales?: string;
  /** Identity provider parameters of the application. */
  readonly upstream?: ProviderPreferences;
  /** Requested authentication context classes, best first. */
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
    /** Does the application get a refresh token without offline_access? */
    readonly staysConnected: boolean;
  };
  /** Origin of the validated redirect URI (for a native application the scheme, `com.example.app:`) first, then the application's others. */
  readonly redirectOrigins: readonly string[];
}

export interface Interactions {
  /** @returns the application of a pending sign-in, in any browser; undefined if it has ended */
  waiting(
    serverId: string,
    uid: string,
  ): Promise<(Pick<InteractionDetails, 'redirectOrigins'> & { readonly applicationId: string }) | undefined>;
  /** @throws {InteractionEnded} */
  details(req: IncomingMessage, res: ServerResponse, serverId: string, uid: string): Promise<InteractionDetails>;
  /**
   * @returns the URL to continue at, without a query
   * @throws {InteractionEnded}
   */
  finish(req: IncomingMessage, res: ServerResponse, serverId: string, uid: string, result: InteractionResult): Promise<string>;
}

/** The interaction cannot continue: it ended, belongs to another browser, or the browser's session changed. */
export class InteractionEnded extends Error {
  override readonly name = 'InteractionEnded';
  constructor(readonly reason: InteractionEnd) {
    super(`the interaction cannot go on: ${reason}`);
  }
}

/** Dependencies of the pages. */
export interface SignInDeps extends SharedDeps {
  readonly interactions: Interactions;
  /** @returns the URL that confirms a device request; undefined: no request has this user code */
  findDeviceRequest(userCode: string): Promise<string | undefined>;
}
