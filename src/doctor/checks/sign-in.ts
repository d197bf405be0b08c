/** Do the sign-in methods, the sign-up, the sign-in rules about countries, and the check for breached passwords have what they need? */

import { isIP } from 'node:net';
import { tryRangeServer } from '../../features/passwords/breached-passwords.service.ts';
import { readPasswordPolicy, readSettings } from '../../features/settings/settings.service.ts';
import { present } from '../../platform/clock/clock.ts';
import { isLoopbackHost } from '../../platform/config/config.ts';
import { openCountryDatabase } from '../../platform/geo/country-database.ts';
import { Broken, must, type Rule, Skipped, section } from '../rule.ts';
import { type CheckContext, ownConfig, read, readStored } from './check-context.ts';

interface SignInSettings {
  readonly messageFactors: readonly string[];
  readonly passkeyOffer: boolean;
  readonly passwordOptional: boolean;
}

const readSignIn = async (context: CheckContext) => (await read(context, '/settings/sign-in')) as SignInSettings;

export const signInChecks: readonly Rule<CheckContext>[] = section('Sign-in', [
  {
    id: 'sign-in.phone-codes',
    sentence: 'If codes by phone are a second factor, a webhook sends them.',
    async run(context) {
      const allowed = (await readSignIn(context)).messageFactors.filter((name) => name === 'sms' || name === 'call');
      const { url } = (await read(context, '/settings/telephony')) as { readonly url: string | null };
      must(
        allowed.length === 0 || url !== null,
        `messageFactors of settings/sign-in has ${allowed.join(' and ')}, but nothing sends these codes: set url of settings/telephony, or remove the kinds`,
      );
    },
  },
  {
    id: 'sign-in.bots',
    sentence: 'If sign-up is on, automated sign-ups are slowed down.',
    async run(context) {
      const { enabled } = (await read(context, '/settings/registration')) as { readonly enabled: boolean };
      const { signUp } = (await read(context, '/settings/bots')) as { readonly signUp: string };
      must(!enabled || signUp !== 'OFF', 'signUp of settings/bots is OFF: set it to ADAPTIVE');
    },
  },
  {
    id: 'sign-in.passkey-offer',
    sentence: 'If passkeys are offered or replace passwords, browsers can create them for this address.',
    async run(context) {
      const { passkeyOffer, passwordOptional } = await readSignIn(context);
      const { protocol, hostname } = new URL(context.url);
      const host = hostname.replace(/^\[|\]$/g, '');
      const isPossible = isIP(host) === 0 && (protocol === 'https:' || isLoopbackHost(host));
      const isOffered = passkeyOffer || passwordOptional;
      must(
        !isOffered || isPossible,
        `browsers create passkeys only for host names with https, so not for ${context.url}: change BASE_URL, or stop offering passkeys`,
      );
    },
  },
]);

const OLDEST_DAYS = 90;
const DAY_MS = 86_400_000;

async function usesCountries(context: CheckContext): Promise<boolean> {
  const { rules } = await readStored(context, (database) => readSettings({ database }, 'sign-in'));
  return rules.some(({ conditions }) => conditions.newCountry !== undefined);
}

export const countryChecks: readonly Rule<CheckContext>[] = section('Countries', [
  {
    id: 'countries.database',
    sentence: `If a sign-in rule uses countries, GEO_DATABASE_FILE exists and is at most ${OLDEST_DAYS} days old.`,
    async run(context) {
      const { geoDatabaseFile: file } = ownConfig(context);
      if (file === undefined) {
        if (!(await usesCountries(context))) throw new Skipped('no sign-in rule uses countries');
        throw new Broken('a rule of settings/sign-in uses newCountry but never matches: set GEO_DATABASE_FILE');
      }
      const { built } = await openCountryDatabase(file).catch((error: Error) => {
        throw new Broken(`${file} cannot be read: ${error.message}`);
      });
      const days = Math.floor((present().getTime() - built.getTime()) / DAY_MS);
      must(days <= OLDEST_DAYS, `${file} was built ${days} days ago: replace it with a newer one; no restart is needed`);
      return `built on ${built.toISOString().slice(0, 10)}`;
    },
  },
]);

// Checks that the breached-password server responds when the check is on. The requested range reveals nothing.

export const passwordChecks: readonly Rule<CheckContext>[] = section('Passwords', [
  {
    id: 'passwords.range-server',
    sentence: 'The breached-password server responds. While it does not, breached passwords are accepted.',
    async run(context) {
      const config = ownConfig(context);
      const policy = await readStored(context, ({ knex }) => readPasswordPolicy(knex));
      if (policy.breached === 'OFF') throw new Skipped('the check for breached passwords is off');
      try {
        await tryRangeServer(config, policy);
      } catch (error) {
        throw new Broken(
          `check breachedRangeUrl of settings/password, and that this network allows outbound requests: ${(error as Error).message}`,
        );
      }
    },
  },
]);
