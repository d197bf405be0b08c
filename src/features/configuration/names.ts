/**
 * References between objects: the service uses IDs for users, groups, organizations and identity providers; the file uses user names and names, which
 * also work in another installation. Applications use their client_id in both.
 */
import { StartFailure } from '../../cli/lifecycle.ts';
import { ALL_CLIENTS, ANY, EVERYONE } from '../policies/access-policy.policy.ts';
import { type Document, isDocument } from './difference.ts';
import { ApiRefusal, type ApiResponse, type Service } from './service.ts';

/** A field that refers to one object or a list of objects. */
export interface Reference {
  readonly at: string;
  readonly to: 'user' | 'group' | 'groupOrEveryone' | 'organization' | 'application' | 'identityProvider' | 'inlineHook' | 'role';
}

type Lookup = (value: string) => Promise<string>;

/** Lookups in both directions, on demand. */
export interface NameDirectory {
  readonly names: Readonly<Record<Reference['to'], Lookup>>;
  readonly ids: Readonly<Record<Reference['to'], Lookup>>;
}

const PAGE = 200;

function once(find: Lookup): Lookup {
  const found = new Map<string, Promise<string>>();
  return (value) => {
    const known = found.get(value) ?? find(value);
    found.set(value, known);
    // A missing object may be created later, so failures are not cached.
    known.catch(() => found.delete(value));
    return known;
  };
}

const profileOf = ({ profile }: ApiResponse): Document => (isDocument(profile) ? profile : {});
/** For fields in which the API accepts EVERYONE instead of a group ID. */
const orEveryone =
  (find: Lookup): Lookup =>
  async (value) =>
    value === EVERYONE ? value : find(value);
const missing = (what: string, value: string): never => {
  throw new StartFailure(`The ${what} ${value} is referenced but does not exist. Add it, or correct the reference.`);
};

export function directoryOf(service: Service): NameDirectory {
  const find = (path: string, value: string): Promise<ApiResponse | undefined> =>
    service.get(`${path}/${encodeURIComponent(value)}`).catch((error: unknown) => {
      if (error instanceof ApiRefusal && error.status === 404) return undefined;
      throw error;
    });

  /** The ID if the user no longer exists. */
  const nameOf = (path: string, read: (response: ApiResponse) => string): Lookup =>
    once(async (id) => {
      const found = await find(path, id);
      return found === undefined ? id : read(found);
    });

  /** The API also finds users by ID, and a user name may look like one. */
  async function userId(login: string): Promise<string> {
    const user = await find('/users', login);
    const isFound = user !== undefined && String(profileOf(user).login).toLowerCase() === login.toLowerCase();
    return isFound ? String(user.id) : missing('user', login);
  }

  async function groupId(name: string): Promise<string> {
    const search = encodeURIComponent(`profile.name eq ${JSON.stringify(name)}`);
    const response: unknown = await service.get(`/groups?limit=${PAGE}&search=${search}`);
    const group = (response as readonly ApiResponse[]).find((one) => profileOf(one).name === name);
    return group === undefined ? missing('group', name) : String(group.id);
  }

  /** The list of organizations has no search. */
  async function organizationId(name: string): Promise<string> {
    for (let page = 1; ; page += 1) {
      const { organizations } = (await service.get(`/account/org?page=${page}&limit=${PAGE}`)) as { organizations: readonly ApiResponse[] };
      const organization = organizations.find((one) => one.name === name);
      if (organization !== undefined) return String(organization.orgId);
      if (organizations.length < PAGE) return missing('organization', name);
    }
  }

  const idIn =
    (path: string, noun: string): Lookup =>
    async (name) => {
      const found = (await service.list(path)).find((one) => one.name === name);
      return found === undefined ? missing(noun, name) : String(found.id);
    };

  const groupName = nameOf('/groups', (group) => String(profileOf(group).name));
  /** A group named EVERYONE would mean every user when the file is applied. */
  async function nameInRule(id: string): Promise<string> {
    const name = await groupName(id);
    if (name !== EVERYONE) return name;
    throw new StartFailure(`A referenced group is named ${EVERYONE}, which means every user. Rename the group.`);
  }

  const group = once(groupId);
  return {
    names: {
      user: nameOf('/users', (user) => String(profileOf(user).login)),
      group: groupName,
      groupOrEveryone: orEveryone(nameInRule),
      organization: nameOf('/account/org', ({ name }) => String(name)),
      application: async (id) => id,
      identityProvider: nameOf('/idps', ({ name }) => String(name)),
      inlineHook: nameOf('/inlineHooks', ({ name }) => String(name)),
      role: async (name) => name,
    },
    ids: {
      user: once(userId),
      group,
      groupOrEveryone: orEveryone(group),
      organization: once(organizationId),
      application: once(async (id) =>
        id === ALL_CLIENTS || id === ANY || (await find('/apps', id)) !== undefined ? id : missing('application', id),
      ),
      identityProvider: once(idIn('/idps', 'identity provider')),
      inlineHook: once(idIn('/inlineHooks', 'inline hook')),
      role: async (name) => missing('role', name),
    },
  };
}

