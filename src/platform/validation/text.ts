/** Rules for single-line text. Markup and right-to-left script are ordinary data. */
import { z } from 'zod';

/** Control characters, and unpaired surrogates, which are not characters and which PostgreSQL cannot store. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}]/u;

/** Invisible characters and unusual spaces: names that differ only in these look the same (Unicode Technical Standard #39, section 4). */
export const INVISIBLE = /[\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/u;

/** Can this text be stored? Otherwise nothing can have it. */
export const isPrintable = (value: string): boolean => !UNPRINTABLE.test(value);

/**
 * Characters that change the text direction or start a line: a name with them could rearrange the sentence around it (Unicode Technical
 * Report #36, section 3.3).
 */
const REARRANGING = /[\p{Bidi_Control}\p{Zl}\p{Zp}]/u;

/** One line, trimmed, of `least` to `most` characters. */
export const text = ({ least = 0, most = 255 }: { least?: number; most?: number } = {}) =>
  z.string().trim().min(least).max(most).refine(isPrintable, 'must not contain control characters');

/** Like `text`, for names that users read before a decision: applications and their requests. */
export const shownText = (bounds: { least?: number; most?: number } = {}) =>
  text(bounds).refine((value) => !REARRANGING.test(value), 'must not contain line breaks or characters that change the text direction');
