/** `settings/registration`: whether users can create accounts, with which data, and where the accounts belong. */
import { z } from 'zod';
import { isHttpsAddress } from '../../platform/validation/addresses.ts';
import { text } from '../../platform/validation/text.ts';
import type { SignUpSettings } from './sign-up.policy.ts';

export const NO_SIGN_UP: SignUpSettings = {
  enabled: false,
  fields: [
    { name: 'firstName', required: false },
    { name: 'lastName', required: false },
  ],
  emailVerification: 'REQUIRED',
  allowedDomains: [],
  blockedDomains: [],
  groups: [],
  organization: null,
  termsUrl: null,
  privacyUrl: null,
  approval: 'NONE',
};

const MOST_FIELDS = 20;
const MOST_DOMAINS = 500;

const domain = text({ least: 1, most: 253 })
  .transform((value) => value.toLowerCase())
  .refine((value) => /^(?=.{1,253}$)([^\s@/.]{1,63}\.)+[^\s@/.]{2,63}$/u.test(value), 'must be a domain, such as example.com');
const domains = z
  .array(domain)
  .max(MOST_DOMAINS)
  .transform((values) => [...new Set(values)])
  .exactOptional();
const link = text({ most: 2048 }).refine(isHttpsAddress, 'must be a URL that begins with https://').nullable().exactOptional();
const id = text({ least: 1, most: 100 });

const field = z.strictObject({ name: id, required: z.boolean().default(false) });

export const registrationBody = z.strictObject({
  enabled: z
    .boolean()
    .exactOptional()
    .meta({ description: 'May people create accounts themselves? An application may say otherwise for itself' }),
  fields: z
    .array(field)
    .max(MOST_FIELDS)
    .refine((fields) => new Set(fields.map(({ name }) => name)).size === fields.length, 'must not contain an attribute twice')
    .exactOptional()
    .meta({ description: 'What the form asks beside the e-mail address, in this order' }),
  emailVerification: z
    .literal('REQUIRED')
    .exactOptional()
    .meta({ description: 'The e-mail address is proved before the account exists; there is no other way' }),
  allowedDomains: domains.meta({ description: 'Only e-mail addresses of these domains; none: all' }),
  blockedDomains: domains.meta({ description: 'No e-mail addresses of these domains' }),
  groups: z
    .array(id)
    .max(20)
    .transform((ids) => [...new Set(ids)])
    .exactOptional()
    .meta({ description: 'The groups that new users join, by id' }),
  organization: id.nullable().exactOptional().meta({ description: 'The organization that new users join, by id' }),
  termsUrl: link.meta({ description: 'Terms of service that new users must accept' }),
  privacyUrl: link.meta({ description: 'A link to the privacy policy beside the form' }),
  approval: z
    .enum(['NONE', 'ADMIN'])
    .exactOptional()
    .meta({ description: 'ADMIN: new users are STAGED until an administrator activates or refuses them' }),
});
