/** An identity provider of an organization: the fields of a record. */
import { z } from 'zod';
import { organizationDomain } from '../../platform/dns/domain-name.ts';
import { text } from '../../platform/validation/text.ts';
import { MOST_DOMAINS } from '../organization-domains/organization-domains.resource.ts';

/** OFFERED: an additional way to sign in. REQUIRED: the only one for users of the domains. */
export const PROVIDER_MODES = ['OFFERED', 'REQUIRED'] as const;

export const organizationProviderBody = z.strictObject({
  domains: z
    .array(organizationDomain)
    .max(MOST_DOMAINS)
    .default([])
    .transform((domains) => [...new Set(domains)].sort())
    .meta({ description: 'Verified domains of the organization. Addresses of these lead to the provider' }),
  mode: z
    .enum(PROVIDER_MODES)
    .default('OFFERED')
    .meta({ description: 'REQUIRED: users of the domains sign in there only. A domain requires one provider at most' }),
  autoJoin: z
    .boolean()
    .default(true)
    .meta({ description: 'A sign-in with a verified address of one of the domains makes the user a member' }),
  defaultDepId: text()
    .nullable()
    .default(null)
    .transform((depId) => depId || null)
    .meta({ description: 'Of new members. Empty, null or absent: directly in the organization' }),
});

export interface OrganizationProvider extends Readonly<z.output<typeof organizationProviderBody>> {
  readonly orgId: string;
  readonly idpId: string;
  /** Name of the provider. */
  readonly name: string;
  readonly status: 'ACTIVE' | 'INACTIVE';
  readonly created: Date;
  readonly lastUpdated: Date;
}

export type OrganizationProviderFields = z.output<typeof organizationProviderBody>;
