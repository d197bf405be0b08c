/** Applies bulk actions to single rows with the same services, rules and events as for a single user. */
import type { Services } from '../../platform/database/dependencies.ts';
import { wrongState } from '../../platform/errors/errors.ts';
import { parse } from '../../platform/validation/parsing.ts';
import type { Access } from '../administrators/administration.policy.ts';
import { listRoles, revokeRole } from '../administrators/user-roles.service.ts';
import { revokeApiToken } from '../api-tokens/api-tokens.service.ts';
import { deleteApplicationRole } from '../application-roles/application-roles.service.ts';
import { assign, unassign } from '../applications/application-assignments.service.ts';
import { deleteApplication, setApplicationStatus } from '../applications/applications.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { deleteAuthorizationServer, setServerStatus } from '../authorization-servers/authorization-servers.service.ts';
import { deleteServerClaim } from '../claims/claims.service.ts';
import { revokeGrant } from '../consents/consents.service.ts';
import { sendAgain } from '../event-hooks/event-hook-deliveries.service.ts';
import { deleteEventHook, setEventHookStatus } from '../event-hooks/event-hooks.service.ts';
import { addGroupMembers, deleteGroup, removeGroupMember } from '../groups/groups.service.ts';
import { unlinkUser } from '../identity-providers/identity-provider-links.service.ts';
import { deleteIdentityProvider, setIdentityProviderStatus } from '../identity-providers/identity-providers.service.ts';
import { deleteInlineHook, setInlineHookStatus } from '../inline-hooks/inline-hooks.service.ts';
import { deleteZone } from '../network-zones/network-zones.service.ts';
import { removeDomain } from '../organization-domains/organization-domains.service.ts';
import { resendInvitation, revokeInvitation } from '../organization-invitations/organization-invitations.service.ts';
import { removeProviderOf } from '../organization-providers/organization-providers.service.ts';
import { deleteOrganizationRole } from '../organization-roles/organization-roles.service.ts';
import { removeMember } from '../organizations/members.service.ts';
import { deleteOrganization } from '../organizations/organizations.service.ts';
import type { PolicyStatus } from '../policies/policies.resource.ts';
import { deletePolicy, setPolicyStatus } from '../policies/policies.service.ts';
import { deleteRule, setRuleStatus } from '../policies/policy-rules.service.ts';
import { pushNow } from '../provisioning/provisioning.service.ts';
import { deleteServerScope } from '../scopes/scopes.service.ts';
import { resetUserFactor, resetUserFactors } from '../second-factors/factors.service.ts';
import { clearSessions, endSession } from '../sessions/user-sessions.service.ts';
import type { StreamStatus } from '../signals/signal-streams.resource.ts';
import { deleteSignalStream, setStreamStatus } from '../signals/signal-streams.service.ts';
import { endUserTrust } from '../trusted-browsers/trusted-browsers.service.ts';
import { activateUser, deleteUser, reactivateUser, refuseSignUp, resetPassword, takeStep } from '../users/user-lifecycle.service.ts';
import { newUser } from '../users/user-profile.service.ts';
import { createUser, getUser } from '../users/users.service.ts';
import type { BulkActionName, BulkItem, BulkParameters } from './bulk.resource.ts';

interface BulkAction {
  /** Audience of the action; permissions are checked for each row. */
  readonly access: Access;
  /** @throws {ApiError} the row is refused */
  run(services: Services, item: unknown, parameters: BulkParameters, request: RequestContext): Promise<unknown>;
}

type OnRow = (services: Services, item: BulkItem, request: RequestContext, parameters: BulkParameters) => Promise<unknown>;
type OnUser = (services: Services, userId: string, request: RequestContext, parameters: BulkParameters) => Promise<unknown>;

const onRow = (access: Access, act: OnRow): BulkAction => ({
  access,
  run: (services, item, parameters, request) => act(services, item as BulkItem, request, parameters),
});

const onUser = (access: Access, act: OnUser): BulkAction =>
  onRow(access, (services, { id }, request, parameters) => act(services, id, request, parameters));

const step = (name: Parameters<typeof takeStep>[2]) =>
  onUser('organizations', (services, id, request) => takeStep(services, id, name, request));

const stream = (status: StreamStatus) =>
  onRow('service', (services, { id }, request) => setStreamStatus(services, id, { status, reason: null, notify: true }, request));

