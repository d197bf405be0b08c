/** `settings/mail`: the mail server, and a test e-mail. */
import { z } from 'zod';
import { type Endpoint, endpoint } from '../../api/endpoint.ts';
import { MAIL_SECURITY, mailSettingsBody } from './mail-settings.resource.ts';
import { readMailSettings, replaceMailSettings } from './mail-settings.service.ts';
import { sendTestMail } from './test-mail.service.ts';

const response = z.object({
  source: z.enum(['ENVIRONMENT', 'SETTINGS', 'NONE']).meta({ description: 'Where the mail server comes from. SMTP_URL takes precedence' }),
  host: z.string().nullable(),
  port: z.int().nullable(),
  security: z.enum(MAIL_SECURITY),
  username: z.string().nullable(),
  passwordSet: z.boolean(),
  fromAddress: z.string().nullable(),
  fromName: z.string().nullable(),
  replyTo: z.string().nullable(),
  environment: z
    .object({
      host: z.string(),
      port: z.int().nullable(),
      security: z.enum(MAIL_SECURITY),
      hasCredentials: z.boolean(),
      fromAddress: z.string(),
      fromName: z.string().nullable(),
    })
    .nullable()
    .meta({ description: 'The server of SMTP_URL and MAIL_FROM; null: they are not set' }),
});

export const testMailResponse = z.object({
  outcome: z.enum(['taken', 'failed', 'not-possible', 'no-address', 'too-many']),
  failure: z
    .object({
      kind: z.enum(['no-such-server', 'not-reached', 'too-late', 'not-secure', 'login', 'recipient', 'mail', 'other']),
      words: z.string().meta({ description: 'The error of the mail server or the network' }),
    })
    .optional(),
});

const EXAMPLE = { host: 'mail.example.com', security: 'STARTTLS', fromAddress: 'id@example.com', replyTo: 'help@example.com' };

export const mailSettingsEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/settings/mail',
    access: 'service',
    summary: 'Read the mail server',
    response,
    handler: ({ services }) => readMailSettings(services),
  }),
  endpoint({
    method: 'PUT',
    path: '/settings/mail',
    access: 'service',
    summary: 'Replace the mail server; absent fields return to their defaults; an absent password stays',
    body: mailSettingsBody,
    examples: { 'A server with STARTTLS': EXAMPLE },
    response,
    handler: ({ services, body, request }) => replaceMailSettings(services, body, request),
  }),
  endpoint({
    method: 'POST',
    path: '/settings/mail/test',
    access: 'service',
    summary: "Send a test e-mail to the caller’s own address, and return the mail server's response",
    response: testMailResponse,
    handler: ({ services, request }) => sendTestMail(services, request),
  }),
];
