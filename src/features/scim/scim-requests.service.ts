/** One SCIM request, by HTTP or as an operation of Bulk: resource, operation and response. */
import type { Services } from '../../platform/database/dependencies.ts';
import type { NumberedPage } from '../../platform/database/paging.ts';
import { isPrintable } from '../../platform/validation/text.ts';
import { GROUP_TYPE, type ScimObject, type ScimType } from './scim-attributes.policy.ts';
import type { ScimCaller } from './scim-caller.policy.ts';
import { resourceTypes, scimSchemas, serviceProviderConfig } from './scim-discovery.service.ts';
import { badRequest, notFoundHere, ScimError } from './scim-errors.policy.ts';
import { createScimGroup, deleteScimGroup, getScimGroup, listScimGroups, patchScimGroup, replaceScimGroup } from './scim-groups.service.ts';
import { isObject, requireSchema } from './scim-names.policy.ts';
import { readOperations } from './scim-patch.service.ts';
import { chooseAttributes, hasVersion, listResponse, locationOf, readQuery, type ScimQuery } from './scim-resources.service.ts';
import {
  createScimUser,
  currentUserType,
  deleteScimUser,
  getScimUser,
  listScimUsers,
  patchScimUser,
  replaceScimUser,
  type ScimView,
} from './scim-users.service.ts';

export interface ScimRequest {
  readonly method: string;
  /** Below `/scim/v2`, e.g. `/Users/usr_…`. */
  readonly path: string;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
  readonly ifMatch?: string | undefined;
  readonly ifNoneMatch?: string | undefined;
}

export interface ScimResponse {
  readonly status: number;
  readonly body?: ScimObject | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** ID of the created or changed resource. */
  readonly id?: string | undefined;
}

/** @throws {ScimError} @throws {ApiError} of the services */
export async function handleScim(services: Services, caller: ScimCaller, request: ScimRequest): Promise<ScimResponse> {
  const [resource = '', ...rest] = request.path.replace(/^\//, '').split('/').map(decoded);
  const [id, ...more] = rest;
  if (more.length > 0 || (id !== undefined && !isPrintable(id))) throw notFoundHere(request.path);
  switch (resource) {
    case 'Users':
      return onResource(services, caller, USERS, await currentUserType(services), id, request);
    case 'Groups':
      return onResource(services, caller, GROUPS, GROUP_TYPE, id, request);
    case 'Me': {
      if (id !== undefined) break;
      const answered = await onResource(services, caller, USERS, await currentUserType(services), caller.request.actor.id, request);
      return { ...answered, headers: { ...answered.headers, 'Content-Location': locationOf(services, 'User', caller.request.actor.id) } };
    }
    case 'ServiceProviderConfig':
      if (id !== undefined) break;
      requireRead(request);
      return { status: 200, body: serviceProviderConfig(services) };
    case 'ResourceTypes':
      return ofList(await resourceTypes(services, caller), id, request);
    case 'Schemas':
      return ofList(await scimSchemas(services, caller), id, request);
    case '.search':
      throw new ScimError(501, undefined, 'Search one kind of resource: /Users/.search or /Groups/.search');
  }
  throw notFoundHere(request.path);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw notFoundHere(part);
  }
}

export const notAllowed = (...allowed: readonly string[]): ScimError =>
  new ScimError(405, undefined, `Use ${allowed.join(' or ')} here`, { Allow: allowed.join(', ') });

/** Unsupported operations must not be filtered (RFC 7644 section 4). */
function requireRead({ method, query }: ScimRequest): void {
  if (method !== 'GET') throw notAllowed('GET');
  if (query.filter !== undefined) throw new ScimError(403, undefined, 'These resources do not support filters');
}

function ofList(all: readonly ScimObject[], id: string | undefined, request: ScimRequest): ScimResponse {
  requireRead(request);
  if (id === undefined) return { status: 200, body: listResponse({ items: all, total: all.length }, {}) };
  const one = all.find((candidate) => String(candidate.id).toLowerCase() === id.toLowerCase());
  if (one === undefined) throw notFoundHere(id);
  return { status: 200, body: one };
}

