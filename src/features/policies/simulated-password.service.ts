/** Simulates the password grant. features/passwords and features/second-factors decide, as for a real request. */
import type { Services } from '../../platform/database/dependencies.ts';
import { passwordRefusal } from '../passwords/password-sign-in.service.ts';
import { requiresSecondFactor } from '../second-factors/second-factor-requirement.service.ts';
import type { SignInDecision } from '../sign-in-rules/sign-in-rules.policy.ts';
import type { SimulationFacts } from './simulation-facts.policy.ts';

/** Reason if a rule of the sign-in policy has the action DENY. */
export const DENIED = 'a rule of the sign-in policy refuses the sign-in';
const WITHOUT_PASSWORD = {
  METHOD: 'the sign-in policy does not allow passwords',
  PROVIDER: 'the user must sign in with an identity provider',
} as const;

/** Why the password grant, which cannot ask for a second factor, does not sign the user in. */
export async function evaluatePasswordGrant(
  services: Services,
  userId: string,
  applicationId: string,
  signIn: SignInDecision | undefined,
): Promise<NonNullable<SimulationFacts['byPassword']>> {
  const refused = await passwordRefusal(services, services.database.knex, userId);
  return {
    refusal: refused && { error: 'invalid_grant', reason: WITHOUT_PASSWORD[refused.reason] },
    aloneRefusal: await refusalAlone(services, userId, applicationId, signIn?.action),
  };
}

async function refusalAlone(services: Services, userId: string, applicationId: string, action: SignInDecision['action'] | undefined) {
  if (action === 'DENY') return { error: 'invalid_grant', reason: DENIED };
  if (action !== 'SECOND_FACTOR' && !(await requiresSecondFactor(services, userId, applicationId))) return undefined;
  return { error: 'invalid_grant', reason: 'the user needs a second factor, which this grant does not support' };
}
