/** From where and when a browser's session was last seen: a member of it that oidc-provider does not know, for the user's own list of sessions (undocumented.ts). */
import { epochSeconds } from '../clock.ts';

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

/** To be called where a session is begun or used, before it is saved. */
export function noteDevice(session: object, { userAgent, ipAddress }: Omit<SessionDevice, 'seen'>): void {
  const device: SessionDevice = { userAgent: userAgent.slice(0, LONGEST), ipAddress, seen: epochSeconds() };
  (session as { [SESSION_DEVICE]?: SessionDevice })[SESSION_DEVICE] = device;
}