/** Operations of a resource type. */
interface Operations {
  list(services: Services, caller: ScimCaller, query: ScimQuery): Promise<NumberedPage<ScimView>>;
  get(services: Services, caller: ScimCaller, id: string, query: ScimQuery): Promise<ScimView>;
  create(services: Services, caller: ScimCaller, body: unknown): Promise<ScimView>;
  replace(services: Services, caller: ScimCaller, id: string, body: unknown, ifMatch?: string): Promise<ScimView>;
  patch(services: Services, caller: ScimCaller, id: string, request: ScimRequest, query: ScimQuery): Promise<ScimView>;
  remove(services: Services, caller: ScimCaller, id: string, ifMatch?: string): Promise<void>;
  /** Return PATCH responses without a body unless attributes are requested? A group can have very many members. */
  readonly isSilentPatch: boolean;
}

const USERS: Operations = {
  list: listScimUsers,
  get: getScimUser,
  create: createScimUser,
  replace: replaceScimUser,
  patch: (services, caller, id, { body, ifMatch }) => patchScimUser(services, caller, id, readOperations(body), ifMatch),
  remove: deleteScimUser,
  isSilentPatch: false,
};

const GROUPS: Operations = {
  list: listScimGroups,
  get: getScimGroup,
  create: createScimGroup,
  replace: replaceScimGroup,
  patch: (services, caller, id, { body, ifMatch }, { attributes }) =>
    patchScimGroup(services, caller, id, readOperations(body), { ifMatch, withMembers: attributes !== undefined }),
  remove: deleteScimGroup,
  isSilentPatch: true,
};

const SEARCH_MESSAGE = 'urn:ietf:params:scim:api:messages:2.0:SearchRequest';

async function onResource(
  services: Services,
  caller: ScimCaller,
  on: Operations,
  type: ScimType,
  id: string | undefined,
  request: ScimRequest,
): Promise<ScimResponse> {
  const { method, body, ifMatch } = request;
  if (id === '.search') return searched(services, caller, on, type, request);
  const query = readQuery(request.query);
  const choose = chooseAttributes(type, query);
  const shown = (status: number, view: ScimView): ScimResponse => ({
    status,
    id: view.id,
    body: choose(view.resource),
    headers: { ETag: view.version, ...(status === 201 && { Location: locationOf(services, type.name, view.id) }) },
  });
  if (id === undefined) {
    if (method === 'POST') return shown(201, await on.create(services, caller, body));
    if (method !== 'GET') throw notAllowed('GET', 'POST');
    return listed(await on.list(services, caller, query), query, choose);
  }
  switch (method) {
    case 'GET': {
      const view = await on.get(services, caller, id, query);
      const isKnown = request.ifNoneMatch !== undefined && hasVersion(view.version, request.ifNoneMatch);
      return isKnown ? { status: 304, headers: { ETag: view.version } } : shown(200, view);
    }
    case 'PUT':
      return shown(200, await on.replace(services, caller, id, body, ifMatch));
    case 'PATCH': {
      const view = await on.patch(services, caller, id, request, query);
      if (on.isSilentPatch && query.attributes === undefined) return { status: 204, id, headers: { ETag: view.version } };
      return shown(200, view);
    }
    case 'DELETE':
      await on.remove(services, caller, id, ifMatch);
      return { status: 204, id };
    default:
      throw notAllowed('GET', 'PUT', 'PATCH', 'DELETE');
  }
}

/** A list whose query is in the body, so that it is not logged (RFC 7644 section 3.4.3). */
async function searched(
  services: Services,
  caller: ScimCaller,
  on: Operations,
  type: ScimType,
  { method, body }: ScimRequest,
): Promise<ScimResponse> {
  if (method !== 'POST') throw notAllowed('POST');
  if (!isObject(body)) throw badRequest('invalidSyntax', 'The body must be a JSON object');
  requireSchema(body, SEARCH_MESSAGE);
  const query = readQuery(body);
  return listed(await on.list(services, caller, query), query, chooseAttributes(type, query));
}

const listed = (
  { items, total }: NumberedPage<ScimView>,
  query: ScimQuery,
  choose: (resource: ScimObject) => ScimObject,
): ScimResponse => ({
  status: 200,
  body: listResponse({ total, items: items.map(({ resource }) => choose(resource)) }, query),
});
