/**
 * `users/{id}/factors`: a user's second factors, the reset of lost ones, and sent codes set up and verified by API, as in Okta's Factors API. Users
 * set up apps and passkeys themselves.
 */
import { z } from 'zod';
import { type Endpoint, endpoint, listing } from '../../api/endpoint.ts';
import { idParams, links, time, writeTime } from '../../api/fields.ts';
import { inPages } from '../../platform/database/paging.ts';
import { text } from '../../platform/validation/text.ts';
import { activateUserFactor, enrolUserFactor, verifyUserFactor } from '../message-factors/managed-message-factors.service.ts';
import { MESSAGE_FACTORS, policyNameOf, typeOfPolicyName } from '../message-factors/message-factors.policy.ts';
import type { User } from '../users/users.resource.ts';
import {
  getUserFactor,
  isMessageFactor,
  listUserFactors,
  resetUserFactor,
  resetUserFactors,
  type SecondFactor,
} from './factors.service.ts';

// A second factor as in Okta's Factors API: an authenticator app is a `token:software:totp` of Google, whatever its vendor, a passkey is `webauthn`
// of FIDO, and sent codes are of OKTA.

export const factorFields = {
  id: z.string(),
  factorType: z.enum(['token:software:totp', ...MESSAGE_FACTORS, 'webauthn']),
  provider: z.enum(['GOOGLE', 'FIDO', 'OKTA']),
  vendorName: z.enum(['GOOGLE', 'FIDO', 'OKTA']),
  profile: z.object({
    credentialId: z.string().optional(),
    authenticatorName: z.string().optional(),
    email: z.string().optional().meta({ description: 'Where the codes go, masked' }),
    phoneNumber: z.string().optional().meta({ description: 'Where the codes go: its last digits' }),
  }),
};

const factorStates = {
  status: z
    .enum(['ACTIVE', 'PENDING_ACTIVATION', 'DISABLED'])
    .meta({ description: 'PENDING_ACTIVATION: its first code has not been entered; DISABLED: the sign-in policy does not allow it' }),
  created: time,
  lastUpdated: time,
};

/** @param login user name, for the account's name in apps */
export function presentFactor(factor: SecondFactor, login: string) {
  const { id, name } = factor;
  if (factor.type === 'PASSKEY') return { id, ...PASSKEY, profile: { credentialId: factor.credentialId, authenticatorName: name } };
  if (isMessageFactor(factor))
    return {
      id,
      factorType: policyNameOf(factor.type),
      ...OWN,
      profile: factor.type === 'EMAIL' ? { email: name } : { phoneNumber: name },
    };
  return { id, ...APP, profile: { credentialId: login, authenticatorName: name } };
}

const APP = { factorType: 'token:software:totp', provider: 'GOOGLE', vendorName: 'GOOGLE' } as const;
const OWN = { provider: 'OKTA', vendorName: 'OKTA' } as const;
const PASSKEY = { factorType: 'webauthn', provider: 'FIDO', vendorName: 'FIDO' } as const;

/** Only use changes a factor. */
const presentStates = (factor: SecondFactor) => ({
  status: isMessageFactor(factor) ? factor.status : ('ACTIVE' as const),
  created: writeTime(factor.created),
  lastUpdated: writeTime(factor.lastUsed ?? factor.created),
});

const factor = z.object({ ...factorFields, ...factorStates, _links: links.extend({ user: z.object({ href: z.url() }) }) });
const factorParams = idParams.extend({ factorId: z.string().min(1) });

