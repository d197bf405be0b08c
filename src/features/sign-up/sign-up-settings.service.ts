/** Sets `settings/registration`: its groups and its organization exist. */
import type { Services } from '../../platform/database/dependencies.ts';
import { validation } from '../../platform/errors/errors.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { existingGroupIds } from '../groups/groups.store.ts';
import { organizationExists } from '../organizations/organizations.store.ts';
import { changeSettings, replaceSettings } from '../settings/settings.service.ts';
import { readUserSchema } from '../user-schema/user-schema.service.ts';
import { OWN_ATTRIBUTES } from '../users/own-profile.service.ts';
import { countWaitingSignUps } from '../users/users.store.ts';
import type { SignUpSettings } from './sign-up.policy.ts';
import { mayBeAsked } from './sign-up-fields.service.ts';

type Given = Partial<SignUpSettings>;

/** @param set replaces all that was set before @throws {ApiError} validation */
export async function replaceRegistration(services: Services, set: Given, request: RequestContext): Promise<SignUpSettings> {
  await refuseUnknown(services, set);
  return replaceSettings(services, 'registration', set, request);
}

/** @param changes of what was set; the rest stays @throws {ApiError} validation */
export async function changeRegistration(services: Services, changes: Given, request: RequestContext): Promise<SignUpSettings> {
  await refuseUnknown(services, changes);
  return changeSettings(services, 'registration', changes, request);
}

/** The attributes that the form can ask for. */
export async function askableAttributes(services: Services): Promise<readonly { readonly name: string; readonly title?: string }[]> {
  const { attributes } = await readUserSchema(services);
  return [...OWN_ATTRIBUTES.map((name) => ({ name })), ...attributes.filter(mayBeAsked).map(({ name, title }) => ({ name, title }))];
}

/** Number of sign-ups waiting for approval, for administrators of the whole service. */
export const waitingSignUps = ({ database }: Pick<Services, 'database'>): Promise<number> => countWaitingSignUps(database.knex);

async function refuseUnknown(services: Services, { fields = [], groups = [], organization }: Given): Promise<void> {
  const { knex } = services.database;
  const asked = new Set((await askableAttributes(services)).map(({ name }) => name));
  const unfit = fields.findIndex(({ name }) => !asked.has(name));
  if (unfit >= 0) throw validation([{ field: `fields.${unfit}.name`, message: 'must be an attribute that users can change themselves' }]);
  const there = new Set(await existingGroupIds(knex, groups));
  const unknown = groups.find((id) => !there.has(id));
  if (unknown !== undefined) throw validation([{ field: 'groups', message: `${unknown} does not exist` }]);
  if (organization !== undefined && organization !== null && !(await organizationExists(knex, organization)))
    throw validation([{ field: 'organization', message: `${organization} does not exist` }]);
}
