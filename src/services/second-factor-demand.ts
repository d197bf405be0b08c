/** Must somebody use a second factor, here and now? Collects the facts; policy/second-factor.ts decides. */
import { demandsSecondFactor } from '../policy/second-factor.ts';
import { findApplicationById } from '../store/applications.ts';
import { hasFactor } from '../store/factors.ts';
import { isAdministrator } from './administrators.ts';
import type { Services } from './dependencies.ts';
import { readSettings } from './settings.ts';

export interface Purpose {
  readonly applicationId?: string | undefined;
  /** Requested authentication context classes, the best first. */
  readonly acrValues?: readonly string[] | undefined;
}

/** Is it demanded by the sign-in policy, the application or the request, whether the user has one or not? */
export async function isSecondFactorDemanded(
  services: Services,
  userId: string,
  { applicationId, acrValues = [] }: Purpose,
): Promise<boolean> {
  const { mfa: policy } = await readSettings(services, 'sign-in');
  const application = applicationId === undefined ? undefined : await findApplicationById(services.database.knex, applicationId);
  return demandsSecondFactor({
    policy,
    administrator: policy === 'ADMINISTRATORS' && (await isAdministrator(services, userId)),
    applicationDemands: application?.settings.mfa_required === true,
    acrValues,
  });
}

/** Must the user be asked for a second factor at a sign-in to this application: because he has one, or because it is demanded? */
export const needsSecondFactor = async (services: Services, userId: string, applicationId: string): Promise<boolean> =>
  (await hasFactor(services.database.knex, userId)) || isSecondFactorDemanded(services, userId, { applicationId });
