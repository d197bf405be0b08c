/** Field schemas that several resources share. */
import { z } from 'zod';

/** A time in the form `2026-11-21T01:02:03.000Z`; null: not yet. */
export const time = z.iso.datetime();

/** A time in a request: ISO 8601 with `Z` or an offset. */
export const moment = z.iso
  .datetime({ offset: true, error: 'must be a time like 2026-11-21T01:02:03.000Z' })
  .transform((written) => new Date(written))
  // An offset can result in a year that does not have four digits.
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

/** @returns the time in the API's format */
export const writeTime = (moment: Date): string => moment.toISOString();

/** Like `writeTime`, but null for null. */
export const writeTimeOrNull = (moment: Date | null): string | null => moment?.toISOString() ?? null;

/** Omits empty descriptions, because Okta's SDKs refuse them. */
export const unlessEmpty = (description: string): string | undefined => (description === '' ? undefined : description);

/** The ID in the path of one resource. */
export const idParams = z.object({ id: z.string().min(1) });

/** URL of the resource. */
export const links = z.object({ self: z.object({ href: z.url() }) });
