/**
 * The console's cookie: the signed-in user and their ID token for the logout, sealed. The cookie alone grants no access: each request also checks the
 * browser's session at the authorization server, and the user's roles.
 */
import type Koa from 'koa';
import { z } from 'zod';
import { epochSeconds } from '../../platform/clock/clock.ts';
import { sealing } from '../../platform/crypto/sealed.ts';
import type { Keys } from '../../platform/crypto/secrets.ts';
import { cookieIn, writeCookie } from '../../platform/http/cookies.ts';

/** Afterwards a new authorization request creates another one, without interaction while the browser's session lasts. */
const SECONDS = 12 * 3600;
/** So long the cookie still says whose form it was that came too late (kept-form.ts). It grants nothing then. */
const SECONDS_OF_FORMS = 7 * 86_400;
const COOKIE = 'gatehouse-console';

const session = z.object({ userId: z.string(), idToken: z.string() });
type ConsoleSession = z.infer<typeof session>;
const ending = session.extend({ endsAt: z.number() });

export interface ConsoleSessions {
  begin(ctx: Koa.Context, session: ConsoleSession): Promise<void>;
  current(ctx: Koa.Context): Promise<ConsoleSession | undefined>;
  /** @returns the user of the current session, or of one that expired in the last days */
  lastUser(ctx: Koa.Context): Promise<string | undefined>;
  end(ctx: Koa.Context): void;
}

/** @param options.secure is the service reached by https? */
export function consoleSessions({ keys, secure }: { readonly keys: Keys; readonly secure: boolean }): ConsoleSessions {
  const sealed = sealing({ kind: 'console-session', schema: ending, keys, seconds: SECONDS_OF_FORMS });
  const write = (ctx: Koa.Context, value: string | null): void => writeCookie(ctx, secure, { name: COOKIE, value, path: '/' });

  const opened = async (ctx: Koa.Context) => {
    const value = cookieIn(ctx, COOKIE, secure, '/');
    return value === undefined ? undefined : sealed.open(value);
  };

  return {
    begin: async (ctx, content) => write(ctx, await sealed.seal({ ...content, endsAt: epochSeconds() + SECONDS })),
    async current(ctx) {
      const found = await opened(ctx);
      return found && found.endsAt > epochSeconds() ? found : undefined;
    },
    lastUser: async (ctx) => (await opened(ctx))?.userId,
    end: (ctx) => write(ctx, null),
  };
}
