/** Settings of the whole service. Unset values come from config/defaults.ts; only set values are stored. */
import { BRAND, LIFETIMES, PASSWORD_HISTORY, SHORTEST_PASSWORD } from '../../../config/defaults.ts';
import { present } from '../../platform/clock/clock.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { validation } from '../../platform/errors/errors.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { BOT_DEFAULTS, type BotSettings } from '../bots/bots.policy.ts';
import { type MailServerSettings, NO_MAIL_SERVER } from '../mail/mail-settings.resource.ts';
import type { MessageFactorName } from '../message-factors/message-factors.policy.ts';
import { listZoneNames } from '../network-zones/network-zones.store.ts';
import type { PasswordPolicy } from '../passwords/password.policy.ts';
import { type MfaPolicy, type MfaSettings, mfaPolicyAt } from '../second-factors/second-factor.policy.ts';
import { type SignInRule, zonesOf } from '../sign-in-rules/sign-in-rules.policy.ts';
import type { SignUpSettings } from '../sign-up/sign-up.policy.ts';
import { NO_SIGN_UP } from '../sign-up/sign-up.resource.ts';
import { NO_TELEPHONY, type TelephonySettings } from '../telephony/telephony-settings.resource.ts';
import type { BrandCss } from './brand-css.policy.ts';
import type { FooterLink } from './branding.resource.ts';
import { findCommittedSettings, findSettings, lockSettings, updateSettings } from './settings.store.ts';

/** `email`: a code or link that is sent by e-mail. */
export const SIGN_IN_METHODS = ['password', 'passkey', 'email'] as const;
export type SignInMethod = (typeof SIGN_IN_METHODS)[number];

/** Session lifetime in browsers. */
export interface SignInSettings extends MfaSettings {
  /** Without any use. */
  readonly sessionIdleMinutes: number;
  /** From the sign-in on, however much it is used. */
  readonly sessionLifetimeDays: number;
  /** Is the user name requested on a separate page, before the password? */
  readonly identifierFirst: boolean;
  /** The first-factor sign-in methods. */
  readonly methods: readonly SignInMethod[];
  /** Allowed sent codes as second factors. Apps and passkeys are always allowed. */
  readonly messageFactors: readonly MessageFactorName[];
  /** Days for which a user can trust a browser, so that it needs no second factor; 0: never. */
  readonly rememberBrowserDays: number;
  /** Is a passkey offered after a sign-in without one? */
  readonly passkeyOffer: boolean;
  /** Can users sign up without a password, and remove theirs if they have a passkey? */
  readonly passwordOptional: boolean;
  /** In order of evaluation. */
  readonly rules: readonly SignInRule[];
}

/** Branding of the service; null: no such link. */
export interface Branding {
  readonly name: string;
  /** Beside the name; null: the service's own. */
  readonly logoUrl: string | null;
  /** `#rrggbb`, for links and buttons; null: the service's own. */
  readonly primaryColorHex: string | null;
  /** The dark-mode colour; null: derived from the other one. */
  readonly primaryColorDarkHex: string | null;
  readonly supportUrl: string | null;
  readonly privacyUrl: string | null;
  readonly termsUrl: string | null;
  /** Further links at the foot of pages and e-mails. */
  readonly footerLinks: readonly FooterLink[];
  /** Icon of the browser tab; null: the product's. */
  readonly faviconUrl: string | null;
  /** A picture behind the card; null: none. */
  readonly backgroundUrl: string | null;
  /** Custom properties of the stylesheet; null: the service's own. */
  readonly css: BrandCss | null;
}

/** Retention of the audit log. */
interface AuditSettings {
  /** null: unlimited. */
  readonly retentionDays: number | null;
}

export interface Settings {
  readonly 'sign-in': SignInSettings;
  readonly password: PasswordPolicy;
  readonly branding: Branding;
  readonly audit: AuditSettings;
  readonly mail: MailServerSettings;
  readonly registration: SignUpSettings;
  readonly telephony: TelephonySettings;
  readonly bots: BotSettings;
}

export type SettingsName = keyof Settings;

