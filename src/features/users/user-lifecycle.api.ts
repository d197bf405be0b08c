/** `users/{id}/lifecycle`: the lifecycle steps of Okta's Users API, and `users/{id}/sessions`. */
import { z } from 'zod';
import { type Endpoint, endpoint } from '../../api/endpoint.ts';
import { idParams } from '../../api/fields.ts';
import { resetUserFactors } from '../second-factors/factors.service.ts';
import { clearSessions } from '../sessions/user-sessions.service.ts';
import type { LifecycleStep } from './user-lifecycle.policy.ts';
import { activateUser, reactivateUser, refuseSignUp, resetPassword, takeStep } from './user-lifecycle.service.ts';
import { presentUser, user } from './users.api.ts';

const flag = (otherwise: 'true' | 'false') =>
  z
    .enum(['true', 'false'])
    .default(otherwise)
    .transform((value) => value === 'true');

const common = { method: 'POST', access: 'organizations', params: idParams } as const;

const plainStep = (step: LifecycleStep, summary: string): Endpoint =>
  endpoint({
    ...common,
    path: `/users/:id/lifecycle/${step}`,
    summary,
    response: z.object({}),
    handler: async ({ services, params, request }) => {
      await takeStep(services, params.id, step, request);
      return {};
    },
  });

export const userLifecycle: readonly Endpoint[] = [
  endpoint({
    ...common,
    path: '/users/:id/lifecycle/activate',
    summary:
      'Activate a user; a user without a password is invited: the link to choose one is e-mailed or, with sendEmail=false or without e-mail, returned in the response',
    query: z.object({ sendEmail: flag('true') }),
    response: z.object({ activationUrl: z.url().optional() }),
    handler: async ({ services, params, query, request }) => ({ activationUrl: await activateUser(services, params.id, query, request) }),
  }),
  endpoint({
    ...common,
    path: '/users/:id/lifecycle/reactivate',
    summary: 'Send a new invitation to a user without a password; the link is e-mailed or, with sendEmail=false, returned in the response',
    query: z.object({ sendEmail: flag('true') }),
    response: z.object({ activationUrl: z.url().optional() }),
    handler: async ({ services, params, query, request }) => ({ activationUrl: await reactivateUser(services, params.id, query, request) }),
  }),
  endpoint({
    ...common,
    path: '/users/:id/lifecycle/refuse',
    summary: 'Refuse a pending sign-up; the account is deactivated, and the user gets an e-mail unless sendEmail=false',
    query: z.object({ sendEmail: flag('true') }),
    response: z.object({}),
    handler: async ({ services, params, query, request }) => {
      await refuseSignUp(services, params.id, query, request);
      return {};
    },
  }),
  plainStep('deactivate', 'Deactivate a user; their sessions and tokens end permanently'),
  plainStep('suspend', 'Suspend a user; their sessions and tokens end permanently'),
  plainStep('unsuspend', 'Unsuspend a user'),
  plainStep('unlock', 'Unlock a user'),
  endpoint({
    ...common,
    path: '/users/:id/lifecycle/expire_password',
    summary: "Expire a user's password; they choose a new one at the next sign-in",
    response: user,
    handler: async ({ services, params, request }) =>
      presentUser(await takeStep(services, params.id, 'expire_password', request), services.config.baseUrl),
  }),
  endpoint({
    ...common,
    path: '/users/:id/lifecycle/reset_password',
    summary: "Reset a user's password; the link to choose a new one is e-mailed or, with sendEmail=false, returned in the response",
    query: z.object({ sendEmail: flag('true') }),
    response: z.object({ resetPasswordUrl: z.url().optional() }),
    handler: async ({ services, params, query, request }) => ({
      resetPasswordUrl: await resetPassword(services, params.id, query, request),
    }),
  }),
  endpoint({
    ...common,
    path: '/users/:id/lifecycle/reset_factors',
    summary: 'Reset all second factors of a user, and the recovery codes; the same as DELETE users/{id}/factors',
    response: z.object({}),
    handler: async ({ services, params, request }) => {
      await resetUserFactors(services, params.id, request);
      return {};
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/users/:id/sessions',
    access: 'organizations',
    summary: 'End the browser sessions of a user; with oauthTokens=true their tokens, too',
    params: idParams,
    query: z.object({ oauthTokens: flag('false') }),
    handler: ({ services, params, query, request }) => clearSessions(services, params.id, query, request),
  }),
];
