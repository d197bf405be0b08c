/** `settings`: what holds for the whole service. Only what has an effect can be set; logo and colours are not here yet. */
import { z } from 'zod';
import { SHORTEST_PASSWORD } from '../../config/defaults.ts';
import { LONGEST_HISTORY } from '../policy/password.ts';
import { MFA_POLICIES } from '../policy/second-factor.ts';
import { readSettings, replaceSettings, type Settings, type SettingsName } from '../services/settings.ts';
import { text } from '../services/text.ts';
import { type Endpoint, endpoint } from './endpoint.ts';

const link = text({ most: 2048 }).refine(isHttpsAddress, 'must be a URL that begins with https://').nullable().exactOptional();

/** The two calls of one group of settings. @param body what may be set; what is absent returns to its default */
const both = <N extends SettingsName>(
  name: N,
  what: string,
  body: z.ZodType<Partial<Settings[N]>>,
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
    summary: `Replace ${what}; what is absent returns to its default`,
    body,
    response,
    handler: ({ services, body: set, request }) => replaceSettings(services, name, set, request),
  }),
];

export const settings: readonly Endpoint[] = [
  ...both(
    'sign-in',
    'how long sessions last, and who needs a second factor',
    z.strictObject({
      sessionIdleMinutes: z
        .int()
        .min(1)
        .max(43_200)
        .exactOptional()
        .meta({ description: 'A session ends when it was not used for so long' }),
      sessionLifetimeDays: z.int().min(1).max(365).exactOptional().meta({ description: 'A session ends so long after its sign-in' }),
      mfa: z
        .enum(MFA_POLICIES)
        .exactOptional()
        .meta({ description: 'Who must sign in with a second factor; whoever has one is always asked for it' }),
    }),
    z.object({ sessionIdleMinutes: z.int(), sessionLifetimeDays: z.int(), mfa: z.enum(MFA_POLICIES) }),
  ),
  ...both(
    'password',
    'what is asked of new passwords',
    z.strictObject({
      minLength: z.int().min(SHORTEST_PASSWORD).max(128).exactOptional().meta({ description: 'Characters at least' }),
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
    }),
    z.object({ minLength: z.int(), historyCount: z.int(), maxAgeDays: z.int().nullable() }),
  ),
  ...both(
    'branding',
    'how the service presents itself',
    z.strictObject({
      name: text({ least: 1, most: 100 }).exactOptional().meta({ description: 'Stands on every page and in its title' }),
      supportUrl: link.meta({ description: 'A link at the foot of the pages for end users' }),
      privacyUrl: link.meta({ description: 'As supportUrl' }),
      termsUrl: link.meta({ description: 'As supportUrl' }),
    }),
    z.object({
      name: z.string(),
      supportUrl: z.string().nullable(),
      privacyUrl: z.string().nullable(),
      termsUrl: z.string().nullable(),
    }),
  ),
  ...both(
    'audit',
    'how long the audit log is kept',
    z.strictObject({
      retentionDays: z
        .int()
        .min(1)
        .max(36_500)
        .nullable()
        .exactOptional()
        .meta({ description: 'Events older than so many days are removed; null: never' }),
    }),
    z.object({ retentionDays: z.int().nullable() }),
  ),
];

function isHttpsAddress(value: string): boolean {
  if (!/^https:\/\//i.test(value) || !URL.canParse(value)) return false;
  const { username, password } = new URL(value);
  return username === '' && password === '';
}
