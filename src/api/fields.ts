/** The pieces that the bodies of several resources are made of. */
import { z } from 'zod';

/** A moment as `2026-11-21T01:02:03.000Z`; null where it has not come yet. */
export const time = z.iso.datetime();

/** A moment as callers may write it: ISO 8601 with `Z` or an offset. */
export const moment = z.iso
  .datetime({ offset: true, error: 'must be a time like 2026-11-21T01:02:03.000Z' })
  .transform((written) => new Date(written))
  // An offset can lead out of the years that are written with four digits.
  .refine((at) => at.getUTCFullYear() >= 1 && at.getUTCFullYear() <= 9999, 'must be in the years 1 to 9999');

/** A number in the query. */
export const wholeNumber = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, `must be a whole number from ${least} to ${most}`)
    .transform(Number)
    .refine((value) => value >= least && value <= most, `must be a whole number from ${least} to ${most}`)
    // Type shown in the OpenAPI document.
    .meta({ type: 'integer', minimum: least, maximum: most });

/** @returns the moment as the API writes it */
export const writeTime = (moment: Date): string => moment.toISOString();

/** Like `writeTime`, but null for null. */
export const writeTimeOrNull = (moment: Date | null): string | null => moment?.toISOString() ?? null;

/** Leaves out empty descriptions: Okta's SDKs refuse them. */
export const unlessEmpty = (description: string): string | undefined => (description === '' ? undefined : description);

/** The id in the path of one resource. */
export const idParams = z.object({ id: z.string().min(1) });

/** URL of the resource. */
export const links = z.object({ self: z.object({ href: z.url() }) });
