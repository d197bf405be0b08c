/** The fields of an organization's policy. Absent fields have the service's values. */
import { z } from 'zod';
import { ORGANIZATION_MFA } from './organization-policy.policy.ts';

/** A year: the maximum of the service's own setting. */
const LONGEST_HOURS = 365 * 24;

export const organizationPolicyFields = z.strictObject({
  mfa: z.enum(ORGANIZATION_MFA).exactOptional().meta({
    description: 'REQUIRED: who signs in for the organization uses a second factor. INHERIT: as the sign-in policy of the service says',
  }),
  sessionIdleMinutes: z.int().min(1).max(43_200).nullable().exactOptional().meta({
    description: 'Users sign in again when they have not signed in for the organization for so long; null: as the service has it',
  }),
  sessionLifetimeHours: z
    .int()
    .min(1)
    .max(LONGEST_HOURS)
    .nullable()
    .exactOptional()
    .meta({ description: 'Users sign in again so long after their sign-in, and refresh tokens end then; null: as the service has it' }),
});

/** The complete response. */
export const organizationPolicyResponse = z.object({
  mfa: z.enum(ORGANIZATION_MFA),
  sessionIdleMinutes: z.number().nullable(),
  sessionLifetimeHours: z.number().nullable(),
});
