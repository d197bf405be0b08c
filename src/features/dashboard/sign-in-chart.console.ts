/** Chart of sign-ins per hour or day as bars, in SVG units; a table below contains the same numbers. */
import type { Slot } from './statistics.service.ts';

interface Bar {
  readonly x: number;
  readonly y: number;
  readonly height: number;
}

interface ChartSlot extends Slot {
  /** Does a label below the bars show its time? */
  readonly isLabelled: boolean;
  /** Centre of the two bars. */
  readonly x: number;
  readonly bars: { readonly started: Bar; readonly failed: Bar };
}

export interface Chart {
  readonly width: number;
  readonly height: number;
  readonly barWidth: number;
  /** Baseline of the chart. */
  readonly base: number;
  /** Horizontal lines and their values. */
  readonly lines: readonly { readonly y: number; readonly value: number }[];
  readonly slots: readonly ChartSlot[];
}

const WIDTH = 960;
const HEIGHT = 220;
const [LEFT, RIGHT, TOP, BOTTOM] = [88, 56, 24, 32];
const WIDEST_BAR = 16;
/** Width of a label. */
const LABEL = 112;

/** The smallest of 2, 4, 10, 20, 40, 100 … that is not less than `most`; half of it is a whole number. */
export function roundUp(most: number): number {
  for (let unit = 1; ; unit *= 10) {
    const found = [2, 4, 10].map((step) => step * unit).find((step) => step >= most);
    if (found !== undefined) return found;
  }
}

export function signInChart(slots: readonly Slot[]): Chart {
  const top = roundUp(Math.max(...slots.flatMap(({ started, failed }) => [started, failed])));
  const base = HEIGHT - BOTTOM;
  const full = base - TOP;
  const heightOf = (count: number): number => (count === 0 ? 0 : Math.max(2, Math.round((count / top) * full)));
  const step = (WIDTH - LEFT - RIGHT) / Math.max(1, slots.length);
  const barWidth = Math.min(WIDEST_BAR, Math.max(2, Math.floor(step / 2 - 1)));
  const every = Math.ceil(LABEL / step);
  const bar = (x: number, count: number): Bar => ({ x: Math.round(x), y: base - heightOf(count), height: heightOf(count) });
  return {
    width: WIDTH,
    height: HEIGHT,
    barWidth,
    base,
    lines: [0, top / 2, top].map((value) => ({ value, y: base - Math.round((value / top) * full) })),
    slots: slots.map((slot, at) => {
      const x = LEFT + step * (at + 0.5);
      return {
        ...slot,
        isLabelled: (slots.length - 1 - at) % every === 0,
        x: Math.round(x),
        bars: { started: bar(x - barWidth - 0.5, slot.started), failed: bar(x + 0.5, slot.failed) },
      };
    }),
  };
}
