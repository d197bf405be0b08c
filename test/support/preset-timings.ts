/** Loaded by `--import` before a service in a process of its own: sets the timings of PRESET_TIMINGS (short-waits.ts). */
import { timings } from '../../src/platform/clock/timings.ts';

Object.assign(timings, JSON.parse(process.env.PRESET_TIMINGS ?? '{}'));
