/** Custom attributes of users: reading, adding, changing and removing. features/users/users.service.ts validates their values. */
import { CachedValue } from '../../platform/cache/cache.ts';
import { present } from '../../platform/clock/clock.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { conflict, type FieldProblem, validation } from '../../platform/errors/errors.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { listClaimsOfAttribute } from '../claims/claims.store.ts';
import { findProviderMapping } from '../identity-providers/identity-providers.store.ts';
import { changeProblems, MOST_ATTRIBUTES, MOST_UNIQUE } from './attribute-definitions.service.ts';
import type { Attribute, UserSchema } from './attributes.resource.ts';
import {
  claimPresentValues,
  findCommittedUserSchema,
  findUserSchema,
  lockUserSchema,
  releaseAllValues,
  USER_SCHEMA,
  updateUserSchema,
} from './user-schema.store.ts';

/** By pool: services within a transaction have a different database object, but the process's pool. */
const caches = new WeakMap<Services['database']['pool'], CachedValue<UserSchema>>();

/** Schema cached in this process: local changes apply immediately, others on notification. */
export function currentUserSchema({ database, notifications }: Pick<Services, 'database' | 'notifications'>): Promise<UserSchema> {
  const known = caches.get(database.pool);
  if (known !== undefined) return known.current();
  const cache = new CachedValue<UserSchema>(() => findCommittedUserSchema(database.pool));
  notifications.subscribe((change) => {
    if (change === 'everything' || (change.kind === 'settings' && change.id === USER_SCHEMA)) cache.forget();
  });
  caches.set(database.pool, cache);
  return cache.current();
}

/** Current schema from the database. */
export const readUserSchema = ({ database }: Pick<Services, 'database'>): Promise<UserSchema> => findUserSchema(database.knex);

/**
 * Adds, changes and removes attributes, all or none.
 * @param changes by name; null removes the attribute with all its values
 * @param options.onlyNew refuses existing attributes
 * @throws {ApiError} validation: fields are those of `definitions.custom.properties`; conflict: a claim needs a removed attribute, its values are
 * still being erased, or two users have the same value of an attribute that becomes unique
 */
export async function changeUserSchema(
  services: Services,
  changes: ReadonlyMap<string, Attribute | null>,
  request: RequestContext,
  { onlyNew = false }: { readonly onlyNew?: boolean } = {},
): Promise<UserSchema> {
  const { database, notifications } = services;
  const after = await database.transaction(async (trx) => {
    const now = present();
    const before = await lockUserSchema(trx, now);
    refuse(onlyNew ? duplicates(before, changes) : []);
    refuse(changeProblems(before, changes));
    const after = changed(before, changes);
    if (JSON.stringify(after) === JSON.stringify(before)) return before;
    refuseTooMany(after);
    await applyChanges(trx, before, changes);
    await updateUserSchema(trx, after, now);
    await recordEvent(trx, {
      eventType: 'user.schema.update',
      displayMessage: 'Update attributes of users',
      request,
      targets: [{ id: 'default', type: 'UserSchema', displayName: 'User' }],
      before: named(before, changes),
      after: named(after, changes),
    });
    await notifications.publish(trx, { kind: 'settings', id: USER_SCHEMA });
    return after;
  });
  notifications.announce({ kind: 'settings', id: USER_SCHEMA });
  return after;
}

/** Replaces all attributes: those that are not named are removed. @throws {ApiError} as `changeUserSchema` */
export async function replaceUserSchema(
  services: Services,
  wanted: ReadonlyMap<string, Attribute>,
  request: RequestContext,
): Promise<UserSchema> {
  const { attributes } = await readUserSchema(services);
  const removed = attributes.filter(({ name }) => !wanted.has(name)).map(({ name }) => [name, null] as const);
  return changeUserSchema(services, new Map<string, Attribute | null>([...removed, ...wanted]), request);
}

const AT = 'definitions.custom.properties';

function refuse(problems: readonly FieldProblem[]): void {
  if (problems.length > 0) throw validation(problems.map(({ field, message }) => ({ field: `${AT}.${field}`, message })));
}

const duplicates = ({ attributes }: UserSchema, changes: ReadonlyMap<string, unknown>): FieldProblem[] =>
  attributes.filter(({ name }) => changes.has(name)).map(({ name }) => ({ field: name, message: 'already exists' }));

function refuseTooMany({ attributes }: UserSchema): void {
  const count = attributes.filter(({ unique }) => unique).length;
  if (attributes.length > MOST_ATTRIBUTES) throw validation([{ field: AT, message: `must have at most ${MOST_ATTRIBUTES} attributes` }]);
  if (count > MOST_UNIQUE) throw validation([{ field: AT, message: `must have at most ${MOST_UNIQUE} unique attributes` }]);
}

/** Existing attributes keep their order; new ones are appended. */
function changed({ attributes, removing }: UserSchema, changes: ReadonlyMap<string, Attribute | null>): UserSchema {
  const kept = attributes.flatMap((attribute) => changes.get(attribute.name) ?? (changes.has(attribute.name) ? [] : [attribute]));
  const names = new Set(attributes.map(({ name }) => name));
  const added = [...changes.values()].filter((attribute) => attribute !== null).filter(({ name }) => !names.has(name));
  const removed = [...changes].flatMap(([name, attribute]) => (attribute === null ? [name] : []));
  return { attributes: [...kept, ...added], removing: [...removing, ...removed] };
}

/**
 * Starts and ends uniqueness, and refuses changes of attributes that something uses. Values of removed attributes are erased later
 * (attribute-definitions.service.ts).
 * @throws {ApiError} conflict
 */
async function applyChanges(trx: Executor, before: UserSchema, changes: ReadonlyMap<string, Attribute | null>): Promise<void> {
  const wasUnique = new Set(before.attributes.filter(({ unique }) => unique).map(({ name }) => name));
  const known = new Set(before.attributes.map(({ name }) => name));
  for (const [name, attribute] of changes) {
    const problem = (message: string) => conflict({ field: `${AT}.${name}`, message });
    if (attribute === null) {
      const [claim] = await listClaimsOfAttribute(trx, name);
      if (claim !== undefined)
        throw problem(`is used by the claim ${claim.name} of the authorization server ${claim.serverId}. Change or delete the claim first`);
      const provider = await findProviderMapping(trx, name);
      if (provider !== undefined) throw problem(`is set by the identity provider ${provider}. Change its profile mapping first`);
    } else if (before.removing.some((removed) => removed.toLowerCase() === name.toLowerCase())) {
      throw problem('values of the removed attribute are still being erased. Try again in a minute');
    } else if (attribute.unique && known.has(name) && !wasUnique.has(name) && !(await claimPresentValues(trx, name))) {
      throw problem('cannot be unique: some users have the same value');
    } else if (!attribute.unique && wasUnique.has(name)) {
      await releaseAllValues(trx, name);
    }
  }
}

/** Changed attributes for the audit log. */
const named = ({ attributes }: UserSchema, changes: ReadonlyMap<string, unknown>) => ({
  attributes: Object.fromEntries(attributes.filter(({ name }) => changes.has(name)).map(({ name, ...attribute }) => [name, attribute])),
});
