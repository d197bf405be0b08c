/** The branding of an organization, and how it replaces the service's on a page. */
import type { Branding } from '../settings/settings.service.ts';

/** null: as the service presents itself. */
export interface OrganizationBranding extends Pick<Branding, 'logoUrl' | 'primaryColorHex' | 'primaryColorDarkHex'> {
  /** null: the organization's name. */
  readonly name: string | null;
}

export const NO_BRANDING: OrganizationBranding = { name: null, logoUrl: null, primaryColorHex: null, primaryColorDarkHex: null };

/** With the name under which it appears. */
export type OrganizationLook = OrganizationBranding & { readonly name: string };

/** The service's branding with what an organization has set. Both colours go together: one that is made from the other must not mix two brands. */
export function brandedFor(service: Branding, look: OrganizationLook | undefined): Branding {
  if (look === undefined) return service;
  const { name, logoUrl, primaryColorHex, primaryColorDarkHex } = look;
  return {
    ...service,
    name,
    ...(logoUrl !== null && { logoUrl }),
    ...((primaryColorHex !== null || primaryColorDarkHex !== null) && { primaryColorHex, primaryColorDarkHex }),
  };
}
