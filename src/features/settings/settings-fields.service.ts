/** Settings of the whole service: the bodies of `settings/…`. Absent values use defaults. Only settings with an effect are listed. */
import { z } from 'zod';
import { SHORTEST_PASSWORD } from '../../../config/defaults.ts';
import { isHttpsAddress, isLocalAddress } from '../../platform/validation/addresses.ts';
import { shownText, text } from '../../platform/validation/text.ts';
import { BOT_MODES } from '../bots/bots.policy.ts';
import { MESSAGE_FACTORS } from '../message-factors/message-factors.policy.ts';
import { BREACHED_POLICIES, LONGEST_HISTORY } from '../passwords/password.policy.ts';
import { MFA_POLICIES } from '../second-factors/second-factor.policy.ts';
import { signInRules } from '../sign-in-rules/sign-in-rules.resource.ts';
import { LONGEST_TRUST } from '../trusted-browsers/trusted-browsers.policy.ts';
import { colourProblem, completeColours, isColour, nearestReadable, SCHEME_COLOURS, type Scheme } from './brand-colours.policy.ts';
import { type BrandCss, cssProblems, schemeColours } from './brand-css.policy.ts';
import { brandCss, footerLinksField } from './branding.resource.ts';
import { type Branding, type Settings, type SettingsName, SIGN_IN_METHODS } from './settings.service.ts';

const link = text({ most: 2048 }).refine(isHttpsAddress, 'must be a URL that begins with https://').nullable().exactOptional();

