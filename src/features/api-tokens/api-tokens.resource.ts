/** API tokens: the fields of a record. */

/** API: for the management API. SCIM: only for provisioning at /scim/v2. */
export const API_TOKEN_TYPES = ['API', 'SCIM'] as const;
export type ApiTokenType = (typeof API_TOKEN_TYPES)[number];

export interface ApiToken {
  readonly id: string;
  readonly name: string;
  readonly type: ApiTokenType;
  /** SCIM tokens: the organization whose members the token can read and change. null: the whole service. */
  readonly orgId: string | null;
  /** Its creator. The token acts with their current roles. */
  readonly userId: string;
  readonly created: Date;
  /** null: never. */
  readonly expiresAt: Date | null;
  readonly lastUsed: Date | null;
}
