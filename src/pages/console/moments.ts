/** Times on pages of the console. The language determines their format (platform/i18n/translator.ts). */

/** In UTC; with scripts, the browser shows it in its own time zone (views/public/local-time.js). */
export interface Moment {
  /** For the attribute `datetime`. */
  readonly iso: string;
  /** With seconds and milliseconds. */
  readonly isExact?: boolean;
}

export const momentOf = (date: Date): Moment => ({ iso: date.toISOString() });

export const exactMomentOf = (date: Date): Moment => ({ iso: date.toISOString(), isExact: true });

export const momentOrNull = (date: Date | null): Moment | null => date && momentOf(date);
