/**
 * The browser that makes a call, for the operations that know their caller by its session and not by an API token. Browsers send their cookies along
 * with the requests of any site, so only the service's own pages are answered by the session (`fromOwnPage`); programs carry nobody's cookies but
 * their own.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context } from 'koa';
import { forbidden } from '../../platform/errors/errors.ts';
import { fromOwnPage } from '../../platform/http/csrf.ts';

export interface CurrentSession {
  /** Names the session inside the service. */
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
  /** @returns undefined also when its user may not sign in any more */
  current(req: IncomingMessage, res: ServerResponse): Promise<CurrentSession | undefined>;
  /** Takes the cookie from the browser. */
  forget(req: IncomingMessage, res: ServerResponse): Promise<void>;
}

export interface CallingBrowser {
  /**
   * @returns undefined when there is none
   * @throws {ApiError} forbidden when another site's page asks
   */
  session(): Promise<CurrentSession | undefined>;
  /** Takes the session's cookie from the browser. */
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
