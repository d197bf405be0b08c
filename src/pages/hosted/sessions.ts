/** The browser's session as the pages need it; the authorization servers implement it. */
import type { IncomingMessage, ServerResponse } from 'node:http';

/** The browser's session, for signing in without an application, and for the user's own pages. */
export interface BrowserSessions {
  /** @returns undefined also if its user can no longer sign in */
  current(
    req: IncomingMessage,
    res: ServerResponse,
  ): Promise<
    | {
        /** Internal ID of the session; grants no access. */
        readonly uid: string;
        readonly accountId: string;
        /** Authentication methods (RFC 8176). */
        readonly amr: readonly string[];
        /** The external identity provider by which the user signed in. */
        readonly idp?: string | undefined;
        /** Epoch seconds. */
        readonly signedInAt: number;
      }
    | undefined
  >;
  /** @param amr how the user was authenticated (RFC 8176) @param idp by which external provider */
  signIn(req: IncomingMessage, res: ServerResponse, accountId: string, amr: readonly string[], idp?: string): Promise<void>;
  /** Continues the session with another ID. @param amr all methods that the user has authenticated with so far (RFC 8176) */
  strengthen(req: IncomingMessage, res: ServerResponse, amr: readonly string[]): Promise<void>;
}
