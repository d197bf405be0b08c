/** Names with values, each explained for a page: what it means, where that is written, and moments and durations as people say them. */
import { epochSeconds } from '../platform/clock/clock.ts';
import type { Glossary } from './glossary.ts';

export interface ExplanationRow {
  readonly name: string;
  readonly value: string;
  /** The value as people say it, where it is a moment or a duration. */
  readonly human?: string;
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

const moment = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'medium', timeZone: 'UTC' });
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always' });

/** Tokens stand in full elsewhere; in a table their ends are enough to tell two apart. */
const LONGEST = 160;
const shortened = (value: string): string =>
  value.length > LONGEST ? `${value.slice(0, 48)}…${value.slice(-12)} (${value.length} characters)` : value;

/** The largest unit of which there is at least one. */
const unitFor = (seconds: number) => UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? UNITS[3];

/** @param seconds since 1970-01-01 UTC, at most the year 9999 */
function humanMoment(seconds: number): string {
  const distance = seconds - epochSeconds();
  const [unit, size] = unitFor(distance);
  const when = distance === 0 ? 'just now' : relative.format(Math.trunc(distance / size), unit);
  return `${moment.format(seconds * 1000)} UTC, ${when}`;
}

function humanDuration(seconds: number): string {
  const [unit, size] = unitFor(seconds);
  const maximumFractionDigits = 1;
  return new Intl.NumberFormat('en', { style: 'unit', unit, unitDisplay: 'long', maximumFractionDigits }).format(seconds / size);
}

function human(name: string, value: unknown): string | undefined {
  const seconds = typeof value === 'string' && /^\d{1,11}$/.test(value) ? Number(value) : value;
  if (typeof seconds !== 'number' || !Number.isInteger(seconds) || Math.abs(seconds) > 253_402_300_799) return undefined;
  if (MOMENTS.has(name)) return humanMoment(seconds);
  return DURATIONS.has(name) ? humanDuration(seconds) : undefined;
}

/** @param glossaries the first that knows a name explains it */
export function explainExchange(members: Iterable<readonly [string, unknown]>, ...glossaries: readonly Glossary[]): ExplanationRow[] {
  return [...members].map(([name, value]) => {
    const entry = glossaries.find((glossary) => Object.hasOwn(glossary, name))?.[name];
    const said = human(name, value);
    return {
      name,
      value: shortened(typeof value === 'string' ? value : JSON.stringify(value)),
      ...(said === undefined ? {} : { human: said }),
      ...(entry === undefined ? {} : { meaning: entry[0], source: entry[1] }),
    };
  });
}
