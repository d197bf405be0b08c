/** `users`: people, as Okta's Users API shows them. Listing, changing, and the life cycle are not here yet. */
import { z } from 'zod';
import { userProfile } from '../services/user-profile.ts';
import { createUser, getUser, profileOf } from '../services/users.ts';
import type { User } from '../store/users.ts';
import { type Endpoint, endpoint } from './endpoint.ts';
import { idParams, links, time, writeTime, writeTimeOrNull } from './fields.ts';

const newUser = z
  .strictObject({
    profile: userProfile,
    credentials: z.strictObject({ password: z.strictObject({ value: z.string().min(8).max(1024) }).optional() }).optional(),
    orgId: z.string().min(1).max(255).optional(),
    depId: z.string().min(1).max(255).optional(),
  })
  .refine(({ orgId, depId }) => depId === undefined || orgId !== undefined, { path: ['orgId'], error: 'is required with depId' });

const user = z.object({
  id: z.string(),
  status: z.enum(['STAGED', 'ACTIVE', 'PASSWORD_EXPIRED', 'LOCKED_OUT', 'SUSPENDED', 'DEPROVISIONED']),
  created: time,
  activated: time.nullable(),
  statusChanged: time.nullable(),
  lastLogin: time.nullable(),
  lastUpdated: time,
  passwordChanged: time.nullable(),
  profile: z.object(Object.fromEntries(Object.keys(userProfile.shape).map((attribute) => [attribute, z.string().optional()]))),
  credentials: z.object({ provider: z.object({ type: z.literal('GATEHOUSE'), name: z.literal('GATEHOUSE') }) }),
  _links: links,
});

export const users: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/users',
    access: 'organizations',
    summary: 'Create a user',
    query: z.object({ activate: z.enum(['true', 'false']).default('true') }),
    body: newUser,
    response: user,
    handler: async ({ services, query, body, request }) => {
      const { profile, credentials, orgId, depId } = body;
      const password = credentials?.password?.value;
      const created = await createUser(services, { profile, password, orgId, depId, activate: query.activate === 'true' }, request);
      return present(created, services.config.baseUrl);
    },
  }),
  endpoint({
    method: 'GET',
    path: '/users/:id',
    access: 'organizations',
    summary: 'Read a user, by id or login',
    params: idParams,
    response: user,
    handler: async ({ services, params }) => present(await getUser(services, params.id), services.config.baseUrl),
  }),
];

const present = (found: User, baseUrl: string): z.input<typeof user> => ({
  id: found.id,
  status: found.status,
  created: writeTime(found.created),
  activated: writeTimeOrNull(found.activated),
  statusChanged: writeTimeOrNull(found.statusChanged),
  lastLogin: writeTimeOrNull(found.lastLogin),
  lastUpdated: writeTime(found.lastUpdated),
  passwordChanged: writeTimeOrNull(found.passwordChanged),
  profile: profileOf(found),
  credentials: { provider: { type: 'GATEHOUSE', name: 'GATEHOUSE' } },
  _links: { self: { href: `${baseUrl}/api/v1/users/${found.id}` } },
});
