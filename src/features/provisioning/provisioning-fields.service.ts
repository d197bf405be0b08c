/** Schemas of SCIM target settings. */
import { z } from 'zod';
import { text } from '../../platform/validation/text.ts';
import { calledUri } from '../applications/application-settings.service.ts';
import { attributePath, isList } from './remote-user.policy.ts';

const MOST_MAPPED = 100;

const secret = z
  .string()
  .min(1)
  .max(8192)
  .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII characters without spaces')
  .exactOptional()
  .meta({ description: 'Never shown; absent in a change: stays as it is, as long as the host of the address that it is sent to does' });

const auth = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('BEARER'), secret }),
  z.strictObject({
    type: z.literal('OAUTH'),
    tokenUrl: calledUri,
    clientId: text({ least: 1, most: 1000 }),
    scope: text({ least: 1, most: 1000 }).exactOptional(),
    secret,
  }),
]);

/** With values that name a field of the profile; whether it exists is decided with the schema of users. */
const mapping = z
  .record(z.string().max(300), text({ least: 1, most: 100 }).nullable())
  .superRefine((entries, ctx) => {
    if (Object.keys(entries).length > MOST_MAPPED) ctx.addIssue({ code: 'custom', message: `must have at most ${MOST_MAPPED} entries` });
    for (const [name, field] of Object.entries(entries)) {
      const path = attributePath(name);
      if (path === undefined)
        ctx.addIssue({ code: 'custom', path: [name], message: 'must be the path of an attribute, such as name.givenName' });
      else if (isList(path) && field !== null)
        ctx.addIssue({ code: 'custom', path: [name], message: 'has several values. Set it to null' });
    }
  })
  .meta({
    description:
      'SCIM attributes and the field of the profile each is taken from; null: not sent. The rest is sent as the SCIM server has it',
  });

export const provisioningBody = z.strictObject({
  status: z.enum(['ACTIVE', 'INACTIVE']).exactOptional(),
  baseUrl: calledUri
    .refine((value) => !/[?#]/.test(value), 'must not have a query or fragment')
    .transform((value) => value.replace(/\/+$/, ''))
    .meta({ description: 'Where /Users and /Groups are, e.g. https://app.example/scim/v2' }),
  auth,
  mapping: mapping.exactOptional(),
  leavers: z.enum(['DEACTIVATE', 'DELETE']).exactOptional(),
  pushGroups: z.boolean().exactOptional(),
});

export type ProvisioningInput = z.output<typeof provisioningBody>;
