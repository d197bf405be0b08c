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
    // What it is to a reader of the description.
    .meta({ type: 'integer', minimum: least, maximum: most });

/** @returns the moment as the API writes it */
export const writeTime = (moment: Date): string => moment.toISOString();

/** As `writeTime`, null for a moment that has not come. */
export const writeTimeOrNull = (moment: Date | null): string | null => moment?.toISOString() ?? null;

/** What nobody described has no description: Okta's SDKs refuse an empty one. */
export const unlessEmpty = (description: string): string | undefined => (description === '' ? undefined : description);

/** The id in the path of one resource. */
export const idParams = z.object({ id: z.string().min(1) });

/** Where the resource is. */
export const links = z.object({ self: z.object({ href: z.url() }) });
