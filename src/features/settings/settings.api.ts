/** `settings`: settings of the whole service. features/settings/settings-fields.service.ts has their schemas. */
import { z } from 'zod';
import { type Endpoint, endpoint } from '../../api/endpoint.ts';
import { time } from '../../api/fields.ts';
import { BOT_MODES } from '../bots/bots.policy.ts';
import { MESSAGE_FACTORS } from '../message-factors/message-factors.policy.ts';
import { BREACHED_POLICIES } from '../passwords/password.policy.ts';
import { MFA_POLICIES } from '../second-factors/second-factor.policy.ts';
import { signInRule } from '../sign-in-rules/sign-in-rules.resource.ts';
import type { BrandCss } from './brand-css.policy.ts';
import { brandCss } from './branding.resource.ts';
import { readSettings, replaceSettings, type Settings, type SettingsName, SIGN_IN_METHODS } from './settings.service.ts';
import { settingsBodies } from './settings-fields.service.ts';

/** The two calls of one group of settings. */
const both = <N extends Exclude<SettingsName, 'mail' | 'registration' | 'telephony'>>(
  name: N,
  what: string,
  response: z.ZodType<Settings[N], Settings[N]>,
): Endpoint[] => [
  endpoint({
    method: 'GET',
    path: `/settings/${name}`,
    access: 'service',
    summary: `Read ${what}`,
    response,
    handler: ({ services }) => readSettings(services, name),
  }),
  endpoint({
    method: 'PUT',
    path: `/settings/${name}`,
    access: 'service',
    summary: `Replace ${what}; absent fields return to their defaults`,
    body: settingsBodies[name],
    response,
    handler: ({ services, body: set, request }) => replaceSettings(services, name, set, request),
  }),
];

export const settingsEndpoints: readonly Endpoint[] = [
  ...both(
    'sign-in',
    'how users sign in, how long sessions last, and who needs a second factor',
    z.object({
      sessionIdleMinutes: z.int(),
      sessionLifetimeDays: z.int(),
      identifierFirst: z.boolean(),
      methods: z.array(z.enum(SIGN_IN_METHODS)).readonly(),
      mfa: z.enum(MFA_POLICIES),
      mfaFrom: time.nullable(),
      messageFactors: z.array(z.enum(MESSAGE_FACTORS)).readonly(),
      rememberBrowserDays: z.int(),
      passkeyOffer: z.boolean(),
      passwordOptional: z.boolean(),
      rules: z.array(signInRule).readonly(),
    }),
  ),
  ...both(
    'password',
    'the password policy',
    z.object({
      minLength: z.int(),
      historyCount: z.int(),
      maxAgeDays: z.int().nullable(),
      breached: z.enum(BREACHED_POLICIES),
      breachedRangeUrl: z.string().nullable(),
    }),
  ),
  ...both(
    'branding',
    'the branding of the service',
    z.object({
      name: z.string(),
      logoUrl: z.string().nullable(),
      primaryColorHex: z.string().nullable(),
      primaryColorDarkHex: z.string().nullable(),
      supportUrl: z.string().nullable(),
      privacyUrl: z.string().nullable(),
      termsUrl: z.string().nullable(),
      faviconUrl: z.string().nullable(),
      backgroundUrl: z.string().nullable(),
      css: brandCss.nullable() as z.ZodType<BrandCss | null, BrandCss | null>,
      footerLinks: z.array(z.object({ url: z.string(), labels: z.record(z.string(), z.string()) })).readonly(),
    }),
  ),
  ...both(
    'bots',
    'where browsers need a proof of work',
    z.object({ signUp: z.enum(BOT_MODES), passwordReset: z.enum(BOT_MODES), signIn: z.enum(BOT_MODES) }),
  ),
  ...both('audit', 'how long the audit log is kept', z.object({ retentionDays: z.int().nullable() })),
];
