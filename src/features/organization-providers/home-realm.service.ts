/**
 * Home-realm discovery: the providers of a user name's domain, and the provider that a domain requires. All other ways to sign in redirect there or
 * are refused (docs/decisions/0081).
 */

import type { Services } from '../../platform/database/dependencies.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { identityProviderTarget } from '../identity-providers/identity-providers.service.ts';
import { hasOrganizationProviders } from '../identity-providers/upstream-offers.service.ts';
import { SignInDenied } from '../sign-in-rules/sign-in-rules.service.ts';
import { userTarget } from '../users/user-reach.service.ts';
import type { User } from '../users/users.resource.ts';
import { type DomainProvider, findDomainProviders, findRequiredProvider, type RequiredProvider } from './home-realm.store.ts';

/**
 * Active providers of the domain, the required one first. No user is looked up. Without any organization's provider, the database is not queried.
 * @param domain in ASCII; undefined: the user name has none
 */
export const providersOfDomain = async (services: Services, domain: string | undefined): Promise<readonly DomainProvider[]> =>
  (await hasOrganizationProviders(services)) ? findDomainProviders(services.database.pool, domain) : [];

/** The user has authenticated, but must do so with this provider. */
export class ProviderRequired extends SignInDenied {
  constructor(readonly provider: RequiredProvider) {
    super();
  }
}

/** The authenticated user and the provider. */
interface Proved {
  readonly user: Pick<User, 'id' | 'login'>;
  readonly amr: readonly string[];
  readonly idp?: string | null | undefined;
}

/** @throws {ProviderRequired} the user must sign in with another provider; also recorded in the audit log */
export async function enforceRequiredProvider({ database }: Services, { user, amr, idp }: Proved, request: RequestContext): Promise<void> {
  const required = await findRequiredProvider(database.knex, user.id);
  if (required === undefined || required.id === idp) return;
  await recordEvent(database.knex, {
    eventType: 'policy.evaluate_sign_on',
    displayMessage: 'Evaluation of sign-on policy',
    request,
    targets: [userTarget(user), identityProviderTarget(required)],
    failure: 'PROVIDER_REQUIRED',
    decision: { kind: 'provider-required', provider: required.name, amr },
  });
  throw new ProviderRequired(required);
}
