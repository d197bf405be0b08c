/**
 * `groups`: the groups of Okta's Groups API that administrators create, with its type `OKTA_GROUP`, which its SDKs expect. And `users/{id}/groups`.
 */

import { z } from 'zod';
import { collection } from '../../api/collection.ts';
import { type Endpoint, endpoint, listing } from '../../api/endpoint.ts';
import { idParams, links, time, unlessEmpty, writeTime } from '../../api/fields.ts';
import { mapPage } from '../../platform/database/paging.ts';
import { text } from '../../platform/validation/text.ts';
import { presentUser, user } from '../users/users.api.ts';
import { GROUP_ORIGINS, type Group } from './groups.resource.ts';
import {
  addGroupMembers,
  createGroup,
  deleteGroup,
  type GroupProfile,
  getGroup,
  listGroupMembers,
  listGroups,
  listUserGroups,
  removeGroupMember,
  updateGroup,
} from './groups.service.ts';

const groupBody = z.strictObject({
  profile: z.strictObject({ name: text({ least: 1 }), description: text({ most: 1024 }).nullish() }),
});

const group = z.object({
  id: z.string(),
  type: z.literal('OKTA_GROUP'),
  origin: z.enum(GROUP_ORIGINS).meta({ description: 'Who created it: an administrator, or a SCIM client' }),
  created: time,
  lastUpdated: time,
  profile: z.object({ name: z.string(), description: z.string().optional() }),
  _links: links,
});

const memberParams = idParams.extend({ userId: z.string().min(1) });

export const groupEndpoints: readonly Endpoint[] = [
  ...collection({
    path: '/groups',
    idParam: 'id',
    access: 'service',
    status: 200,
    summaries: {
      create: 'Create a group',
      list: 'List the groups, oldest first; each word of q begins a word of the name, or q is the ID; search and filter are expressions of RFC 7644',
      read: 'Read a group',
      replace: 'Replace the profile of a group',
      remove: 'Delete a group, with its memberships and assignments',
    },
    query: { q: text().optional(), search: z.string().optional(), filter: z.string().optional() },
    body: groupBody,
    response: group,
    create: ({ services, request }, body) => createGroup(services, profileOf(body), request),
    list: ({ services }, { limit, after, ...search }) => listGroups(services, search, { limit, after }),
    read: ({ services }, id) => getGroup(services, id),
    replace: ({ services, request }, id, body) => updateGroup(services, id, profileOf(body), request),
    remove: ({ services, request }, id) => deleteGroup(services, id, request),
    present: (found, { services }) => present(found, services.config.baseUrl),
  }),
  listing({
    path: '/groups/:id/users',
    access: 'service',
    summary: 'List the members of a group, the oldest users first',
    params: idParams,
    item: user,
    handler: async ({ services, params, query }) =>
      mapPage(await listGroupMembers(services, params.id, query), (found) => presentUser(found, services.config.baseUrl)),
  }),
  endpoint({
    method: 'PUT',
    path: '/groups/:id/users/:userId',
    access: 'service',
    summary: 'Add a user to a group',
    params: memberParams,
    handler: async ({ services, params, request }) => void (await addGroupMembers(services, params.id, [params.userId], request)),
  }),
  endpoint({
    method: 'DELETE',
    path: '/groups/:id/users/:userId',
    access: 'service',
    summary: 'Remove a user from a group',
    params: memberParams,
    handler: async ({ services, params, request }) => void (await removeGroupMember(services, params.id, params.userId, request)),
  }),
  listing({
    path: '/users/:id/groups',
    access: 'service',
    summary: 'List the groups of a user, oldest first',
    params: idParams,
    item: group,
    handler: async ({ services, params, query, request }) =>
      mapPage(await listUserGroups(services, params.id, query, request), (found) => present(found, services.config.baseUrl)),
  }),
];

const profileOf = ({ profile: { name, description } }: z.output<typeof groupBody>): GroupProfile => ({
  name,
  description: description ?? '',
});

const present = ({ id, name, description, origin, created, lastUpdated }: Group, baseUrl: string): z.input<typeof group> => ({
  id,
  type: 'OKTA_GROUP',
  origin,
  created: writeTime(created),
  lastUpdated: writeTime(lastUpdated),
  profile: { name, description: unlessEmpty(description) },
  _links: { self: { href: `${baseUrl}/api/v1/groups/${id}` } },
});
