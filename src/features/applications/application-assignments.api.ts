/** `apps/{id}/users` and `apps/{id}/groups`: assignments of an application. PUT assigns, or POST as in Okta's SDKs. */

import { z } from 'zod';
import { type Endpoint, endpoint, listing } from '../../api/endpoint.ts';
import { idParams, links, time, writeTime } from '../../api/fields.ts';
import { mapPage } from '../../platform/database/paging.ts';
import { text } from '../../platform/validation/text.ts';
import { assign, getAssignment, listAssignments, unassign } from './application-assignments.service.ts';
import type { AssigneeKind, Assignment } from './applications.resource.ts';

/** Names; absent: unchanged. */
const roles = z
  .array(text({ least: 1 }))
  .max(100)
  .exactOptional()
  .meta({ description: 'Names of roles of the application' });
/** Okta orders the assignments of groups. Here the order has no effect, so `priority` is ignored. */
const assigning = z.strictObject({
  roles,
  priority: z
    .int()
    .nullish()
    .transform(() => undefined),
});

const assignment = z.object({ id: z.string(), created: time, lastUpdated: time, roles: z.array(z.string()), _links: links });
const userAssignment = assignment.extend({
  scope: z.literal('USER'),
  status: z.literal('ACTIVE'),
  statusChanged: time,
  credentials: z.object({ userName: z.string() }),
});
const groupAssignment = assignment.extend({ profile: z.object({ name: z.string() }) });

interface Kind<P extends z.ZodType<{ id: string }>, R extends z.ZodType> {
  readonly kind: AssigneeKind;
  /** IDs of the application and the assignee. */
  readonly params: P;
  assigneeId(params: z.output<P>): string;
  readonly response: R;
  present(found: Assignment, common: z.input<typeof assignment>): z.input<R>;
}

const commonOf = (applicationId: string, kind: AssigneeKind, found: Assignment, baseUrl: string): z.input<typeof assignment> => ({
  id: found.id,
  created: writeTime(found.created),
  lastUpdated: writeTime(found.created),
  roles: [...found.roles],
  _links: { self: { href: `${baseUrl}/api/v1/apps/${encodeURIComponent(applicationId)}/${kind}s/${found.id}` } },
});

function assignmentsOf<P extends z.ZodType<{ id: string }>, R extends z.ZodType>(declared: Kind<P, R>): readonly Endpoint[] {
  const { kind, params, assigneeId, response } = declared;
  const all = `/apps/:id/${kind}s`;
  const one = `${all}/:${kind}Id`;
  const present = (applicationId: string, found: Assignment, baseUrl: string) =>
    declared.present(found, commonOf(applicationId, kind, found, baseUrl));
  return [
    listing({
      path: all,
      access: 'service',
      summary: `List the ${kind}s that an application is assigned to, the oldest ${kind}s first`,
      params: idParams,
      item: response,
      handler: async ({ services, params: { id }, query }) =>
        mapPage(await listAssignments(services, id, kind, query), (found) => present(id, found, services.config.baseUrl)),
    }),
    endpoint({
      method: 'PUT',
      path: one,
      access: 'service',
      summary: `Assign an application to a ${kind}, with roles of the application`,
      params,
      body: assigning,
      bodyOptional: true,
      response,
      handler: async ({ services, params, body, request }) => {
        const found = await assign(services, params.id, { kind, id: assigneeId(params) }, request, body.roles);
        return present(params.id, found, services.config.baseUrl);
      },
    }),
    endpoint({
      method: 'GET',
      path: one,
      access: 'service',
      summary: `Read the assignment of an application to a ${kind}`,
      params,
      response,
      handler: async ({ services, params }) =>
        present(params.id, await getAssignment(services, params.id, { kind, id: assigneeId(params) }), services.config.baseUrl),
    }),
    endpoint({
      method: 'DELETE',
      path: one,
      access: 'service',
      summary: `Remove the assignment of an application to a ${kind}`,
      params,
      handler: async ({ services, params, request }) =>
        void (await unassign(services, params.id, { kind, id: assigneeId(params) }, request)),
    }),
  ];
}

const presentUserAssignment = ({ name }: Assignment, common: z.input<typeof assignment>): z.input<typeof userAssignment> => ({
  ...common,
  scope: 'USER',
  status: 'ACTIVE',
  statusChanged: common.created,
  credentials: { userName: name },
});

export const appAssignments: readonly Endpoint[] = [
  ...assignmentsOf({
    kind: 'user',
    params: idParams.extend({ userId: z.string().min(1) }),
    assigneeId: ({ userId }) => userId,
    response: userAssignment,
    present: presentUserAssignment,
  }),
  endpoint({
    method: 'POST',
    path: '/apps/:id/users',
    access: 'service',
    summary: 'Assign an application to a user',
    params: idParams,
    body: z.strictObject({ id: text({ least: 1 }), roles }),
    response: userAssignment,
    handler: async ({ services, params, body, request }) => {
      const found = await assign(services, params.id, { kind: 'user', id: body.id }, request, body.roles);
      return presentUserAssignment(found, commonOf(params.id, 'user', found, services.config.baseUrl));
    },
  }),
  ...assignmentsOf({
    kind: 'group',
    params: idParams.extend({ groupId: z.string().min(1) }),
    assigneeId: ({ groupId }) => groupId,
    response: groupAssignment,
    present: ({ name }, common) => ({ ...common, profile: { name } }),
  }),
];