export const DEFAULT_SETTINGS: Settings = {
  'sign-in': {
    sessionIdleMinutes: LIFETIMES.sessionIdle / 60,
    sessionLifetimeDays: LIFETIMES.session / 86_400,
    identifierFirst: false,
    methods: ['password', 'passkey'],
    mfa: 'OPTIONAL',
    mfaFrom: null,
    messageFactors: [],
    rememberBrowserDays: 0,
    passkeyOffer: false,
    passwordOptional: false,
    rules: [],
  },
  password: {
    minLength: SHORTEST_PASSWORD,
    historyCount: PASSWORD_HISTORY,
    maxAgeDays: null,
    breached: 'OFF',
    breachedRangeUrl: null,
  },
  branding: BRAND,
  audit: { retentionDays: null },
  mail: NO_MAIL_SERVER,
  registration: NO_SIGN_UP,
  telephony: NO_TELEPHONY,
  bots: BOT_DEFAULTS,
};

const withDefaults = <N extends SettingsName>(name: N, set: Readonly<Record<string, unknown>> = {}): Settings[N] => ({
  ...DEFAULT_SETTINGS[name],
  ...(set as Partial<Settings[N]>),
});

/** Current settings from the database. */
export async function readSettings<N extends SettingsName>({ database }: Pick<Services, 'database'>, name: N): Promise<Settings[N]> {
  return withDefaults(name, await findSettings(database.knex, name));
}

/** Committed settings, for caches that outlive the transaction (settings-cache.service.ts). */
export async function readCommittedSettings<N extends SettingsName>(
  { database }: Pick<Services, 'database'>,
  name: N,
): Promise<Settings[N]> {
  return withDefaults(name, await findCommittedSettings(database.pool, name));
}

/** @param set replaces all settings; absent ones return to their defaults */
export async function replaceSettings<N extends SettingsName>(
  services: Services,
  name: N,
  set: Partial<Settings[N]>,
  request: RequestContext,
): Promise<Settings[N]> {
  return decideSettings(services, name, () => set, request);
}

/** @param changes new values; the others are unchanged */
export async function changeSettings<N extends SettingsName>(
  services: Services,
  name: N,
  changes: Partial<Settings[N]>,
  request: RequestContext,
): Promise<Settings[N]> {
  return decideSettings(services, name, (before) => ({ ...before, ...changes }), request);
}

/** @param decide computes the new settings from the current ones */
export async function decideSettings<N extends SettingsName>(
  services: Services,
  name: N,
  decide: (before: Partial<Settings[N]>) => Partial<Settings[N]>,
  request: RequestContext,
): Promise<Settings[N]> {
  const { database, notifications } = services;
  const after = await database.transaction(async (trx) => {
    const now = present();
    const stored = await lockSettings(trx, name, now);
    const set = decide(stored as Partial<Settings[N]>);
    if ('rules' in set) await requireZones(trx, (set as Partial<SignInSettings>).rules ?? []);
    const [before, after] = [withDefaults(name, stored), withDefaults(name, set)];
    await updateSettings(trx, name, set, now);
    await recordEvent(trx, {
      eventType: 'system.settings.update',
      displayMessage: 'Update settings',
      request,
      targets: [{ id: name, type: 'Settings', displayName: name }],
      before: withoutSealed(before),
      after: withoutSealed(after),
    });
    await notifications.publish(trx, { kind: 'settings', id: name });
    return after;
  });
  notifications.announce({ kind: 'settings', id: name });
  return after;
}

/** @throws {ApiError} validation: a rule names a zone that does not exist */
async function requireZones(trx: Executor, rules: readonly SignInRule[]): Promise<void> {
  if (rules.every((rule) => zonesOf(rule).length === 0)) return;
  const known = new Set(await listZoneNames(trx));
  const problems = rules.flatMap((rule, at) =>
    (['include', 'exclude'] as const).flatMap((list) =>
      (rule.conditions.zones?.[list] ?? [])
        .filter((name) => !known.has(name))
        .map((name) => ({ field: `rules.${at}.conditions.zones.${list}`, message: `the zone ${name} does not exist. Create it first` })),
    ),
  );
  if (problems.length > 0) throw validation(problems);
}

/** Events show only that encrypted values are set. */
const withoutSealed = (settings: object): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [
      name,
      typeof value === 'object' && value !== null && 'sealed' in value ? 'set' : value,
    ]),
  );

/** @param executor a transaction, if called within one */
export const readMailServer = async (executor: Executor): Promise<MailServerSettings> =>
  withDefaults('mail', await findSettings(executor, 'mail'));

/** @param executor a transaction, if called within one */
export const readPasswordPolicy = async (executor: Executor): Promise<PasswordPolicy> =>
  withDefaults('password', await findSettings(executor, 'password'));

/** The policy that applies now. */
export const readMfaPolicy = async (executor: Executor): Promise<MfaPolicy> =>
  mfaPolicyAt(withDefaults('sign-in', await findSettings(executor, 'sign-in')), present());