/** Objects of a section that will exist after the file was applied. */
export interface Expected {
  readonly names: ReadonlySet<string>;
  /** Will no other objects of this section exist? */
  readonly alone: boolean;
}

const refuse = (noun: string, name: string): never => {
  throw new StartFailure(
    `The ${noun} ${name} is referenced but not in the file, so --delete would delete it. Add it to the file, or remove the reference.`,
  );
};

const expected =
  (noun: string, { names, alone }: Expected, find: Lookup): Lookup =>
  async (name) => {
    if (!names.has(name)) return alone ? refuse(noun, name) : find(name);
    return find(name).catch((error: unknown) => {
      if (error instanceof StartFailure && !(error instanceof ApiRefusal)) return name;
      throw error;
    });
  };

/** @returns the directory, assuming that these objects will exist; the name stands in for the ID of an object that does not exist yet */
export function expecting(
  directory: NameDirectory,
  {
    applications,
    identityProviders,
    inlineHooks,
    groups,
  }: Readonly<Record<'applications' | 'identityProviders' | 'inlineHooks' | 'groups', Expected>>,
): NameDirectory {
  const { ids } = directory;
  const group = expected('group', groups, ids.group);
  return {
    ...directory,
    ids: {
      ...ids,
      async application(id) {
        if (applications.names.has(id)) return id;
        return applications.alone && id !== ALL_CLIENTS ? refuse('application', id) : ids.application(id);
      },
      identityProvider: expected('identity provider', identityProviders, ids.identityProvider),
      inlineHook: expected('inline hook', inlineHooks, ids.inlineHook),
      group,
      groupOrEveryone: orEveryone(group),
    },
  };
}

/**
 * Adds the roles of an application to the directory, for the objects inside the application.
 * @param path of the application; undefined: it does not exist yet
 */
export function expectingRoles(directory: NameDirectory, service: Service, path: string | undefined, roles: Expected): NameDirectory {
  const find: Lookup = async (name) => {
    const existing = path === undefined ? [] : await service.list(`${path}/roles`);
    return existing.some((role) => role.name === name) ? name : missing('role', name);
  };
  return { ...directory, ids: { ...directory.ids, role: expected('role', roles, once(find)) } };
}

/**
 * @returns the document with each reference replaced; values that are not references stay
 * @throws {StartFailure} a referenced object does not exist; the message names the field
 */
export async function replaceReferences(
  document: Document,
  references: readonly Reference[],
  lookups: NameDirectory['names' | 'ids'],
): Promise<Document> {
  let result = document;
  for (const { at, to } of references) {
    result = await replaceAt(result, at.split('.'), lookups[to]).catch((error: unknown) => {
      throw error instanceof StartFailure && !(error instanceof ApiRefusal) ? new StartFailure(`${at}: ${error.message}`) : error;
    });
  }
  return result;
}

async function replaceAt(document: Document, [name = '', ...rest]: readonly string[], lookup: Lookup): Promise<Document> {
  const value = document[name];
  if (rest.length > 0) return isDocument(value) ? { ...document, [name]: await replaceAt(value, rest, lookup) } : document;
  if (typeof value === 'string') return { ...document, [name]: await lookup(value) };
  if (!Array.isArray(value)) return document;
  return { ...document, [name]: await Promise.all(value.map((one) => (typeof one === 'string' ? lookup(one) : one))) };
}
