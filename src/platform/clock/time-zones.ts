/** Time zones of the IANA database: which exist, the one of a profile, and when a day begins in one. */

/** Is it a zone of the IANA time zone database (OpenID Connect Core section 5.1, `zoneinfo`)? */
export function isTimeZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

/** @returns the user's `zoneinfo`, or else Okta's `timezone`; undefined if it is not a valid IANA name */
export function zoneOfProfile({ zoneinfo, timezone }: { readonly zoneinfo?: unknown; readonly timezone?: unknown }): string | undefined {
  const zone = zoneinfo ?? timezone;
  return typeof zone === 'string' && isTimeZone(zone) ? zone : undefined;
}

const DAY_MS = 86_400_000;

/**
 * @param moment epoch milliseconds
 * @param zone a valid one
 * @returns the first moment of that day in the zone, in epoch milliseconds
 */
export function startOfDay(moment: number, zone: string): number {
  const units = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' } as const;
  const format = new Intl.DateTimeFormat('en-US', { ...units, hourCycle: 'h23', timeZone: zone });
  /** The local time as if it were UTC, so that differences are offsets. */
  const localTime = (at: number): number => {
    const part = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)])) as Record<string, number>;
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
    return Date.UTC(year, month - 1, day, hour, minute, second);
  };
  const offsetAt = (at: number): number => localTime(at) - Math.floor(at / 1000) * 1000;
  const midnight = Math.floor(localTime(moment) / DAY_MS) * DAY_MS;
  // The offset at midnight can differ from the present one.
  return midnight - offsetAt(midnight - offsetAt(moment));
}
