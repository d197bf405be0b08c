/** `users`: as in Okta's Users API. Lifecycle, sessions, roles, consents and factors have their own files. */

import { z } from 'zod';
import { type Endpoint, endpoint, listing } from '../../api/endpoint.ts';
import { idParams, links, time, writeTime, writeTimeOrNull } from '../../api/fields.ts';
import { present } from '../../platform/clock/clock.ts';
import { mapPage } from '../../platform/database/paging.ts';
import { text } from '../../platform/validation/text.ts';
import { awaitsApproval, type LifecycleStep, possibleSteps, statusAt, USER_STATUSES } from './user-lifecycle.policy.ts';
import { deleteUser } from './user-lifecycle.service.ts';
import { listUsers } from './user-lists.service.ts';
import { givenPassword, newUser, profileChanges, userCredentials, userProfile } from './user-profile.service.ts';
import type { User } from './users.resource.ts';
import { BASE_ATTRIBUTES } from './users.resource.ts';
import { changeUser, createUser, getUser, profileFields } from './users.service.ts';

const link = z.object({ href: z.url(), method: z.literal('POST') });

/** Okta's names of lifecycle links; a user has only those that their status allows. */
const STEP_LINKS: Readonly<Record<LifecycleStep, string>> = {
  activate: 'activate',
  refuse: 'refuse',
  reactivate: 'reactivate',
  deactivate: 'deactivate',
  suspend: 'suspend',
  unsuspend: 'unsuspend',
  unlock: 'unlock',
  expire_password: 'expirePassword',
  reset_password: 'resetPassword',
};

export const user = z.object({
  id: z.string(),
  status: z.enum(USER_STATUSES),
  created: time,
  activated: time.nullable(),
  approvalRequested: time.nullable().meta({ description: 'When the sign-up was submitted for approval' }),
  statusChanged: time.nullable(),
  lastLogin: time.nullable(),
  lastUpdated: time,
  passwordChanged: time.nullable(),
  profile: z
    .object({
      ...(Object.fromEntries(BASE_ATTRIBUTES.map((attribute) => [attribute, z.string().optional()])) as Record<
        'firstName',
        z.ZodOptional<z.ZodString>
      >),
      login: z.string(),
      email: z.string().optional(),
      emailVerified: z.boolean().optional(),
    })
    // Custom attributes of meta/schemas/user/default.
    .catchall(z.union([z.string(), z.number(), z.boolean(), z.array(z.string()).readonly()])),
  // Okta's type: its SDKs have no other for users of the service itself.
  credentials: z.object({ provider: z.object({ type: z.literal('OKTA'), name: z.literal('GATEHOUSE') }) }),
  _links: links.extend(Object.fromEntries(Object.values(STEP_LINKS).map((name) => [name, link.optional()]))),
});

export const userEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/users',
    access: 'organizations',
    summary:
      'Create a user; with sendEmail=true they are invited (PROVISIONED) to choose a password or, if they have one, to verify their address',
    query: z.object({ activate: z.enum(['true', 'false']).default('true'), sendEmail: z.enum(['true', 'false']).default('false') }),
    body: newUser.safeExtend({
      groupIds: z
        .array(text({ least: 1 }))
        .max(20)
        .optional(),
    }),
    response: user,
    handler: async ({ services, query, body, request }) => {
      const { profile, credentials, orgId, depId, groupIds } = body;
      const input = { profile, ...givenPassword(credentials), orgId, depId, groupIds, activate: query.activate === 'true' };
      const sendEmail = query.sendEmail === 'true';
      return presentUser(await createUser(services, { ...input, sendEmail }, request), services.config.baseUrl);
    },
  }),
  listing({
    path: '/users',
    access: 'organizations',
    summary: 'List the users, oldest first; deactivated ones only with search or filter',
    query: {
      q: text({ least: 1 })
        .optional()
        .meta({ description: 'Words; each begins a word of login, email or a name. Case and accents do not count.' }),
      search: z.string().optional(),
      filter: z.string().optional(),
    },
    item: user,
    handler: async ({ services, query, request }) =>
      mapPage(await listUsers(services, query, request), (found) => presentUser(found, services.config.baseUrl)),
  }),
  endpoint({
    method: 'GET',
    path: '/users/:id',
    access: 'organizations',
    summary: 'Read a user, by id or login; me is the owner of the token',
    params: idParams,
    response: user,
    handler: async ({ services, params, request }) => {
      const id = params.id === 'me' ? request.actor.id : params.id;
      return presentUser(await getUser(services, id, request), services.config.baseUrl);
    },
  }),
  endpoint({
    method: 'POST',
    path: '/users/:id',
    access: 'organizations',
    summary: 'Change some attributes of a user; null removes one',
    params: idParams,
    body: z.strictObject({ profile: profileChanges.optional(), credentials: userCredentials.optional() }),
    response: user,
    handler: async ({ services, params, body, request }) => {
      const { profile, credentials } = body;
      const change = { profile: profile && { merge: profile }, ...givenPassword(credentials) };
      return presentUser(await changeUser(services, params.id, change, request), services.config.baseUrl);
    },
  }),
  endpoint({
    method: 'PUT',
    path: '/users/:id',
    access: 'organizations',
    summary: 'Replace the profile of a user',
    params: idParams,
    body: z.strictObject({ profile: userProfile, credentials: userCredentials.optional() }),
    response: user,
    handler: async ({ services, params, body, request }) => {
      const { profile, credentials } = body;
      const change = { profile: { replaceBy: profile }, ...givenPassword(credentials) };
      return presentUser(await changeUser(services, params.id, change, request), services.config.baseUrl);
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/users/:id',
    access: 'organizations',
    summary: 'Deactivate a user; delete one who is deactivated',
    params: idParams,
    handler: ({ services, params, request }) => deleteUser(services, params.id, request),
  }),
];

export function presentUser(found: User, baseUrl: string): z.input<typeof user> {
  const self = `${baseUrl}/api/v1/users/${found.id}`;
  const status = statusAt(found, present());
  const steps = possibleSteps({ status, hasPassword: found.passwordHash !== null, awaitsApproval: awaitsApproval(found) });
  const stepLinks = steps.map((step) => [STEP_LINKS[step], { href: `${self}/lifecycle/${step}`, method: 'POST' as const }]);
  return {
    id: found.id,
    status,
    created: writeTime(found.created),
    activated: writeTimeOrNull(found.activated),
    approvalRequested: writeTimeOrNull(found.approvalRequested),
    statusChanged: writeTimeOrNull(found.statusChanged),
    lastLogin: writeTimeOrNull(found.lastLogin),
    lastUpdated: writeTime(found.lastUpdated),
    passwordChanged: writeTimeOrNull(found.passwordChanged),
    profile: profileFields(found),
    credentials: { provider: { type: 'OKTA', name: 'GATEHOUSE' } },
    _links: { self: { href: self }, ...Object.fromEntries(stepLinks) },
  };
}
