/** How an interaction ends, for the hosted pages and the protocol. */

export type InteractionResult =
  | {
      readonly login: {
        readonly accountId: string;
        readonly amr: readonly string[];
        /** Absent: now. */
        readonly authenticatedAt?: Date | undefined;
        /** The external provider of the sign-in. */
        readonly idp?: string | undefined;
      };
    }
  | { readonly consent: { readonly scopes: readonly string[] } }
  /** The ID of the organization that the user signs in for. */
  | { readonly organization: string }
  /** Continue the request with another sign-in. */
  | { readonly switchAccount: true }
  | { readonly error: 'access_denied'; readonly error_description: string };

/** Why an interaction cannot continue: it ended, belongs to another browser, or the browser's session changed. */
export type InteractionEnd = 'expired' | 'other-browser' | 'session-changed';
