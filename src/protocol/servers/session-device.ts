/** Members of a session that oidc-provider does not know: where and when its browser was last seen, the identity provider that proved the user, and the use for organizations. */
import type { Context } from 'koa';
import { epochSeconds } from '../../platform/clock/clock.ts';
import type { Config } from '../../platform/config/config.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import { browserDevice, deviceOf, keepDevice, newDevice } from '../../platform/http/cookies.ts';
import type { KoaContextWithOIDC } from '../library/oidc-provider.ts';
import { requestStateOf } from '../storage/request-state.ts';

// ID of the browser in which a refresh token was obtained, for introspection (`device_id`): derived from the device cookie, which is
// never revealed. The code keeps it from the authorization request to its exchange, and refresh tokens pass it on; grants without a
// browser get their own.

const deviceIdOf = (device: string): string => digest(`device_id ${device}`).slice(0, 22);

/** The ID of the browser that answers an interaction. A browser without the cookie gets it with the response. */
export const answeringDeviceId = (ctx: Context, config: Config): string => deviceIdOf(browserDevice(ctx, config));

/** A new ID, for grants without a browser. */
export const freshDeviceId = (): string => deviceIdOf(newDevice());

/**
 * Records the browser of an authorization request.
 * @returns to be called with the response: if it has a code, a browser without the cookie gets one
 */
export function deviceCookie(ctx: KoaContextWithOIDC, config: Config): () => void {
  const known = deviceOf(ctx, config);
  const device = known ?? newDevice();
  const request = requestStateOf(ctx);
  if (request !== undefined) request.deviceId = deviceIdOf(device);
  // Cross-site posts come without cookies (SameSite=Lax): an existing cookie must not be replaced.
  const isLacking = known === undefined && ctx.method === 'GET';
  return () => {
    const isGranted = request?.writes.inserts.some(({ model }) => model === 'AuthorizationCode');
    if (isLacking && isGranted) keepDevice(ctx, config, device);
  };
}

/** The name of the member in the session's payload. */
export const SESSION_DEVICE = 'device';

export interface SessionDevice {
  readonly userAgent: string;
  readonly ipAddress: string;
  /** Epoch seconds. */
  readonly seen: number;
}

/** Longer ones are no browser's. */
const LONGEST = 400;

/** Seconds for which a session that was seen counts as seen, where nothing else is to be saved of it. */
const SEEN_FOR = 300;

interface Seen {
  [SESSION_DEVICE]?: SessionDevice;
}

/** Device data to store for the current request of a session. */
export const deviceNow = ({ userAgent, ipAddress }: Omit<SessionDevice, 'seen'>): SessionDevice => ({
  userAgent: userAgent.slice(0, LONGEST),
  ipAddress,
  seen: epochSeconds(),
});

/** To be called where a session is begun or used, before it is saved. */
export function storeSessionDevice(session: object, seen: Omit<SessionDevice, 'seen'>): void {
  (session as Seen)[SESSION_DEVICE] = deviceNow(seen);
}

/** Was the session last seen long enough ago to justify a statement? */
export const isSeenLongAgo = (session: object): boolean => epochSeconds() - ((session as Seen)[SESSION_DEVICE]?.seen ?? 0) > SEEN_FOR;

/** The name of the member in the session's payload. */
export const SESSION_PROVIDER = 'idp';

/** @returns undefined when the session began here */
export const providerOf = (session: object): string | undefined => (session as { [SESSION_PROVIDER]?: string })[SESSION_PROVIDER];

/** @param idp undefined: the sign-in was made here */
export function setProvider(session: object, idp: string | undefined): void {
  (session as { [SESSION_PROVIDER]?: string | undefined })[SESSION_PROVIDER] = idp;
}

/** A new sign-in records its provider; otherwise the session keeps its own. */
export function noteProvider({ oidc: { session, result } }: KoaContextWithOIDC): void {
  if (session !== undefined && result?.login !== undefined) setProvider(session, (result.login as { idp?: string }).idp);
}

/** The name of the member in the session's payload. */
export const SESSION_ORGANIZATIONS = 'organizations';

/** When the session was last used for organizations that end it by idleness, in epoch seconds by their IDs. */
interface Used {
  [SESSION_ORGANIZATIONS]?: Readonly<Record<string, number>>;
}

/** @returns epoch seconds */
export const usedForOrganization = (session: object, orgId: string): number | undefined =>
  (session as Used)[SESSION_ORGANIZATIONS]?.[orgId];

/** Number of organizations whose last use is stored; for others the sign-in counts. */
const MOST_ORGANIZATIONS = 20;

export function noteUseForOrganization(session: object, orgId: string, now: number): void {
  const others = Object.entries((session as Used)[SESSION_ORGANIZATIONS] ?? {}).filter(([id]) => id !== orgId);
  (session as Used)[SESSION_ORGANIZATIONS] = Object.fromEntries([...others.slice(1 - MOST_ORGANIZATIONS), [orgId, now]]);
}
