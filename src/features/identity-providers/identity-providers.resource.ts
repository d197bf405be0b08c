/** Identity providers: the fields of a record. */
import type { IdentityProviderSettings } from './identity-provider.policy.ts';

export type IdentityProviderStatus = 'ACTIVE' | 'INACTIVE';

export interface IdentityProvider extends IdentityProviderSettings {
  readonly id: string;
  /** Unique. */
  readonly name: string;
  readonly status: IdentityProviderStatus;
  /** The client secret, sealed in the context `identity_provider:<id>`; null: there is none. */
  readonly sealedSecret: string | null;
  readonly created: Date;
  readonly lastUpdated: Date;
}

/** Link of a user to an identity provider. */
export interface IdentityProviderLink {
  readonly idpId: string;
  /** ID of the user at the provider, e.g. `sub` (OpenID Connect Core 1.0 section 2). */
  readonly subject: string;
  readonly userId: string;
  /** Name by which users recognize their account at the provider; null: unknown. */
  readonly knownAs: string | null;
  readonly created: Date;
  /** null: no sign-in has used it yet. */
  readonly lastUsed: Date | null;
}
