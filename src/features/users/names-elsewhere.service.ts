/**
 * User names, e-mail addresses and unique values belong to one user of the whole installation, so a refusal reveals to an administrator of an
 * organization that a user elsewhere has one. All such refusals are identical and counted: after too many, nothing is looked up for the organization
 * for a while (docs/decisions/0012).
 */
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { domainOfAddress } from '../../platform/dns/domain-name.ts';
import { ApiError, conflict, rateLimited } from '../../platform/errors/errors.ts';
import type { Reach } from '../administrators/administration.policy.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { hasVerifiedDomain } from '../organization-domains/organization-domains.store.ts';
import { target } from '../organizations/organizations.service.ts';
import { findOrganization } from '../organizations/organizations.store.ts';
import { countNameElsewhere, secondsWithoutNames } from '../sign-in/failure-limits.service.ts';

/** The organizations of an administrator who does not administer the whole service, by ID. */
export type OwnOrganizations = Exclude<Reach, 'everything'>;

/** The organization under which refusals are counted: for an administrator of several, always the same one. */
const countedFor = (reach: OwnOrganizations): string => [...reach].sort()[0] ?? '';

/** Refusal of a name or value that belongs to another user; the code that handles the call passes it to {@link countElsewhere}. */
export class UsedElsewhere extends ApiError {
  readonly orgId: string;

  constructor(
    field: string,
    reach: OwnOrganizations,
    readonly request: RequestContext,
  ) {
    const { errorCode, status, summary, causes } = conflict({
      field,
      message: 'is not available. Choose another one, or invite the user to the organization',
    });
    super(errorCode, status, summary, causes);
    this.orgId = countedFor(reach);
  }
}

/** Not within a transaction: it uses its own connection. Reaching the limit is recorded once, not for each later attempt. */
export async function countElsewhere(services: Services, error: unknown): Promise<void> {
  if (!(error instanceof UsedElsewhere && (await countNameElsewhere(services, error.orgId)))) return;
  const { knex } = services.database;
  const organization = await findOrganization(knex, error.orgId);
  await recordEvent(knex, {
    eventType: 'security.request.blocked',
    displayMessage: 'New names are refused for an organization',
    request: error.request,
    targets: organization === undefined ? [] : [target(organization)],
    failure: 'TOO_MANY_NAMES_TAKEN',
  });
}

/** Is the address in a verified domain of these organizations? The owner of a domain can read all its e-mail. */
export const isInOwnDomain = (executor: Executor, reach: OwnOrganizations, address: string): Promise<boolean> =>
  hasVerifiedDomain(executor, [...reach], domainOfAddress(address) ?? '');

/**
 * Call before names or values are looked up.
 * @param names to be looked up; none: something other than names
 * @throws {ApiError} rate limited, whether they are taken or not
 */
export async function refuseGuesses(trx: Executor, reach: Reach, names: readonly string[] = []): Promise<void> {
  const wait = reach === 'everything' ? undefined : await secondsWithoutNames(trx, countedFor(reach));
  if (wait === undefined || reach === 'everything') return;
  const own = await Promise.all(names.map((name) => isInOwnDomain(trx, reach, name)));
  if (own.length === 0 || own.includes(false))
    throw rateLimited(wait, 'too many names were not available recently. Try again in an hour, or invite the users to the organization');
}
