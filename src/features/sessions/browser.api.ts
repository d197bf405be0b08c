/**
 * The calling browser, for operations that identify their caller by the session instead of an API token. Browsers send cookies with the requests of
 * any site, so only the service's own pages may use the session (`fromOwnPage`). Other programs have no user's cookies.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context } from 'koa';
import { forbidden } from '../../platform/errors/errors.ts';
import { fromOwnPage } from '../../platform/http/csrf.ts';

export interface CurrentSession {
  /** Internal ID of the session; grants no access. */
  readonly uid: string;
  readonly accountId: string;
  readonly login: string;
  /** Authentication methods (RFC 8176). */
  readonly amr: readonly string[];
  /** The external identity provider by which the user signed in. */
  readonly idp?: string | undefined;
  /** Epoch seconds. */
  readonly signedInAt: number;
  readonly expiresAt: number;
}

/** The sessions of browsers, by their cookie. */
export interface SessionLookup {
  /** @returns undefined also if its user can no longer sign in */
  current(req: IncomingMessage, res: ServerResponse): Promise<CurrentSession | undefined>;
  /** Deletes the browser's cookie. */
  forget(req: IncomingMessage, res: ServerResponse): Promise<void>;
}

export interface CallingBrowser {
  /**
   * @returns undefined if there is none
   * @throws {ApiError} forbidden: a page of another site calls
   */
  session(): Promise<CurrentSession | undefined>;
  /** Deletes the cookie of the session. */
  forgetSession(): Promise<void>;
}

/** @param origin of the service's own pages */
export const browserOf = (ctx: Context, sessions: SessionLookup, origin: string): CallingBrowser => ({
  async session() {
    if (!fromOwnPage(origin, { origin: ctx.get('Origin'), secFetchSite: ctx.get('Sec-Fetch-Site') })) throw forbidden();
    return sessions.current(ctx.req, ctx.res);
  },
  forgetSession: () => sessions.forget(ctx.req, ctx.res),
});
