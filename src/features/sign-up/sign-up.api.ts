/** `settings/registration`: who can create accounts. */
import { z } from 'zod';
import { type Endpoint, endpoint } from '../../api/endpoint.ts';
import { readSettings } from '../settings/settings.service.ts';
import { registrationBody } from './sign-up.resource.ts';
import { replaceRegistration } from './sign-up-fields.service.ts';

const response = z.object({
  enabled: z.boolean(),
  fields: z.array(z.object({ name: z.string(), required: z.boolean() })).readonly(),
  emailVerification: z.literal('REQUIRED'),
  allowedDomains: z.array(z.string()).readonly(),
  blockedDomains: z.array(z.string()).readonly(),
  groups: z.array(z.string()).readonly(),
  organization: z.string().nullable(),
  termsUrl: z.string().nullable(),
  privacyUrl: z.string().nullable(),
  approval: z.enum(['NONE', 'ADMIN']),
});

export const registrationEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/settings/registration',
    access: 'service',
    summary: 'Read who may create accounts themselves',
    response,
    handler: ({ services }) => readSettings(services, 'registration'),
  }),
  endpoint({
    method: 'PUT',
    path: '/settings/registration',
    access: 'service',
    summary: 'Replace who may create accounts themselves; what is absent returns to its default',
    body: registrationBody,
    response,
    handler: ({ services, body, request }) => replaceRegistration(services, body, request),
  }),
];
