/**
 * Makes users members when they sign in with their organization's provider, if the organization wants that and nobody else could have prepared the
 * account.
 */
import { present } from '../../platform/clock/clock.ts';
import type { Executor } from '../../platform/database/database.ts';
import { domainOfAddress } from '../../platform/dns/domain-name.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import type { IdentityProvider } from '../identity-providers/identity-providers.resource.ts';
import { findOrgIdsEver, insertMembership } from '../organizations/memberships.store.ts';
import { target as organizationTarget } from '../organizations/organizations.service.ts';
import { gainsRights } from '../sign-in/credential-revocation.service.ts';
import { userTarget } from '../users/user-reach.service.ts';
import type { User } from '../users/users.resource.ts';
import { type DomainConnection, findDomainConnection, isOrganizationProvider } from './organization-providers.store.ts';

/** @returns the organization that has verified the domain of the address and connected it with the provider; undefined: none */
export async function connectionOf(executor: Executor, idpId: string, email: string | undefined): Promise<DomainConnection | undefined> {
  const domain = email === undefined ? undefined : domainOfAddress(email);
  return domain === undefined ? undefined : findDomainConnection(executor, idpId, domain);
}

/**
 * Does the provider belong to organizations, and the address to none of their domains? Then the provider is not trusted for the address, because its
 * owner can send any address.
 */
export const isOutside = async (executor: Executor, idpId: string, email: string | undefined): Promise<boolean> =>
  (await connectionOf(executor, idpId, email)) === undefined && (await isOrganizationProvider(executor, idpId));

/** User who signed in with a provider. */
interface Newcomer {
  /** E-mail address that the provider has verified. */
  readonly email: string | undefined;
  readonly user: Pick<User, 'id' | 'login'>;
  /** Was the account created by this sign-in? Accounts that existed before remain the user's own. */
  readonly isNew: boolean;
}

/**
 * Adds the user to the organization of the domain. Call in the transaction of the sign-in. Members of other organizations do not join automatically,
 * because administrators there may be able to sign in as them.
 */
export async function joinOrganization(
  trx: Executor,
  provider: Pick<IdentityProvider, 'id'>,
  { email, user, isNew }: Newcomer,
  request: RequestContext,
): Promise<void> {
  const connection = await connectionOf(trx, provider.id, email);
  if (connection === undefined || !connection.autoJoin) return;
  const { orgId, orgName, defaultDepId } = connection;
  // Users who were removed are not added again automatically.
  if ((await findOrgIdsEver(trx, user.id)).includes(orgId) || (await gainsRights(trx, user.id, { orgId }))) return;
  await insertMembership(trx, { orgId, userId: user.id, depId: defaultDepId ?? undefined }, present(), { isJoined: !isNew });
  await recordEvent(trx, {
    eventType: 'org.membership.add',
    displayMessage: 'Add member to organization',
    request,
    targets: [userTarget(user), organizationTarget({ id: orgId, name: orgName })],
    after: { depId: defaultDepId ?? '', idpId: provider.id },
  });
}
