/** Sign-ins day by day as bars, in the units of an SVG image; the same numbers stand in a table below it. */
import type { SignInDay } from '../dashboard/dashboard.service.ts';

interface Bar {
  readonly x: number;
  readonly y: number;
  readonly height: number;
}

interface ChartDay extends SignInDay {
  /** e.g. `21 Nov`. */
  readonly label: string;
  /** Middle of the two bars. */
  readonly x: number;
  readonly bars: { readonly started: Bar; readonly failed: Bar };
}

export interface Chart {
  readonly width: number;
  readonly height: number;
  readonly barWidth: number;
  /** Where nothing stands. */
  readonly base: number;
  /** Lines across, with what they stand for. */
  readonly lines: readonly { readonly y: number; readonly value: number }[];
  readonly days: readonly ChartDay[];
}

const WIDTH = 700;
const HEIGHT = 200;
const [LEFT, RIGHT, TOP, BOTTOM] = [72, 20, 12, 32];
const BAR = 16;

const date = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const labelOf = (day: string): string => date.format(new Date(`${day}T00:00:00Z`));

/** The least of 2, 4, 10, 20, 40, 100 … that is not below: its half is whole. */
export function roundUp(most: number): number {
  for (let unit = 1; ; unit *= 10) {
    const found = [2, 4, 10].map((step) => step * unit).find((step) => step >= most);
    if (found !== undefined) return found;
  }
}

export function signInChart(days: readonly SignInDay[]): Chart {
  const top = roundUp(Math.max(...days.flatMap(({ started, failed }) => [started, failed])));
  const base = HEIGHT - BOTTOM;
  const full = base - TOP;
  const heightOf = (count: number): number => (count === 0 ? 0 : Math.max(2, Math.round((count / top) * full)));
  const step = (WIDTH - LEFT - RIGHT) / Math.max(1, days.length);
  const bar = (x: number, count: number): Bar => ({ x: Math.round(x), y: base - heightOf(count), height: heightOf(count) });
  return {
    width: WIDTH,
    height: HEIGHT,
    barWidth: BAR,
    base,
    lines: [0, top / 2, top].map((value) => ({ value, y: base - Math.round((value / top) * full) })),
    days: days.map((day, at) => {
      const x = LEFT + step * (at + 0.5);
      return {
        ...day,
        label: labelOf(day.day),
        x: Math.round(x),
        bars: { started: bar(x - BAR - 1, day.started), failed: bar(x + 1, day.failed) },
      };
    }),
  };
}

/** What there is to see, in a sentence. */
export function chartInWords(days: readonly SignInDay[]): string {
  const sum = (of: (day: SignInDay) => number): number => days.reduce((all, day) => all + of(day), 0);
  const [started, failed] = [sum((day) => day.started), sum((day) => day.failed)];
  const signIns = started === 1 ? 'one sign-in' : `${started.toLocaleString('en')} sign-ins`;
  return `In the last ${days.length} days ${signIns}, and ${failed.toLocaleString('en')} that failed.`;
}
