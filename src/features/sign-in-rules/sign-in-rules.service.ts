/** Evaluates a sign-in by the rules of the sign-in policy: collects the facts, and records results other than plain permission. */
import { present } from '../../platform/clock/clock.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { isInNetworks } from '../../platform/validation/addresses.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { currentSettings, currentZones } from '../settings/settings-cache.service.ts';
import { hasSignedInWith } from '../sign-in/failed-sign-ins.store.ts';
import { countryFact } from '../sign-in-countries/sign-in-countries.service.ts';
import { userTarget } from '../users/user-reach.service.ts';
import type { User } from '../users/users.resource.ts';
import { findUserById } from '../users/users.store.ts';
import { decideSignIn, type SignInDecision, type SignInFacts } from './sign-in-rules.policy.ts';

/** A rule of the sign-in policy refuses the sign-in, or requires a second factor that the user does not have. */
export class SignInDenied extends Error {
  override readonly name: string = 'SignInDenied';
}

const ALLOWED: SignInDecision = { action: 'ALLOW', rule: undefined, steps: [] };

/** @returns the names of the zones that the address is in */
export async function zonesAround(services: Services, address: string | undefined): Promise<readonly string[]> {
  return (await currentZones(services)).filter(({ networks }) => isInNetworks(networks, address)).map(({ name }) => name);
}

/** Are there rules, so that sign-ins must be evaluated? */
export const hasSignInRules = async (services: Services): Promise<boolean> => (await currentSettings(services, 'sign-in')).rules.length > 0;

/** Reads only what the rules need. A request without a device cookie comes from a new browser. */
async function evaluateSignIn(
  services: Services,
  user: Pick<User, 'id'>,
  { ipAddress, device }: Pick<RequestContext, 'ipAddress' | 'device'>,
): Promise<SignInDecision> {
  const { rules } = await currentSettings(services, 'sign-in');
  if (rules.length === 0) return ALLOWED;
  const { knex } = services.database;
  const now = present();
  const asks = (name: 'newBrowser' | 'newCountry' | 'daysSinceLastSignIn') =>
    rules.some(({ conditions }) => conditions[name] !== undefined);
  const facts: SignInFacts = {
    zones: await zonesAround(services, ipAddress),
    newBrowser: asks('newBrowser') && (device === undefined || !(await hasSignedInWith(knex, user.id, digest(device), now))),
    country: asks('newCountry') ? await countryFact(services, user.id, ipAddress, now) : 'unknown',
    lastSignIn: asks('daysSinceLastSignIn') ? ((await findUserById(knex, user.id))?.lastLogin ?? undefined) : undefined,
  };
  return decideSignIn(rules, facts, now);
}

/**
 * Evaluates a sign-in on pages or by API, and records an event if a rule refuses it or requires a factor.
 * @param proof.canProve does the user have a second factor, or have they used one? One that is set up at a risky sign-in does not count
 * @returns whether a second factor must be used
 * @throws {SignInDenied}
 */
export async function admitSignIn(
  services: Services,
  user: Pick<User, 'id' | 'login'>,
  { canProve }: { readonly canProve: boolean },
  request: RequestContext,
): Promise<boolean> {
  const { action, rule, steps } = await evaluateSignIn(services, user, request);
  if (action === 'ALLOW' || rule === undefined) return false;
  const isDenied = action === 'DENY' || !canProve;
  await recordEvent(services.database.knex, {
    eventType: 'policy.evaluate_sign_on',
    displayMessage: 'Evaluation of sign-on policy',
    request,
    targets: [userTarget(user)],
    ...(isDenied && { failure: action === 'DENY' ? 'SIGN_IN_DENIED' : 'NO_SECOND_FACTOR' }),
    decision: { kind: 'sign-in-rule', action, rule: rule.name, canProve, steps },
  });
  if (isDenied) throw new SignInDenied();
  return true;
}
