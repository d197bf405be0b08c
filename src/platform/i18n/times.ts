/** Times on pages. The viewer sees them in a time zone of their own, and in UTC on hover. */

/** A time as data of a page. */
export interface Moment {
  /** ISO 8601, for the attribute `datetime`. */
  readonly iso: string;
  /** With seconds and milliseconds, as in logs. */
  readonly isExact?: boolean;
  /** Without the time of day. */
  readonly isDay?: boolean;
}

export const momentOf = (date: Date): Moment => ({ iso: date.toISOString() });

export const exactMomentOf = (date: Date): Moment => ({ iso: date.toISOString(), isExact: true });

export const dayOf = (date: Date): Moment => ({ iso: date.toISOString(), isDay: true });

export const momentOrNull = (date: Date | null): Moment | null => date && momentOf(date);

interface Times {
  /** Without markup, for sentences and names. In UTC it says so. */
  text(moment: Moment): string;
  /**
   * An HTML element `time`. Where its text is not UTC, its title is. Where it is UTC, the browser shows its own zone instead
   * (views/public/local-time.js).
   */
  element(moment: Moment): string;
}

/** Day before month in English, too. */
export const localeOf = (lang: string): string => (lang === 'en' ? 'en-GB' : lang);

/** @param lang BCP 47 tag @param timeZone IANA name */
export function timesIn(lang: string, timeZone = 'UTC'): Times {
  const locale = localeOf(lang);
  const zone = timeZone === 'UTC' ? '\u00a0UTC' : '';
  const usual = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', timeZone });
  const day = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone });
  const exact = new Intl.DateTimeFormat(locale, {
    ...{ day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit' },
    ...{ fractionalSecondDigits: 3, hourCycle: 'h23', timeZone },
  });

  const text = ({ iso, isExact = false, isDay = false }: Moment): string =>
    isDay ? day.format(new Date(iso)) : `${(isExact ? exact : usual).format(new Date(iso))}${zone}`;
  // Days have no time of day in their text: on hover they have one.
  const inUtc = timeZone === 'UTC' ? { text } : timesIn(lang);
  return {
    text,
    element(moment) {
      const shown = text(moment);
      const utc = inUtc.text({ iso: moment.iso, isExact: moment.isExact ?? false });
      const title = shown === utc ? '' : ` title="${utc}"`;
      return `<time datetime="${moment.iso}"${moment.isExact ? ' data-exact' : ''}${moment.isDay ? ' data-day' : ''}${title}>${shown}</time>`;
    },
  };
}