const policyStatus = (status: PolicyStatus) =>
  onRow('service', (services, { serverId = '', id }, request) => setPolicyStatus(services, serverId, id, status, request));

const ruleStatus = (status: PolicyStatus) =>
  onRow('service', (services, { serverId = '', policyId = '', id }, request) =>
    setRuleStatus(services, { serverId, policyId }, id, status, request),
  );

export const ACTIONS: Readonly<Record<BulkActionName, BulkAction>> = {
  'users.activate': onUser('organizations', (services, id, request) => activateUser(services, id, { sendEmail: true }, request)),
  'users.refuse': onUser('organizations', (services, id, request) => refuseSignUp(services, id, { sendEmail: true }, request)),
  'users.reactivate': onUser('organizations', (services, id, request) => reactivateUser(services, id, { sendEmail: true }, request)),
  'users.unlock': step('unlock'),
  'users.unsuspend': step('unsuspend'),
  'users.add-to-group': onUser('service', (services, id, request, { groupId = '' }) => addGroupMembers(services, groupId, [id], request)),
  'users.remove-from-group': onUser('service', (services, id, request, { groupId = '' }) =>
    removeGroupMember(services, groupId, id, request),
  ),
  'users.assign-application': onUser('service', (services, id, request, { applicationId = '' }) =>
    assign(services, applicationId, { kind: 'user', id }, request),
  ),
  'users.end-sessions': onUser('organizations', (services, id, request) => clearSessions(services, id, { oauthTokens: true }, request)),
  'users.expire-password': step('expire_password'),
  'users.reset-password': onUser('organizations', (services, id, request) => resetPassword(services, id, { sendEmail: true }, request)),
  'users.reset-factors': onUser('organizations', resetUserFactors),
  'users.suspend': step('suspend'),
  'users.deactivate': step('deactivate'),
  'users.delete': onUser('organizations', async (services, id, request) => {
    const { status } = await getUser(services, id, request);
    if (status !== 'DEPROVISIONED') throw wrongState('deactivate the user first');
    await deleteUser(services, id, request);
  }),
  'members.remove': onRow('organizations', (services, { orgId = '', id }, request) => removeMember(services, orgId, id, request)),
  'applications.activate': onRow('service', (services, { id }, request) => setApplicationStatus(services, id, 'ACTIVE', request)),
  'applications.deactivate': onRow('service', (services, { id }, request) => setApplicationStatus(services, id, 'INACTIVE', request)),
  'applications.delete': onRow('service', (services, { id }, request) => deleteApplication(services, id, request)),
  'groups.delete': onRow('service', (services, { id }, request) => deleteGroup(services, id, request)),
  'organizations.delete': onRow('service', (services, { id }, request) => deleteOrganization(services, id, request)),
  'sessions.end': onRow('organizations', (services, { userId = '', id }, request) => endSession(services, userId, id, request)),
  'consents.revoke': onRow('organizations', (services, { userId = '', id }, request) => revokeGrant(services, userId, id, request)),
  'invitations.resend': onRow('organizations', (services, { orgId = '', id }, request) => resendInvitation(services, orgId, id, request)),
  'invitations.revoke': onRow('organizations', (services, { orgId = '', id }, request) => revokeInvitation(services, orgId, id, request)),
  'tokens.revoke': onRow('organizations', (services, { id }, request) => revokeApiToken(services, id, request)),
  'identity-providers.activate': onRow('service', (services, { id }, request) =>
    setIdentityProviderStatus(services, id, 'ACTIVE', request),
  ),
  'identity-providers.deactivate': onRow('service', (services, { id }, request) =>
    setIdentityProviderStatus(services, id, 'INACTIVE', request),
  ),
  'identity-providers.delete': onRow('service', (services, { id }, request) => deleteIdentityProvider(services, id, request)),
  'event-hooks.activate': onRow('service', (services, { id }, request) => setEventHookStatus(services, id, 'ACTIVE', request)),
  'event-hooks.deactivate': onRow('service', (services, { id }, request) => setEventHookStatus(services, id, 'INACTIVE', request)),
  'event-hooks.delete': onRow('service', (services, { id }, request) => deleteEventHook(services, id, request)),
  'deliveries.repeat': onRow('service', (services, { hookId = '', id }, request) => sendAgain(services, hookId, id, request)),
  'provisioned.retry': onRow('service', (services, { applicationId = '', kind = 'user', id }, request) =>
    pushNow(services, applicationId, { kind, id }, request),
  ),
  'inline-hooks.activate': onRow('service', (services, { id }, request) => setInlineHookStatus(services, id, 'ACTIVE', request)),
  'inline-hooks.deactivate': onRow('service', (services, { id }, request) => setInlineHookStatus(services, id, 'INACTIVE', request)),
  'inline-hooks.delete': onRow('service', (services, { id }, request) => deleteInlineHook(services, id, request)),
  'signal-streams.enable': stream('ENABLED'),
  'signal-streams.pause': stream('PAUSED'),
  'signal-streams.disable': stream('DISABLED'),
  'signal-streams.delete': onRow('service', (services, { id }, request) => deleteSignalStream(services, id, request)),
  'servers.activate': onRow('service', (services, { id }, request) => setServerStatus(services, id, 'ACTIVE', request)),
  'servers.deactivate': onRow('service', (services, { id }, request) => setServerStatus(services, id, 'INACTIVE', request)),
  'servers.delete': onRow('service', (services, { id }, request) => deleteAuthorizationServer(services, id, request)),
  'scopes.delete': onRow('service', (services, { serverId = '', id }, request) => deleteServerScope(services, serverId, id, request)),
  'claims.delete': onRow('service', (services, { serverId = '', id }, request) => deleteServerClaim(services, serverId, id, request)),
  'factors.reset': onRow('organizations', (services, { userId = '', id }, request) => resetUserFactor(services, userId, id, request)),
  'trusted-browsers.end': onRow('organizations', (services, { userId = '', id }, request) => endUserTrust(services, userId, id, request)),
  'administrators.remove-roles': onRow('service', async (services, { id }, request) => {
    for (const role of await listRoles(services, id, request)) await revokeRole(services, id, role.id, request);
  }),
  'roles.remove': onRow('service', (services, { userId = '', id }, request) => revokeRole(services, userId, id, request)),
  'group-memberships.remove': onRow('service', (services, { userId = '', id }, request) =>
    removeGroupMember(services, id, userId, request),
  ),
  'affiliations.remove': onRow('organizations', (services, { userId = '', id }, request) => removeMember(services, id, userId, request)),
  'assignments.remove': onRow('service', async (services, { applicationId = '', userId, groupId = '' }, request) => {
    const assignee = userId === undefined ? ({ kind: 'group', id: groupId } as const) : ({ kind: 'user', id: userId } as const);
    const ended = await unassign(services, applicationId, assignee, request);
    if (ended === undefined) throw wrongState('there is no direct assignment. Remove the assignment of the group');
  }),
  'links.remove': onRow('service', (services, { idpId = '', userId = '' }, request) => unlinkUser(services, idpId, userId, request)),
  'zones.delete': onRow('service', (services, { id }, request) => deleteZone(services, id, request)),
  'application-roles.delete': onRow('service', (services, { applicationId = '', id }, request) =>
    deleteApplicationRole(services, applicationId, id, request),
  ),
  'organization-roles.delete': onRow('organizations', (services, { orgId = '', id }, request) =>
    deleteOrganizationRole(services, orgId, id, request),
  ),
  'domains.remove': onRow('organizations', (services, { orgId = '', id }, request) => removeDomain(services, orgId, id, request)),
  'organization-providers.remove': onRow('organizations', (services, { orgId = '', id }, request) =>
    removeProviderOf(services, orgId, id, request),
  ),
  'policies.activate': policyStatus('ACTIVE'),
  'policies.deactivate': policyStatus('INACTIVE'),
  'policies.delete': onRow('service', (services, { serverId = '', id }, request) => deletePolicy(services, serverId, id, request)),
  'rules.activate': ruleStatus('ACTIVE'),
  'rules.deactivate': ruleStatus('INACTIVE'),
  'rules.delete': onRow('service', (services, { serverId = '', policyId = '', id }, request) =>
    deleteRule(services, { serverId, policyId }, id, request),
  ),
  'users.import': {
    access: 'organizations',
    async run(services, item, { sendEmail = false }, request) {
      await createUser(services, { ...parse(newUser, item), activate: true, sendEmail }, request);
    },
  },
};
