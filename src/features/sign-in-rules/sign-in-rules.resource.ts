/** Sign-in rules as a body of `settings/sign-in`. Zones are validated on storage. */
import { z } from 'zod';
import { shownText, text } from '../../platform/validation/text.ts';
import { MOST_RULES, SIGN_IN_ACTIONS } from './sign-in-rules.policy.ts';

const zoneNames = z.array(text({ least: 1, most: 128 })).max(100);

export const signInRule = z.strictObject({
  name: shownText({ least: 1, most: 100 }),
  conditions: z.strictObject({
    zones: z.strictObject({ include: zoneNames.exactOptional(), exclude: zoneNames.exactOptional() }).exactOptional(),
    newBrowser: z.boolean().exactOptional(),
    newCountry: z.boolean().exactOptional().meta({ description: 'Needs GEO_DATABASE_FILE' }),
    daysSinceLastSignIn: z.int().min(1).max(3650).exactOptional(),
  }),
  action: z.enum(SIGN_IN_ACTIONS),
});

export const signInRules = z
  .array(signInRule)
  .max(MOST_RULES)
  .superRefine((rules, ctx) => {
    const names = rules.map(({ name }) => name);
    names.forEach((name, at) => {
      if (names.indexOf(name) !== at)
        ctx.addIssue({ code: 'custom', path: [at, 'name'], message: 'another rule has this name. Choose another name' });
    });
  });