/** URL of a breached-password server; five hexadecimal digits are appended. */
const rangeUrl = text({ most: 2048 }).refine(
  (value) => (isHttpsAddress(value) || isLocalAddress(value)) && !/[?#]/.test(value) && value.endsWith('/'),
  'must be a URL that begins with https:// (or http:// on this machine) and ends with /, without a query',
);

const botMode = z.enum(BOT_MODES).exactOptional();

const colour = z.string().trim().refine(isColour, { error: 'must be a colour like #0f5c5c', abort: true }).toLowerCase();

/** All colours of the pages are checked together: each must be readable with the others. */
function checkBranding(
  { primaryColorHex, primaryColorDarkHex, css = null }: Partial<Pick<Branding, 'primaryColorHex' | 'primaryColorDarkHex' | 'css'>>,
  ctx: z.RefinementCtx,
): void {
  const problem = (path: string, message: string | undefined) => {
    if (message !== undefined) ctx.addIssue({ code: 'custom', path: path.split('.'), message });
  };
  const accents = completeColours(primaryColorHex, primaryColorDarkHex) ?? {
    light: SCHEME_COLOURS.light.accent,
    dark: SCHEME_COLOURS.dark.accent,
  };
  const own: readonly (readonly [string, Scheme, string | null | undefined])[] = [
    ['primaryColorHex', 'light', primaryColorHex],
    ['primaryColorDarkHex', 'dark', primaryColorDarkHex],
  ];
  for (const [field, scheme, value] of own) {
    if (value) problem(field, colourProblem(scheme, value, schemeColours(scheme, css)));
  }
  if (css === null) return;
  // Problems with given colours are reported above; derived ones are derived again for the new surroundings.
  const made = (scheme: Scheme, set: string | null | undefined) =>
    set ? accents[scheme] : nearestReadable(scheme, accents[scheme], schemeColours(scheme, css));
  for (const { field, message } of cssProblems(css, { light: made('light', primaryColorHex), dark: made('dark', primaryColorDarkHex) }))
    problem(`css.${field}`, message);
}

/** A colour for the pages in one scheme; refused if it is unreadable. */
export const brandColour = (scheme: Scheme) =>
  z
    .string()
    .trim()
    .refine(isColour, { error: 'must be a colour like #0f5c5c', abort: true })
    .toLowerCase()
    .superRefine((colour, ctx) => {
      const problem = colourProblem(scheme, colour);
      if (problem !== undefined) ctx.addIssue({ code: 'custom', message: problem });
    });

/** Branding on the pages for end users. */
const looks = {
  logoUrl: link.meta({ description: 'A picture beside the name on the pages for end users, in place of the own one' }),
  primaryColorHex: colour
    .nullable()
    .exactOptional()
    .meta({ description: 'Of links and buttons on the pages for end users; refused where its contrast is too low (WCAG 2.2, 1.4.3)' }),
  primaryColorDarkHex: colour
    .nullable()
    .exactOptional()
    .meta({ description: 'The same where the browser wants dark pages; null: made from the other one' }),
};

/** The same for an organization's sign-in pages. */
export const organizationBrandingFields = z
  .strictObject({
    name: shownText({ least: 1, most: 100 })
      .nullable()
      .exactOptional()
      .meta({ description: 'In place of the service’s; null: the organization’s name' }),
    ...looks,
  })
  .superRefine(checkBranding);

/**
 * Mail server settings are in features/mail/mail-settings.resource.ts, because their password is write-only. Sign-up settings are in
 * features/sign-up.
 */
export const settingsBodies: {
  readonly [N in Exclude<SettingsName, 'mail' | 'registration' | 'telephony'>]: z.ZodType<Partial<Settings[N]>>;
} = {
  'sign-in': z.strictObject({
    sessionIdleMinutes: z.int().min(1).max(43_200).exactOptional().meta({ description: 'A session ends when it was not used for so long' }),
    sessionLifetimeDays: z.int().min(1).max(365).exactOptional().meta({ description: 'A session ends so long after its sign-in' }),
    identifierFirst: z
      .boolean()
      .exactOptional()
      .meta({ description: 'The user name is asked for on a page of its own, before the password' }),
    methods: z
      .array(z.enum(SIGN_IN_METHODS))
      .min(1)
      .transform((methods) => SIGN_IN_METHODS.filter((method) => methods.includes(method)))
      .exactOptional()
      .meta({ description: 'By what users sign in; `email` is a code or link that is sent to them. The default is password and passkey' }),
    mfa: z
      .enum(MFA_POLICIES)
      .exactOptional()
      .meta({ description: 'Who must sign in with a second factor; users who have one are always asked for it' }),
    mfaFrom: z.iso
      .datetime({ offset: true, error: 'must be a time like 2026-11-21T01:02:03.000Z' })
      .transform((value) => new Date(value).toISOString())
      // An offset can result in a year that does not have four digits.
      .refine((value) => /^\d{4}-/.test(value), 'must be in the years 0 to 9999')
      .nullable()
      .exactOptional()
      .meta({ description: '`mfa` applies from this moment on, until then as OPTIONAL; null: at once' }),
    messageFactors: z
      .array(z.enum(MESSAGE_FACTORS))
      .transform((types) => MESSAGE_FACTORS.filter((type) => types.includes(type)))
      .exactOptional()
      .meta({
        description:
          'Codes that users may have sent to them as a second factor; none unless given. Apps and passkeys are always possible. A type that is taken away asks nobody any more',
      }),
    rules: signInRules
      .exactOptional()
      .meta({ description: 'From where, in which browser and after how long somebody signs in: the first rule that fits decides' }),
    passkeyOffer: z
      .boolean()
      .exactOptional()
      .meta({ description: 'After a sign-in without a passkey, users who have none are offered one, until they decline' }),
    passwordOptional: z.boolean().exactOptional().meta({
      description: 'People may sign up without a password, and users who have a passkey may remove theirs; where `methods` has `passkey`',
    }),
    rememberBrowserDays: z.int().min(0).max(LONGEST_TRUST).exactOptional().meta({
      description:
        'Users may trust a browser for so many days; it is then not asked for the second factor. 0: never. Administrators never may',
    }),
  }),
  password: z.strictObject({
    minLength: z.int().min(SHORTEST_PASSWORD).max(128).exactOptional().meta({ description: 'Minimum length' }),
    historyCount: z
      .int()
      .min(0)
      .max(LONGEST_HISTORY)
      .exactOptional()
      .meta({ description: 'So many passwords of a user, the present one among them, cannot be chosen again; 0: any can' }),
    maxAgeDays: z
      .int()
      .min(1)
      .max(3650)
      .nullable()
      .exactOptional()
      .meta({ description: 'After so many days another password must be chosen at the next sign-in; null: never' }),
    breached: z.enum(BREACHED_POLICIES).exactOptional().meta({
      description: 'RANGE_API: new passwords are looked up among breached ones; the first five digits of their SHA-1 leave the service',
    }),
    breachedRangeUrl: rangeUrl.nullable().exactOptional().meta({
      description: 'The range server, to which the five digits are added; null: https://api.pwnedpasswords.com/range/',
    }),
  }),
  branding: z
    .strictObject({
      name: shownText({ least: 1, most: 100 }).exactOptional().meta({ description: 'Stands on every page and in its title' }),
      ...looks,
      supportUrl: link.meta({ description: 'A link at the foot of the pages for end users' }),
      privacyUrl: link.meta({ description: 'As supportUrl' }),
      termsUrl: link.meta({ description: 'As supportUrl' }),
      faviconUrl: link.meta({ description: 'The icon of the browser’s tab on the pages for end users' }),
      backgroundUrl: link.meta({ description: 'A picture behind the card of the pages for end users' }),
      css: (brandCss as unknown as z.ZodType<BrandCss>).nullable().exactOptional().meta({
        description:
          'Custom properties of the stylesheet of the pages for end users, in a versioned list; refused where contrast is too low',
      }),
      footerLinks: footerLinksField
        .exactOptional()
        .meta({ description: 'Further links at the foot of the pages for end users and of e-mails' }),
    })
    .superRefine(checkBranding),
  bots: z.strictObject({
    signUp: botMode.meta({
      description: 'ADAPTIVE asks browsers for a proof of work once their network has asked for many accounts; ALWAYS at once',
    }),
    passwordReset: botMode.meta({ description: 'As signUp, for requests of a new password' }),
    signIn: botMode.meta({ description: 'As signUp, for passwords: ADAPTIVE once sign-ins of the network have failed many times' }),
  }),
  audit: z.strictObject({
    retentionDays: z
      .int()
      .min(1)
      .max(36_500)
      .nullable()
      .exactOptional()
      .meta({ description: 'Events older than so many days are removed; null: never' }),
  }),
};
