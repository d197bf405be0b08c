/** Users, groups and organizations that a thing refers to: ids in the service, in the file logins and names, which another installation knows as well. */
import { StartFailure } from '../lifecycle.ts';
import { type Document, isDocument } from './difference.ts';
import { type Answer, Refused, type Service } from './service.ts';

/** Where a document refers to somebody or something: one, or a list of them. */
export interface Reference {
  readonly at: string;
  readonly to: 'user' | 'group' | 'organization';
}

type Lookup = (value: string) => Promise<string>;

/** Both ways, each asked for once. */
export interface Directory {
  readonly names: Readonly<Record<Reference['to'], Lookup>>;
  readonly ids: Readonly<Record<Reference['to'], Lookup>>;
}

/** No group's id, but a word of the API. */
const EVERYONE = 'EVERYONE';
const PAGE = 200;

function once(find: Lookup): Lookup {
  const found = new Map<string, Promise<string>>();
  return (value) => {
    const known = found.get(value) ?? find(value);
    found.set(value, known);
    return known;
  };
}

const profileOf = ({ profile }: Answer): Document => (isDocument(profile) ? profile : {});
const missing = (what: string, value: string): never => {
  throw new StartFailure(`The ${what} ${value} is referred to, and does not exist.`);
};

export function directoryOf(service: Service): Directory {
  const read = (what: Reference['to'], path: string, value: string): Promise<Answer> =>
    service.get(`${path}/${encodeURIComponent(value)}`).catch((error: unknown) => {
      if (error instanceof Refused && error.status === 404) return missing(what, value);
      throw error;
    });

  async function groupId(name: string): Promise<string> {
    const search = encodeURIComponent(`profile.name eq ${JSON.stringify(name)}`);
    const answer: unknown = await service.get(`/groups?search=${search}`);
    const group = (answer as readonly Answer[]).find((one) => profileOf(one).name === name);
    return group === undefined ? missing('group', name) : String(group.id);
  }

  /** The list of organizations has no search. */
  async function organizationId(name: string): Promise<string> {
    for (let page = 1; ; page += 1) {
      const { organizations } = (await service.get(`/account/org?page=${page}&limit=${PAGE}`)) as { organizations: readonly Answer[] };
      const organization = organizations.find((one) => one.name === name);
      if (organization !== undefined) return String(organization.orgId);
      if (organizations.length < PAGE) return missing('organization', name);
    }
  }

  return {
    names: {
      user: once(async (id) => String(profileOf(await read('user', '/users', id)).login)),
      group: once(async (id) => (id === EVERYONE ? id : String(profileOf(await read('group', '/groups', id)).name))),
      organization: once(async (id) => String((await read('organization', '/account/org', id)).name)),
    },
    ids: {
      user: once(async (login) => String((await read('user', '/users', login)).id)),
      group: once(async (name) => (name === EVERYONE ? name : groupId(name))),
      organization: once(organizationId),
    },
  };
}

/** @returns the document with each reference replaced; what does not refer to anything stays @throws {StartFailure} when one does not exist */
export async function replaceReferences(
  document: Document,
  references: readonly Reference[],
  lookups: Directory['names' | 'ids'],
): Promise<Document> {
  let result = document;
  for (const { at, to } of references) result = await replaceAt(result, at.split('.'), lookups[to]);
  return result;
}

async function replaceAt(document: Document, [name = '', ...rest]: readonly string[], lookup: Lookup): Promise<Document> {
  const value = document[name];
  if (rest.length > 0) return isDocument(value) ? { ...document, [name]: await replaceAt(value, rest, lookup) } : document;
  if (typeof value === 'string') return { ...document, [name]: await lookup(value) };
  if (!Array.isArray(value)) return document;
  return { ...document, [name]: await Promise.all(value.map((one) => (typeof one === 'string' ? lookup(one) : one))) };
}
