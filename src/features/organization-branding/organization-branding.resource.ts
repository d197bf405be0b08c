/** The branding of an organization, and how it replaces the service's on a page. */

/** Branding that an organization can override; null: the service's. */
interface Appearance {
  readonly logoUrl: string | null;
  /** `#rrggbb`, for links and buttons. */
  readonly primaryColorHex: string | null;
  /** The dark-mode colour; null: derived from the other one. */
  readonly primaryColorDarkHex: string | null;
}

export interface OrganizationBranding extends Appearance {
  /** null: the organization's name. */
  readonly name: string | null;
}

export const NO_BRANDING: OrganizationBranding = { name: null, logoUrl: null, primaryColorHex: null, primaryColorDarkHex: null };

/** Branding of an organization with the name to show. */
export type OrganizationDesign = OrganizationBranding & { readonly name: string };

/**
 * The service's branding with an organization's settings. Both colours come from the same source, because a derived colour must not mix two brands.
 */
export function brandedFor<B extends Appearance & { readonly name: string }>(service: B, look: OrganizationDesign | undefined): B {
  if (look === undefined) return service;
  const { name, logoUrl, primaryColorHex, primaryColorDarkHex } = look;
  return {
    ...service,
    name,
    ...(logoUrl !== null && { logoUrl }),
    ...((primaryColorHex !== null || primaryColorDarkHex !== null) && { primaryColorHex, primaryColorDarkHex }),
  };
}
