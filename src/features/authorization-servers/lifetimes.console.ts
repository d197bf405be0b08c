/** Lengths of time as people say them. */

import { counted, type Phrase, phrase } from '../../platform/i18n/phrase.ts';

const UNITS = [
  ['{count} day', '{count} days', 86_400],
  ['{count} hour', '{count} hours', 3600],
  ['{count} minute', '{count} minutes', 60],
  ['{count} second', '{count} seconds', 1],
] as const;

/** @param seconds whole; @returns e.g. “1 hour 30 minutes” */
export function durationOf(seconds: number): Phrase {
  const words: Phrase[] = [];
  let left = seconds;
  for (const [one, many, size] of UNITS) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count > 0) words.push(counted(count, one, many));
  }
  const [first, ...others] = words;
  return first === undefined ? phrase('no time') : others.reduce((before, next) => phrase('{before} {next}', { before, next }), first);
}
