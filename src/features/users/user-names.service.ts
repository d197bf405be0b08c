/** Rules for a user's names: user name and e-mail address. */

import type { Executor } from '../../platform/database/database.ts';
import { domainOfAddress } from '../../platform/dns/domain-name.ts';
import { conflict } from '../../platform/errors/errors.ts';
import { reachOf } from '../administrators/administration.policy.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { isVouchedFor } from '../identity-providers/identity-providers.store.ts';
import { findConnectedOrganization } from '../organization-providers/organization-providers.store.ts';
import { isAnyMember } from '../organizations/memberships.store.ts';
import { isInOwnDomain, type OwnOrganizations, refuseGuesses, UsedElsewhere } from './names-elsewhere.service.ts';
import type { User } from './users.resource.ts';
import { findTakenNames, type TakenName } from './users.store.ts';

/** @returns the error for a login of another user */
export const loginTaken = () => conflict(TAKEN['login as login'].problem);

const ofLogin = (message: string) => ({ name: 'login', problem: { field: 'profile.login', message } }) as const;
const ofEmail = (message: string) => ({ name: 'email', problem: { field: 'profile.email', message } }) as const;

const TAKEN = {
  login: ofLogin('is already the e-mail address of another user. Choose another one'),
  'email as login': ofEmail('is already the user name of another user. Choose another one'),
  'login as login': ofLogin('another user has this user name. Choose another one'),
  email: ofEmail('another user has this e-mail address. Choose another one'),
} as const satisfies Readonly<Record<TakenName, object>>;

/**
 * Both the login and the e-mail address name an account at sign-in, so neither may be a name of another account. An address that several users share
 * names nobody: only administrators of the whole service may cause that.
 * @param before undefined: the user is new
 * @throws {ApiError} conflict; rate limited for administrators of organizations, see names-elsewhere.service.ts
 */
export async function refuseNames(trx: Executor, before: User | undefined, after: User, request: RequestContext): Promise<void> {
  const reach = reachOf(request.roles ?? [], 'write');
  const changed = (['login', 'email'] as const).filter((name) => after[name] !== null && after[name] !== before?.[name]);
  if (changed.length > 0)
    await refuseGuesses(
      trx,
      reach,
      changed.map((name) => after[name] ?? ''),
    );
  const taken = await findTakenNames(trx, after);
  for (const [kind, { name, problem }] of Object.entries(TAKEN)) {
    const holders = taken.get(kind as TakenName);
    if (holders === undefined || (kind === 'email' && reach === 'everything')) continue;
    if (reach === 'everything' || (await isAnyMember(trx, holders, reach)) || (await isInOwnDomain(trx, reach, after[name] ?? '')))
      throw conflict(problem);
    throw new UsedElsewhere(problem.field, reach, request);
  }
  if (reach !== 'everything')
    for (const name of changed)
      if (await isOfOthers(trx, after[name] ?? '', reach)) throw new UsedElsewhere(`profile.${name}`, reach, request);
}

/**
 * A provider is trusted for the addresses of its domains, an organization's provider for those of the organization. An organization's administrator
 * cannot create accounts with them, unless the provider's own users belong to that organization.
 */
async function isOfOthers(trx: Executor, address: string, reach: OwnOrganizations): Promise<boolean> {
  const domain = domainOfAddress(address);
  const owner = await findConnectedOrganization(trx, domain);
  return (owner !== undefined && !reach.has(owner)) || (domain !== undefined && (await isVouchedFor(trx, domain, [...reach])));
}
