/** Applies bulk actions to single rows with the same services, rules and events as for a single user. */
import type { Services } from '../../platform/database/dependencies.ts';
import { wrongState } from '../../platform/errors/errors.ts';
import { parse } from '../../platform/validation/parsing.ts';
import type { Access } from '../administrators/administration.policy.ts';
import { assign } from '../applications/application-assignments.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { addGroupMembers, removeGroupMember } from '../groups/groups.service.ts';
import { resetUserFactors } from '../second-factors/factors.service.ts';
import { clearSessions } from '../sessions/user-sessions.service.ts';
import { activateUser, deleteUser, reactivateUser, refuseSignUp, resetPassword, takeStep } from '../users/user-lifecycle.service.ts';
import { newUser } from '../users/user-profile.service.ts';
import { createUser, getUser } from '../users/users.service.ts';
import type { BulkActionName, BulkParameters } from './bulk.resource.ts';

interface BulkAction {
  /** Audience of the action; permissions are checked for each row. */
  readonly access: Access;
  /** @throws {ApiError} the row is refused */
  run(services: Services, item: unknown, parameters: BulkParameters, request: RequestContext): Promise<unknown>;
}

type OnUser = (services: Services, userId: string, request: RequestContext, parameters: BulkParameters) => Promise<unknown>;

const onUser = (access: Access, act: OnUser): BulkAction => ({
  access,
  run: (services, item, parameters, request) => act(services, (item as { id: string }).id, request, parameters),
});

const step = (name: Parameters<typeof takeStep>[2]) =>
  onUser('organizations', (services, id, request) => takeStep(services, id, name, request));

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
  'users.import': {
    access: 'organizations',
    async run(services, item, { sendEmail = false }, request) {
      await createUser(services, { ...parse(newUser, item), activate: true, sendEmail }, request);
    },
  },
};
