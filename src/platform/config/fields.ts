/** Kinds of environment variables. */
import { z } from 'zod';

/** A boolean variable: `true`/`on`/`1` or `false`/`off`/`0`. */
export const toggle = z
  .enum(['true', 'on', '1', 'false', 'off', '0'], { error: 'must be true or false' })
  .transform((value) => value === 'true' || value === 'on' || value === '1');

export const numberBetween = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `must be a whole number from ${least} to ${most}`)
    .transform(Number)
    .refine((value) => value >= least && value <= most, `must be a whole number from ${least} to ${most}`);
