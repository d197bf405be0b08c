/** From where and when a browser's session was last seen: a member of it that oidc-provider does not know, for the user's own list of sessions (undocumented.ts). */
import { epochSeconds } from '../../platform/clock/clock.ts';

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

/** What is to be noted of a session that is seen now. */
export const deviceNow = ({ userAgent, ipAddress }: Omit<SessionDevice, 'seen'>): SessionDevice => ({
  userAgent: userAgent.slice(0, LONGEST),
  ipAddress,
  seen: epochSeconds(),
});

/** To be called where a session is begun or used, before it is saved. */
export function storeSessionDevice(session: object, seen: Omit<SessionDevice, 'seen'>): void {
  (session as Seen)[SESSION_DEVICE] = deviceNow(seen);
}

/** Is it so long since the session was seen that it is worth a statement of its own? */
export const isSeenLongAgo = (session: object): boolean => epochSeconds() - ((session as Seen)[SESSION_DEVICE]?.seen ?? 0) > SEEN_FOR;
