/**
 * Session fields that oidc-provider lacks: where and when its browser was last seen, the identity provider of the sign-in, and the use for
 * organizations.
 */
import type { Context } from 'koa';
import { epochSeconds } from '../../platform/clock/clock.ts';
import type { Config } from '../../platform/config/config.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import { browserDevice, deviceOf, keepDevice, newDevice } from '../../platform/http/cookies.ts';
import type { KoaContextWithOIDC } from '../library/oidc-provider.ts';
import { requestStateOf } from '../storage/request-state.ts';

// ID of the browser that obtained a refresh token, for introspection (`device_id`). It is derived from the device cookie, which is never revealed.
// The code keeps it from the authorization request to its exchange, and refresh tokens pass it on. Grants without a browser get a new one.

const deviceIdOf = (device: string): string => digest(`device_id ${device}`).slice(0, 22);

/** The ID of the browser that answers an interaction. A browser without the cookie gets one with the response. */
export const answeringDeviceId = (ctx: Context, config: Config): string => deviceIdOf(browserDevice(ctx, config));

/** A new ID, for grants without a browser. */
export const freshDeviceId = (): string => deviceIdOf(newDevice());

/**
 * Records the browser of an authorization request.
 * @returns a function to call with the response: if it has a code, a browser without the cookie gets one
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

/** The field's name in the session's payload. */
export const SESSION_DEVICE = 'device';

export interface SessionDevice {
  readonly userAgent: string;
  readonly ipAddress: string;
  /** Epoch seconds. */
  readonly seen: number;
}

/** Maximum length; browsers send shorter ones. */
const LONGEST = 400;

/** Seconds during which the last use of a session is not updated, unless the session is saved anyway. */
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

/** Call when a session starts or is used, before it is saved. */
export function storeSessionDevice(session: object, seen: Omit<SessionDevice, 'seen'>): void {
  (session as Seen)[SESSION_DEVICE] = deviceNow(seen);
}

/** Is the last use old enough for an update? */
export const isSeenLongAgo = (session: object): boolean => epochSeconds() - ((session as Seen)[SESSION_DEVICE]?.seen ?? 0) > SEEN_FOR;

/** The field's name in the session's payload. */
export const SESSION_PROVIDER = 'idp';

/** @returns undefined if the user signed in without an external provider */
export const providerOf = (session: object): string | undefined => (session as { [SESSION_PROVIDER]?: string })[SESSION_PROVIDER];

/** @param idp undefined: sign-in without an external provider */
export function setProvider(session: object, idp: string | undefined): void {
  (session as { [SESSION_PROVIDER]?: string | undefined })[SESSION_PROVIDER] = idp;
}

/** A new sign-in records its provider; otherwise the session keeps its own. */
export function noteProvider({ oidc: { session, result } }: KoaContextWithOIDC): void {
  if (session !== undefined && result?.login !== undefined) setProvider(session, (result.login as { idp?: string }).idp);
}

/** The field's name in the session's payload. */
export const SESSION_ORGANIZATIONS = 'organizations';

/** Last use of the session for organizations with an idle timeout: epoch seconds by organization ID. */
interface Used {
  [SESSION_ORGANIZATIONS]?: Readonly<Record<string, number>>;
}

/** @returns epoch seconds */
export const usedForOrganization = (session: object, orgId: string): number | undefined =>
  (session as Used)[SESSION_ORGANIZATIONS]?.[orgId];

/** Maximum organizations whose last use is stored; for others the time of the sign-in counts. */
const MOST_ORGANIZATIONS = 20;

export function noteUseForOrganization(session: object, orgId: string, now: number): void {
  const others = Object.entries((session as Used)[SESSION_ORGANIZATIONS] ?? {}).filter(([id]) => id !== orgId);
  (session as Used)[SESSION_ORGANIZATIONS] = Object.fromEntries([...others.slice(1 - MOST_ORGANIZATIONS), [orgId, now]]);
}
