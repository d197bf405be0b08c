/** Names with values and their explanation: meaning, source, and times and durations in words. */
import { epochSeconds } from '../platform/clock/clock.ts';
import { phrase, type Value } from '../platform/i18n/phrase.ts';
import type { Glossary } from './glossary.ts';

/** A value that is a moment (seconds since 1970-01-01 UTC) or a duration. */
export interface Time {
  readonly kind: 'moment' | 'duration';
  readonly seconds: number;
}

export interface ExplanationRow {
  readonly name: string;
  readonly value: Value;
  readonly time?: Time;
  readonly meaning?: string;
  readonly source?: string;
}

const MOMENTS = new Set(['exp', 'iat', 'nbf', 'auth_time', 'updated_at']);
const DURATIONS = new Set(['expires_in', 'max_age']);
const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const;

/** Full tokens are shown elsewhere; in a table, start and end are enough to distinguish them. */
const LONGEST = 160;
const shortened = (value: string): Value =>
  value.length > LONGEST
    ? phrase('{shortened} ({length} characters)', { shortened: `${value.slice(0, 48)}…${value.slice(-12)}`, length: value.length })
    : value;

/** The largest unit that is not longer than the time. */
const unitFor = (seconds: number) => UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? UNITS[3];

/** @returns a time or a duration in words @param lang BCP 47 */
export function timeTexts(lang: string): (time: Time) => string {
  const locale = lang === 'en' ? 'en-GB' : lang;
  const moment = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'medium', timeZone: 'UTC' });
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
  return ({ kind, seconds }) => {
    const distance = kind === 'moment' ? seconds - epochSeconds() : seconds;
    const [unit, size] = unitFor(distance);
    if (kind === 'moment') return `${moment.format(seconds * 1000)} UTC, ${relative.format(Math.trunc(distance / size), unit)}`;
    const maximumFractionDigits = 1;
    return new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long', maximumFractionDigits }).format(seconds / size);
  };
}

function timeOf(name: string, value: unknown): Time | undefined {
  const seconds = typeof value === 'string' && /^\d{1,11}$/.test(value) ? Number(value) : value;
  if (typeof seconds !== 'number' || !Number.isInteger(seconds) || Math.abs(seconds) > 253_402_300_799) return undefined;
  if (MOMENTS.has(name)) return { kind: 'moment', seconds };
  return DURATIONS.has(name) ? { kind: 'duration', seconds } : undefined;
}

/** @param glossaries the first one with a name explains it */
export function explainExchange(members: Iterable<readonly [string, unknown]>, ...glossaries: readonly Glossary[]): ExplanationRow[] {
  return [...members].map(([name, value]) => {
    const entry = glossaries.find((glossary) => Object.hasOwn(glossary, name))?.[name];
    const time = timeOf(name, value);
    return {
      name,
      value: shortened(typeof value === 'string' ? value : JSON.stringify(value)),
      ...(time !== undefined && { time }),
      ...(entry === undefined ? {} : { meaning: entry[0], source: entry[1] }),
    };
  });
}
