/** The webhook of `settings/telephony`, read and changed; its secret is sealed, and never leaves. */
import type { Services } from '../../platform/database/dependencies.ts';
import { validation } from '../../platform/errors/errors.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { sealSigningSecret } from '../event-hooks/hook-secrets.service.ts';
import { decideSettings, readSettings } from '../settings/settings.service.ts';
import {
  NO_TELEPHONY,
  TELEPHONY,
  type TelephonySettings,
  type TelephonySettingsBody,
  telephonyProblems,
} from './telephony-settings.resource.ts';

export interface ShownTelephony extends Omit<TelephonySettings, 'secret'> {
  readonly secretSet: boolean;
}

const shown = ({ url, secret, prefixes, mostPerDay }: TelephonySettings): ShownTelephony => ({
  ...{ url, prefixes, mostPerDay },
  secretSet: secret !== null,
});

/** Current settings from the database. */
export const readTelephony = async (services: Pick<Services, 'database'>): Promise<ShownTelephony> =>
  shown(await readSettings(services, 'telephony'));

/**
 * @param body replaces what was set before; an absent secret stays as it is
 * @throws {ApiError} validation
 */
export async function replaceTelephony(services: Services, body: TelephonySettingsBody, request: RequestContext): Promise<ShownTelephony> {
  const { secret, ...rest } = body;
  const after = await decideSettings(
    services,
    'telephony',
    (stored) => {
      const before = { ...NO_TELEPHONY, ...stored };
      const problems = telephonyProblems(before, body);
      if (problems.length > 0) throw validation(problems);
      const sealed = secret === undefined ? before.secret : { sealed: sealSigningSecret(services.keyring, TELEPHONY, TELEPHONY, secret) };
      return { ...rest, ...(sealed !== null && (rest.url ?? null) !== null && { secret: sealed }) };
    },
    request,
  );
  return shown(after);
}
