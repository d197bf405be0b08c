/** `apps/{id}/roles`: roles of an application, which are assigned with it and appear in tokens. */
import { z } from 'zod';
import { collection } from '../../api/collection.ts';
import { idParams, links, time, writeTime } from '../../api/fields.ts';
import {
  applicationRoleFields,
  createApplicationRole,
  deleteApplicationRole,
  getApplicationRole,
  listApplicationRoles,
  updateApplicationRole,
} from './application-roles.service.ts';

export const applicationRoleEndpoints = collection({
  path: '/apps/:id/roles',
  params: idParams,
  idParam: 'roleId',
  access: 'service',
  summaries: {
    create: 'Create a role of an application',
    list: 'List the roles of an application, oldest first',
    read: 'Read a role of an application',
    replace: 'Replace a role of an application; users and groups keep it',
    remove: 'Delete a role of an application and remove it from all users and groups',
  },
  body: applicationRoleFields,
  response: z.object({
    id: z.string(),
    name: z.string(),
    displayName: z.string(),
    description: z.string(),
    created: time,
    lastUpdated: time,
    _links: links,
  }),
  create: ({ services, params, request }, body) => createApplicationRole(services, params.id, body, request),
  list: ({ services, params }, window) => listApplicationRoles(services, params.id, window),
  read: ({ services, params }, id) => getApplicationRole(services, params.id, id),
  replace: ({ services, params, request }, id, body) => updateApplicationRole(services, params.id, id, body, request),
  remove: ({ services, params, request }, id) => deleteApplicationRole(services, params.id, id, request),
  present: ({ id, name, displayName, description, created, lastUpdated }, { services, params }) => ({
    ...{ id, name, displayName, description, created: writeTime(created), lastUpdated: writeTime(lastUpdated) },
    _links: { self: { href: `${services.config.baseUrl}/api/v1/apps/${encodeURIComponent(params.id)}/roles/${id}` } },
  }),
});
