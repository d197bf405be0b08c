/** Moments as the console writes them: in UTC, and said so. */

const moment = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });

export interface Moment {
  /** For the attribute `datetime`. */
  readonly iso: string;
  readonly text: string;
}

export const momentOf = (date: Date): Moment => ({ iso: date.toISOString(), text: `${moment.format(date)}\u00a0UTC` });

export const momentOrNull = (date: Date | null): Moment | null => date && momentOf(date);
