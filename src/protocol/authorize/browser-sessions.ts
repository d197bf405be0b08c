/** The browser's session outside an authorization request: for the standalone sign-in page. All servers share it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { findUser } from '../../features/users/users.service.ts';
import { epochSeconds } from '../../platform/clock/clock.ts';
import type { Config } from '../../platform/config/config.ts';
import { digest, type Keyring, randomToken } from '../../platform/crypto/secrets.ts';
import type { Database } from '../../platform/database/database.ts';
import type { AuthorizationServers } from '../servers/authorization-servers.ts';
import { cookies } from '../servers/cookies.ts';
import {
  deviceNow,
  isSeenLongAgo,
  providerOf,
  SESSION_DEVICE,
  SESSION_PROVIDER,
  type SessionDevice,
  setProvider,
  storeSessionDevice,
} from '../servers/session-device.ts';
import { noteSessionDevice, renewSession, strengthenSession } from '../storage/session-changes.store.ts';
import { isActive } from '../token/account.ts';
import { longestSession, sessionLifetime } from '../token/lifetimes.ts';

export interface BrowserSessionParts {
  readonly servers: AuthorizationServers;
  readonly database: Database;
  readonly config: Config;
  readonly keyring: Keyring;
}

export interface ProtocolSession {
  /** Identifies the session inside the service. It grants no access. */
  readonly uid: string;
  readonly accountId: string;
  readonly login: string;
  /** Authentication methods (RFC 8176). */
  readonly amr: readonly string[];
  /** The external identity provider by which the user signed in. */
  readonly idp: string | undefined;
  /** Epoch seconds. */
  readonly signedInAt: number;
  /** Epoch seconds; use of the session extends it. */
  readonly expiresAt: number;
}

export function createBrowserSessions({ servers, database, config, keyring }: BrowserSessionParts) {
  const { names, long } = cookies(config, keyring);
  type Read = Awaited<ReturnType<typeof read>>;
  const read = async (req: IncomingMessage, res: ServerResponse) => {
    const { provider, signIn } = await servers.builtIn();
    const ctx = provider.createContext(req, res);
    return { provider, signIn, ctx, session: await provider.Session.get(ctx as never) };
  };

  /** @returns false if the session has ended */
  const renew = async (
    ctx: Read['ctx'],
    { jti }: Read['session'],
    signIn: Read['signIn'],
    { amr, idp }: { readonly amr: readonly string[]; readonly idp: string | undefined },
    device: SessionDevice,
  ): Promise<boolean> => {
    const id = randomToken();
    const loginTs = epochSeconds();
    const lifetime = sessionLifetime(signIn, loginTs);
    const members = { amr, loginTs, [SESSION_DEVICE]: device, ...(idp !== undefined && { [SESSION_PROVIDER]: idp }) };
    const times = { expiresAt: loginTs + lifetime, endsAt: loginTs + longestSession(signIn) };
    if (!(await renewSession(database.pool, digest(jti), { id: digest(id), members, ...times }))) return false;
    ctx.cookies.set(names?.session ?? '', id, { ...long, maxAge: lifetime * 1000 });
    return true;
  };

  return {
    /** Updates the session's last use, at most every few minutes. @returns undefined also if the user can no longer sign in */
    async current(req: IncomingMessage, res: ServerResponse): Promise<ProtocolSession | undefined> {
      const { session } = await read(req, res);
      if (session.accountId === undefined) return undefined;
      const user = await findUser(database, session.accountId);
      if (user === undefined || !isActive(user)) return undefined;
      if (isSeenLongAgo(session)) await noteSessionDevice(database.pool, digest(session.jti), deviceNow(servers.parts.describe(req)));
      const { uid, amr = [], loginTs: signedInAt = 0, exp: expiresAt = 0 } = session;
      return { uid, accountId: user.id, login: user.login, amr, idp: providerOf(session), signedInAt, expiresAt };
    },

    /** Deletes the cookie. The session is ended elsewhere. */
    async forget(req: IncomingMessage, res: ServerResponse): Promise<void> {
      const { ctx } = await read(req, res);
      ctx.cookies.set(names?.session ?? '', null, { ...long });
    },

    /**
     * Starts a new session. Another user's session ends like by a logout, so that no session survives a sign-in (session fixation). The same user's
     * session continues with its applications, under another ID, as in an authorization request.
     * @param amr authentication methods (RFC 8176)
     * @param idp external provider
     */
    async signIn(req: IncomingMessage, res: ServerResponse, accountId: string, amr: readonly string[], idp?: string): Promise<void> {
      const { provider, signIn, ctx, session: before } = await read(req, res);
      if (before.accountId === accountId && (await renew(ctx, before, signIn, { amr, idp }, deviceNow(servers.parts.describe(req)))))
        return;
      if (before.accountId !== undefined) await servers.parts.endSession({ uid: before.uid, userId: before.accountId }, req);
      const session = new provider.Session();
      session.loginAccount({ accountId, amr: [...amr] });
      setProvider(session, idp);
      storeSessionDevice(session, servers.parts.describe(req));
      const lifetime = sessionLifetime(signIn, session.loginTs);
      await session.save(lifetime);
      ctx.cookies.set(names?.session ?? '', session.jti, { ...long, maxAge: lifetime * 1000 });
    },

    /**
     * Strengthens a session with another authentication method: it keeps its sign-in time and applications, under another ID (session fixation). An
     * ended session stays ended.
     * @param amr all methods used so far (RFC 8176)
     */
    async strengthen(req: IncomingMessage, res: ServerResponse, amr: readonly string[]): Promise<void> {
      const { signIn, ctx, session } = await read(req, res);
      const id = randomToken();
      if (!(await strengthenSession(database.pool, digest(session.jti), { id: digest(id), amr }))) return;
      ctx.cookies.set(names?.session ?? '', id, { ...long, maxAge: sessionLifetime(signIn, session.loginTs) * 1000 });
    },
  };
}
