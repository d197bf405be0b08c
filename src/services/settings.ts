/** What is set for the whole service. What was not set has the value of config/defaults.ts; only what was set is stored. */
import { BRAND, LIFETIMES, PASSWORD_HISTORY, SHORTEST_PASSWORD } from '../../config/defaults.ts';
import { present } from '../clock.ts';
import type { PasswordPolicy } from '../policy/password.ts';
import type { MfaPolicy } from '../policy/second-factor.ts';
import type { Executor } from '../store/database.ts';
import { findSettings, lockSettings, updateSettings } from '../store/settings.ts';
import { type RequestContext, recordEvent } from './audit.ts';
import type { Services } from './dependencies.ts';

/** How long a browser's session lasts. */
export interface SignInSettings {
  /** Without any use. */
  readonly sessionIdleMinutes: number;
  /** From the sign-in on, however much it is used. */
  readonly sessionLifetimeDays: number;
  /** Who must sign in with a second factor; whoever has one is always asked for it. */
  readonly mfa: MfaPolicy;
}

/** How the service presents itself to people; null: there is no such link. */
export interface Branding {
  readonly name: string;
  readonly supportUrl: string | null;
  readonly privacyUrl: string | null;
  readonly termsUrl: string | null;
}

/** What becomes of the audit log. */
export interface AuditSettings {
  /** null: it is kept for ever. */
  readonly retentionDays: number | null;
}

export interface Settings {
  readonly 'sign-in': SignInSettings;
  readonly password: PasswordPolicy;
  readonly branding: Branding;
  readonly audit: AuditSettings;
}

export type SettingsName = keyof Settings;

export const DEFAULTS: Settings = {
  'sign-in': { sessionIdleMinutes: LIFETIMES.sessionIdle / 60, sessionLifetimeDays: LIFETIMES.session / 86_400, mfa: 'OPTIONAL' },
  password: { minLength: SHORTEST_PASSWORD, historyCount: PASSWORD_HISTORY, maxAgeDays: null },
  branding: BRAND,
  audit: { retentionDays: null },
};

const withDefaults = <N extends SettingsName>(name: N, set: Readonly<Record<string, unknown>> = {}): Settings[N] => ({
  ...DEFAULTS[name],
  ...(set as Partial<Settings[N]>),
});

/** As they are now, from the database. */
export async function readSettings<N extends SettingsName>({ database }: Pick<Services, 'database'>, name: N): Promise<Settings[N]> {
  return withDefaults(name, await findSettings(database.knex, name));
}

/** @param set replaces all that was set before; what is absent returns to its default */
export async function replaceSettings<N extends SettingsName>(
  services: Services,
  name: N,
  set: Partial<Settings[N]>,
  request: RequestContext,
): Promise<Settings[N]> {
  const { database, notifications } = services;
  const after = withDefaults(name, set);
  await database.transaction(async (trx) => {
    const now = present();
    const before = withDefaults(name, await lockSettings(trx, name, now));
    await updateSettings(trx, name, set, now);
    await recordEvent(trx, {
      eventType: 'system.settings.update',
      displayMessage: 'Update settings',
      request,
      targets: [{ id: name, type: 'Settings', displayName: name }],
      before,
      after,
    });
    await notifications.publish(trx, { kind: 'settings', id: name });
  });
  notifications.announce({ kind: 'settings', id: name });
  return after;
}

/** @param executor a transaction, where the policy is asked for within one */
export const readPasswordPolicy = async (executor: Executor): Promise<PasswordPolicy> =>
  withDefaults('password', await findSettings(executor, 'password'));
