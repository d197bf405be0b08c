/** Resolves IDs in policies and rules to names: application labels, user names and group names. */

import type { ConsoleRequest } from '../../pages/console/page.ts';
import { ApiError, type FieldProblem, validation } from '../../platform/errors/errors.ts';
import { listApplications } from '../applications/application-lists.service.ts';
import { getApplication } from '../applications/applications.service.ts';
import { getGroup, listGroups } from '../groups/groups.service.ts';
import { getUser } from '../users/users.service.ts';

export type NamedKind = 'application' | 'user' | 'group';

interface Naming {
  /** Message for an unknown name. */
  readonly problem: (name: string) => string;
  /** @returns undefined if the object no longer exists */
  nameOf(visit: ConsoleRequest, id: string): Promise<string | undefined>;
  /** @param name or an ID */
  idsOf(visit: ConsoleRequest, name: string): Promise<readonly string[]>;
}

const unlessMissing = async <T>(found: Promise<T>): Promise<T | undefined> => {
  try {
    return await found;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
};

const NAMINGS: Readonly<Record<NamedKind, Naming>> = {
  application: {
    problem: (name) => `“${name}” is not the name or client ID of an application`,
    nameOf: async ({ services }, id) => (await unlessMissing(getApplication(services, id)))?.label,
    async idsOf({ services }, name) {
      const byId = await unlessMissing(getApplication(services, name));
      if (byId !== undefined) return [byId.id];
      return (await listApplications(services, { filter: `label eq ${JSON.stringify(name)}` }, { limit: 2 })).items.map(({ id }) => id);
    },
  },
  user: {
    problem: (name) => `“${name}” is not the user name of a user`,
    nameOf: async ({ services, request }, id) => (await unlessMissing(getUser(services, id, request)))?.login,
    async idsOf({ services, request }, login) {
      const user = await unlessMissing(getUser(services, login, request));
      return user === undefined ? [] : [user.id];
    },
  },
  group: {
    problem: (name) => `“${name}” is not the name of a group`,
    nameOf: async ({ services }, id) => (await unlessMissing(getGroup(services, id)))?.name,
    async idsOf({ services }, name) {
      const byId = await unlessMissing(getGroup(services, name));
      if (byId !== undefined) return [byId.id];
      const found = await listGroups(services, { filter: `profile.name eq ${JSON.stringify(name)}` }, { limit: 1 });
      return found.items.map(({ id }) => id);
    },
  },
};

/** The names of these IDs, in their order; the ID itself if the object no longer exists. */
export const namesOf = (visit: ConsoleRequest, kind: NamedKind, ids: readonly string[]): Promise<string[]> =>
  oneByOne(ids, async (id) => (await NAMINGS[kind].nameOf(visit, id)) ?? id);

/** @param field of the form @throws {ApiError} validation: an unknown or ambiguous name */
export async function idsNamed(visit: ConsoleRequest, kind: NamedKind, field: string, names: readonly string[]): Promise<string[]> {
  const problems: FieldProblem[] = [];
  const ids = await oneByOne(names, async (name) => {
    const found = await NAMINGS[kind].idsOf(visit, name);
    if (found.length === 0) problems.push({ field, message: NAMINGS[kind].problem(name) });
    if (found.length > 1)
      problems.push({
        field,
        message: `several applications have the name “${name}”. Enter the client ID instead`,
      });
    return found;
  });
  if (problems.length > 0) throw validation(problems);
  return [...new Set(ids.flat())];
}

/** Runs one step after another: a long list must not use all database connections. */
async function oneByOne<T, U>(items: readonly T[], step: (item: T) => Promise<U>): Promise<U[]> {
  const results: U[] = [];
  for (const item of items) results.push(await step(item));
  return results;
}
