/** The field `css` of `settings/branding`. */
import { z } from 'zod';
import { isColour } from './brand-colours.policy.ts';
import { CSS_COLOUR_NAMES, CSS_COLOURS, CSS_FONTS, CSS_VERSION, type CssFont, MOST_RADIUS } from './brand-css.policy.ts';

const colour = (description: string) =>
  z.string().trim().refine(isColour, 'must be a colour like #0f5c5c').toLowerCase().exactOptional().meta({ description });

const scheme = z.strictObject(Object.fromEntries(CSS_COLOUR_NAMES.map((name) => [name, colour(CSS_COLOURS[name])]))).exactOptional();

export const brandCss = z.strictObject({
  version: z.literal(CSS_VERSION).meta({ description: 'Of the list of properties' }),
  light: scheme,
  dark: scheme,
  radius: z.int().min(0).max(MOST_RADIUS).exactOptional().meta({ description: 'Of corners, in CSS pixels' }),
  font: z
    .enum(Object.keys(CSS_FONTS) as [CssFont, ...CssFont[]])
    .exactOptional()
    .meta({ description: 'A family that the device has' }),
});
