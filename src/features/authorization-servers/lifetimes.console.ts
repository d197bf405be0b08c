/** Lengths of time as people say them. */

const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const;

/** @param seconds whole; @returns e.g. “1 hour 30 minutes” */
export function durationOf(seconds: number): string {
  const words: string[] = [];
  let left = seconds;
  for (const [unit, size] of UNITS) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count > 0) words.push(`${count.toLocaleString('en')} ${unit}${count === 1 ? '' : 's'}`);
  }
  return words.join(' ') || 'no time';
}
