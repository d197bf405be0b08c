/** Durations in forms: a number and a unit, so that nobody has to multiply. And in words. */

import { counted, type Phrase, phrase } from '../../platform/i18n/phrase.ts';

const SECONDS = { second: 1, minute: 60, hour: 3600, day: 86_400 } as const;
export type Unit = keyof typeof SECONDS;
const UNITS = Object.keys(SECONDS) as Unit[];
export const UNIT_NAMES: Readonly<Record<Unit, string>> = { second: 'seconds', minute: 'minutes', hour: 'hours', day: 'days' };

/** The field of the unit beside the number's. */
export const unitField = (name: string): string => `${name}-unit`;

/**
 * Values shown in the form.
 * @param value a whole number of `unit`s as text; invalid numbers are shown as submitted
 * @param chosen the submitted unit
 */
export function shownDuration(value: string, unit: Unit, chosen: string | null) {
  const offered = UNITS.slice(UNITS.indexOf(unit));
  const options = offered.map((one) => ({ value: one, label: UNIT_NAMES[one] }));
  const typed = offered.find((one) => one === chosen);
  if (typed !== undefined) return { amount: value, chosen: typed, options };
  const largest = /^[1-9]\d*$/.test(value) ? offered.findLast((one) => (Number(value) * SECONDS[unit]) % SECONDS[one] === 0) : unit;
  return {
    amount: largest === undefined || largest === unit ? value : String((Number(value) * SECONDS[unit]) / SECONDS[largest]),
    chosen: largest ?? unit,
    options,
  };
}

/** @returns the number in `unit`s @param amount a whole number @param chosen absent or unknown: `unit` */
export function durationIn(amount: number, unit: Unit, chosen: string | null): number {
  const offered = UNITS.slice(UNITS.indexOf(unit)).find((one) => one === chosen) ?? unit;
  return (amount * SECONDS[offered]) / SECONDS[unit];
}

const PARTS = [
  ['{count} day', '{count} days', 86_400],
  ['{count} hour', '{count} hours', 3600],
  ['{count} minute', '{count} minutes', 60],
  ['{count} second', '{count} seconds', 1],
] as const;

/** @param seconds a whole number @returns e.g. “1 hour 30 minutes” */
export function durationOf(seconds: number): Phrase {
  const words: Phrase[] = [];
  let left = seconds;
  for (const [one, many, size] of PARTS) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count > 0) words.push(counted(count, one, many));
  }
  const [first, ...others] = words;
  return first === undefined ? phrase('no time') : others.reduce((before, next) => phrase('{before} {next}', { before, next }), first);
}