export const userFactorEndpoints: readonly Endpoint[] = [
  listing({
    path: '/users/:id/factors',
    access: 'organizations',
    summary: 'List the second factors of a user: the authenticator app, codes that are sent, then the passkeys, oldest first',
    params: idParams,
    item: factor,
    handler: async ({ services, params, query, request }) => {
      const { user, factors } = await listUserFactors(services, params.id, request);
      return inPages(
        factors.map((found) => present(found, user, services.config.baseUrl)),
        query,
      );
    },
  }),
  endpoint({
    method: 'GET',
    path: '/users/:id/factors/:factorId',
    access: 'organizations',
    summary: 'Read a second factor of a user',
    params: factorParams,
    response: factor,
    handler: async ({ services, params, request }) => {
      const { user, factor: found } = await getUserFactor(services, params.id, params.factorId, request);
      return present(found, user, services.config.baseUrl);
    },
  }),
  endpoint({
    method: 'POST',
    path: '/users/:id/factors',
    access: 'organizations',
    summary: 'Set up codes that are sent to a user as a second factor; the first code activates them',
    params: idParams,
    query: z.object({
      activate: z.enum(['true', 'false']).default('false').meta({ description: 'true: without a first code; you vouch for the address' }),
    }),
    body: z.strictObject({
      factorType: z.enum(MESSAGE_FACTORS),
      provider: z.literal('OKTA'),
      profile: z
        .strictObject({
          email: text({ least: 1, most: 320 }).exactOptional().meta({ description: 'That of the user; absent: the same' }),
          phoneNumber: text({ least: 1, most: 40 })
            .exactOptional()
            .meta({ description: 'With its country code; required for sms and call' }),
        })
        .exactOptional(),
    }),
    response: factor,
    handler: async ({ services, params, query, body: { factorType, profile }, request }) => {
      const wish = { type: typeOfPolicyName(factorType), ...profile, activate: query.activate === 'true' };
      const { user, factor: made } = await enrolUserFactor(services, params.id, wish, request);
      return present(made, user, services.config.baseUrl);
    },
  }),
  endpoint({
    method: 'POST',
    path: '/users/:id/factors/:factorId/lifecycle/activate',
    access: 'organizations',
    summary: 'Activate a second factor by the first code that was sent',
    params: factorParams,
    body: z.strictObject({ passCode: text({ least: 1, most: 100 }) }),
    response: factor,
    handler: async ({ services, params, body: { passCode }, request }) => {
      const { user, factor: active } = await activateUserFactor(services, params.id, { factorId: params.factorId, passCode }, request);
      return present(active, user, services.config.baseUrl);
    },
  }),
  endpoint({
    method: 'POST',
    path: '/users/:id/factors/:factorId/verify',
    access: 'organizations',
    summary: 'Send a code of a second factor to its user, or check the code that they give',
    params: factorParams,
    body: z.strictObject({
      passCode: text({ least: 1, most: 100 })
        .exactOptional()
        .meta({ description: 'Absent: a code is sent, if it is a factor of that kind' }),
    }),
    response: z.object({ factorResult: z.enum(['CHALLENGE', 'SUCCESS']) }),
    handler: async ({ services, params, body: { passCode }, request }) => ({
      factorResult: await verifyUserFactor(services, params.id, { factorId: params.factorId, passCode }, request),
    }),
  }),
  endpoint({
    method: 'DELETE',
    path: '/users/:id/factors/:factorId',
    access: 'organizations',
    summary: 'Reset a second factor of a user, e.g. a lost one; with the last one go the recovery codes',
    params: factorParams,
    handler: ({ services, params, request }) => resetUserFactor(services, params.id, params.factorId, request),
  }),
  endpoint({
    method: 'DELETE',
    path: '/users/:id/factors',
    access: 'organizations',
    summary: 'Reset all second factors of a user, and the recovery codes',
    params: idParams,
    handler: ({ services, params, request }) => resetUserFactors(services, params.id, request),
  }),
];

const present = (found: SecondFactor, user: User, baseUrl: string): z.input<typeof factor> => {
  const href = `${baseUrl}/api/v1/users/${user.id}`;
  return {
    ...presentFactor(found, user.login),
    ...presentStates(found),
    _links: { self: { href: `${href}/factors/${found.id}` }, user: { href } },
  };
};
