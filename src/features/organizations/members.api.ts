/** `account/org/{orgId}/member`: members of an organization, and their departments. */

import { z } from 'zod';
import { type Endpoint, endpoint, listing, parameterized } from '../../api/endpoint.ts';
import { time, writeTime } from '../../api/fields.ts';
import { mapPage } from '../../platform/database/paging.ts';
import { text } from '../../platform/validation/text.ts';
import { listMembers, putMember, removeMember } from './members.service.ts';

const ofMember = z.object({ orgId: z.string().min(1), userId: z.string().min(1) });
const done = z.object({ orgId: z.string(), userId: z.string(), success: z.boolean() });

const member = z.object({
  userId: z.string(),
  login: z.string(),
  status: z.string(),
  depId: z.string().meta({ description: 'Empty: directly in the organization' }),
  created: time.meta({ description: 'When they became a member' }),
});

export const memberEndpoints: readonly Endpoint[] = [
  listing({
    path: '/account/org/:orgId/member',
    access: 'organizations',
    summary: 'List the members of an organization, those of its departments included',
    params: z.object({ orgId: z.string().min(1) }),
    item: member,
    handler: async ({ services, params, query, request }) =>
      mapPage(await listMembers(services, params.orgId, query, request), ({ depId, created, ...rest }) => ({
        ...rest,
        depId: depId ?? '',
        created: writeTime(created),
      })),
  }),
  parameterized({
    method: 'PUT',
    path: '/account/org/:orgId/member/:userId',
    access: 'organizations',
    summary:
      'Make a user a member, or move them to another department. If the user joins a second organization, their password, factors, links and tokens end: reset the password next',
    params: ofMember,
    parameters: z.object({
      depId: text().nullable().exactOptional().meta({ description: 'Empty, null or absent: directly in the organization' }),
    }),
    response: done,
    handler: async ({ services, params: { orgId, userId }, request }, { depId }) => {
      await putMember(services, orgId, userId, depId, request);
      return { orgId, userId, success: true };
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/account/org/:orgId/member/:userId',
    access: 'organizations',
    summary: 'Remove a member; the user stays',
    params: ofMember,
    response: done,
    handler: async ({ services, params: { orgId, userId }, request }) => {
      await removeMember(services, orgId, userId, request);
      return { orgId, userId, success: true };
    },
  }),
];
