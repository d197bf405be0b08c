/** Writes related data of imported users, and their events. */
import type { Keyring } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import { assignmentEvent } from '../applications/application-assignments.service.ts';
import { recordQuietEvents } from '../audit/audit.service.ts';
import type { Event, RequestContext } from '../audit/audit-event.policy.ts';
import { membershipEvent } from '../groups/groups.service.ts';
import { newTotpFactor } from '../second-factors/factors.service.ts';
import { userTarget } from '../users/user-reach.service.ts';
import type { User } from '../users/users.resource.ts';
import { profileFields } from '../users/users.service.ts';
import type { ImportedUser } from './import-record.service.ts';
import {
  insertAssignedRoles,
  insertAssignments,
  insertFactors,
  insertGroupMembers,
  insertLinks,
  insertMemberships,
  type NewMembership,
} from './user-batches.store.ts';
import type { References } from './user-references.service.ts';

interface Written {
  readonly user: User;
  readonly given: ImportedUser;
}

interface Writer {
  readonly services: { readonly keyring: Keyring };
  readonly request: RequestContext;
}

/** @param accepted users whose rows were inserted and whose references were checked in the same transaction */
export async function writeBelongings(
  trx: Executor,
  { services, request }: Writer,
  accepted: readonly Written[],
  references: References,
): Promise<void> {
  const { groups, providers, roles } = references;
  await insertMemberships(
    trx,
    accepted.flatMap((one) => membershipsOf(one, references)),
  );
  const joined = accepted.flatMap(({ user, given }) =>
    distinct(given.groups).map((name) => ({ user, group: { id: groups.get(name) ?? '', name } })),
  );
  await insertGroupMembers(
    trx,
    joined.map(({ user, group }) => ({ group_id: group.id, user_id: user.id, created: user.created })),
  );
  await insertFactors(
    trx,
    accepted.flatMap(({ user, given }) =>
      given.factors.map(({ secret, name }) => ({ ...newTotpFactor(services.keyring, user.id, secret), name })),
    ),
  );
  await insertLinks(
    trx,
    accepted.flatMap(({ user, given }) =>
      given.links.map(({ provider, subject, knownAs = null }) => ({
        ...{ idp_id: providers.get(provider)?.id ?? '', subject, user_id: user.id },
        ...{ known_as: knownAs, created: user.created },
      })),
    ),
  );
  const assigned = accepted.flatMap(({ user, given }) => assignmentsOf(given).map(([clientId, names]) => ({ user, clientId, names })));
  await insertAssignments(
    trx,
    assigned.map(({ user, clientId }) => ({ application_id: clientId, user_id: user.id, created: user.created })),
  );
  await insertAssignedRoles(
    trx,
    assigned.flatMap(({ user, clientId, names }) =>
      names.map((name) => ({ application_id: clientId, user_id: user.id, role_id: roles.get(clientId)?.get(name) ?? '' })),
    ),
  );
  const events: Event[] = [
    ...accepted.map((one) => creationEvent(one, references, request)),
    ...joined.map(({ user, group }) => membershipEvent('add', group, user, request)),
    ...assigned.map(({ user, clientId, names }) => {
      const application = { id: clientId, label: references.applications.get(clientId) ?? clientId };
      return assignmentEvent('add', application, 'user', userTarget(user), request, { after: names });
    }),
  ];
  for (let from = 0; from < events.length; from += EVENTS_AT_ONCE) await recordQuietEvents(trx, events.slice(from, from + EVENTS_AT_ONCE));
}

const EVENTS_AT_ONCE = 1000;

const distinct = (names: readonly string[]): string[] => [...new Set(names)];

function membershipsOf({ user, given: { orgId, depId, organizations } }: Written, references: References): NewMembership[] {
  const byName = organizations.map((name) => references.organizations.get(name) ?? '');
  const ids = distinct([...(orgId === undefined ? [] : [orgId]), ...byName]);
  return ids.map((id) => ({ org_id: id, dep_id: (id === orgId && depId) || null, user_id: user.id, created: user.created }));
}

/** Roles by client ID: a file may contain an application twice. */
function assignmentsOf({ applications }: ImportedUser): [string, string[]][] {
  const merged = new Map<string, Set<string>>();
  for (const { clientId, roles } of applications) merged.set(clientId, new Set([...(merged.get(clientId) ?? []), ...roles]));
  return [...merged].map(([clientId, roles]) => [clientId, [...roles].sort()]);
}

const creationEvent = (written: Written, references: References, request: RequestContext): Event => {
  const { user, given } = written;
  return {
    eventType: 'user.lifecycle.create',
    displayMessage: 'Create user',
    request,
    targets: [userTarget(user)],
    after: {
      status: user.status,
      profile: profileFields(user),
      orgId: given.orgId,
      depId: given.depId,
      ...(given.organizations.length > 0 && { orgIds: membershipsOf(written, references).map(({ org_id }) => org_id) }),
      ...(given.factors.length > 0 && { factors: given.factors.map(({ type, name }) => ({ type, name })) }),
      ...(given.links.length > 0 && { links: given.links.map(({ provider, subject }) => ({ provider, subject })) }),
    },
  };
};
