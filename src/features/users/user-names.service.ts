/** Rules for a user's names: login and e-mail address. */

import type { Executor } from '../../platform/database/database.ts';
import { domainOfAddress } from '../../platform/dns/domain-name.ts';
import { conflict } from '../../platform/errors/errors.ts';
import { reachOf } from '../administrators/administration.policy.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { listActiveIdentityProviders } from '../identity-providers/identity-providers.store.ts';
import { findConnectedOrganization } from '../organization-providers/organization-providers.store.ts';
import type { User } from './users.resource.ts';
import { findTakenNames } from './users.store.ts';

/** @returns the error for a login of another user */
export const loginTaken = () => conflict({ field: 'profile.login', message: 'another user has this user name. Choose another one' });

/**
 * @param before undefined: the user is new
 * @throws {ApiError} conflict
 */
export async function refuseNames(trx: Executor, before: User | undefined, after: User, request: RequestContext): Promise<void> {
  await refuseTakenNames(trx, after, request);
  await refuseVouchedNames(trx, before, after, request);
}

/**
 * Login and e-mail address both name an account at sign-in, so none may be another account's other name. An address that several share names
 * nobody: only who administers the whole service may bring that about.
 * @throws {ApiError} conflict
 */
async function refuseTakenNames(trx: Executor, user: User, request: RequestContext): Promise<void> {
  const taken = await findTakenNames(trx, user);
  if (taken.has('login'))
    throw conflict({ field: 'profile.login', message: 'is already the e-mail address of another user. Choose another one' });
  if (taken.has('email as login'))
    throw conflict({ field: 'profile.email', message: 'is already the user name of another user. Choose another one' });
  if (taken.has('login as login')) throw loginTaken();
  const mayShare = reachOf(request.roles ?? [], 'write') === 'everything';
  if (taken.has('email') && !mayShare)
    throw conflict({ field: 'profile.email', message: 'another user has this e-mail address. Choose another one' });
}

/**
 * A provider vouches for the addresses of its domains, an organization's provider for those of the organization. An administrator of an organization may not make accounts with them, unless the provider's own
 * users belong to that organization.
 * @throws {ApiError} conflict
 */
async function refuseVouchedNames(
  trx: Executor,
  before: Pick<User, 'login' | 'email'> | undefined,
  after: Pick<User, 'login' | 'email'>,
  request: RequestContext,
): Promise<void> {
  const reach = reachOf(request.roles ?? [], 'write');
  if (reach === 'everything') return;
  const providers = await listActiveIdentityProviders(trx);
  const foreign = providers.filter(
    ({
      policy: {
        provisioning: { orgId },
      },
    }) => orgId === undefined || !reach.has(orgId),
  );
  const domains = new Set(foreign.flatMap(({ policy }) => policy.subject.emailDomains ?? []));
  for (const name of ['login', 'email'] as const) {
    const value = after[name];
    if (value === null || value === before?.[name]) continue;
    const domain = domainOfAddress(value);
    const owner = await findConnectedOrganization(trx, domain);
    if ((domain !== undefined && domains.has(domain)) || (owner !== undefined && !reach.has(owner)))
      throw conflict({
        field: `profile.${name}`,
        message: 'is in a domain of an identity provider. Only an administrator of the whole service can use it',
      });
  }
}
