/** People for the tests of `users`: as the API shows them, and administrators of every kind who call it. */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { Role } from '../../src/features/administrators/administration.policy.ts';
import { createApiToken } from '../../src/features/api-tokens/api-tokens.service.ts';
import { SYSTEM } from '../../src/features/audit/audit-event.policy.ts';
import { createUser } from '../../src/features/users/users.service.ts';
import type { Answer, ErrorObject, ManagementApi } from '../support/management-api.ts';

export interface User {
  id: string;
  status: string;
  created: string;
  activated: string | null;
  statusChanged: string | null;
  lastUpdated: string;
  passwordChanged: string | null;
  profile: Record<string, string>;
  credentials: unknown;
  _links: Record<string, { href: string; method?: string }>;
}

export const PASSWORD = 'correct horse battery';

export const unique = (what: string): string => `${what}-${randomBytes(6).toString('hex')}`;

export interface Administrator {
  readonly id: string;
  readonly token: string;
  call<T = ErrorObject>(method: string, path: string, body?: unknown): Promise<Answer<T>>;
}

/** Somebody with these roles, and an API token of his. */
export async function administrator(api: ManagementApi, ...roles: Role[]): Promise<Administrator> {
  const { id } = await createUser(api.services, { profile: { login: unique('admin') }, activate: true, roles }, SYSTEM);
  const { value } = await createApiToken(api.services, { name: 'x', userId: id }, SYSTEM);
  return { id, token: value, call: (method, path, body) => api.call(method, path, body, { authorization: `SSWS ${value}` }) };
}

export async function organization(api: ManagementApi): Promise<string> {
  const answer = await api.call<{ orgId: string }>('POST', `/account/org?orgName=${unique('org')}`, {});
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body.orgId;
}

/** A user with a password. @param more of the body */
export async function person(api: ManagementApi, more: { orgId?: string; profile?: Record<string, unknown> } = {}): Promise<User> {
  const { profile, ...rest } = more;
  const body = { profile: { login: unique('user'), ...profile }, credentials: { password: { value: PASSWORD } }, ...rest };
  const answer = await api.call<User>('POST', '/users', body);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body;
}

/** As a member does who has become an owner. */
export async function setPassword(api: ManagementApi, userId: string): Promise<void> {
  const answer = await api.call('POST', `/users/${userId}`, { credentials: { password: { value: PASSWORD } } });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
}

/** The audit events about somebody, the oldest first. */
export async function eventsAbout(api: ManagementApi, userId: string) {
  const { knex } = api.services.database;
  return knex('audit_events')
    .whereRaw(`target @> ?::jsonb`, [JSON.stringify([{ id: userId }])])
    .orderBy('seq');
}
