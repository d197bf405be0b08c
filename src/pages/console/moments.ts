/** How the console writes moments. */

const moment = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });

/** Logs tell moments apart by milliseconds. */
const exact = new Intl.DateTimeFormat('en-GB', {
  ...{ day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit' },
  ...{ fractionalSecondDigits: 3, hourCycle: 'h23', timeZone: 'UTC' },
});

/** In UTC; the browser shows it in its own time zone where scripts run (views/public/local-time.js). */
export interface Moment {
  /** For the attribute `datetime`. */
  readonly iso: string;
  readonly text: string;
  /** With seconds and milliseconds. */
  readonly isExact?: boolean;
}

export const momentOf = (date: Date): Moment => ({ iso: date.toISOString(), text: `${moment.format(date)}\u00a0UTC` });

export const exactMomentOf = (date: Date): Moment => ({
  iso: date.toISOString(),
  text: `${exact.format(date)}\u00a0UTC`,
  isExact: true,
});

export const momentOrNull = (date: Date | null): Moment | null => date && momentOf(date);
