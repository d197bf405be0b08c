/** `settings/telephony`: the webhook that sends codes to phones, and a test message. */
import { z } from 'zod';
import { type Endpoint, endpoint } from '../../api/endpoint.ts';
import { telephonySettingsBody } from './telephony-settings.resource.ts';
import { readTelephony, replaceTelephony, tryTelephony } from './telephony-settings.service.ts';

const response = z.object({
  url: z.string().nullable(),
  secretSet: z.boolean(),
  prefixes: z.array(z.string()).readonly(),
  mostPerDay: z.int(),
});

const EXAMPLE = { url: 'https://sms.example.com/gatehouse', secret: `whsec_${'A'.repeat(43)}=`, prefixes: ['+49', '+43'], mostPerDay: 500 };

export const telephonyEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/settings/telephony',
    access: 'service',
    summary: 'Read the webhook that sends codes to phones',
    response,
    handler: ({ services }) => readTelephony(services),
  }),
  endpoint({
    method: 'PUT',
    path: '/settings/telephony',
    access: 'service',
    summary: 'Replace the webhook that sends codes to phones; what is absent returns to its default, but the secret, which stays',
    body: telephonySettingsBody,
    examples: { 'A webhook for two countries': EXAMPLE },
    response,
    handler: ({ services, body, request }) => replaceTelephony(services, body, request),
  }),
  endpoint({
    method: 'POST',
    path: '/settings/telephony/test',
    access: 'service',
    summary: 'Send a test message to a number, and return the response of the webhook',
    body: z.strictObject({ phoneNumber: z.string().min(1).max(40), channel: z.enum(['SMS', 'CALL']).default('SMS') }),
    response: z.object({
      outcome: z.enum(['SENT', 'TELEPHONY_OFF', 'NUMBER_NOT_ALLOWED', 'TOO_MANY_REQUESTS', 'TELEPHONY_FAILED']),
      problem: z.string().optional().meta({ description: 'Why it failed, e.g. TIMEOUT, STATUS or REFUSED' }),
      status: z.int().optional().meta({ description: 'HTTP status of the response' }),
      body: z.string().optional().meta({ description: 'The beginning of the response' }),
    }),
    handler: ({ services, body: { phoneNumber, channel }, request }) => tryTelephony(services, phoneNumber, channel, request),
  }),
];
