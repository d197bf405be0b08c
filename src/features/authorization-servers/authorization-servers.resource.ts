import type { DetailType } from '../authorization-details/detail-types.resource.ts';
import type { ServerClaim } from '../claims/custom-claims.policy.ts';
import type { ClientIdMetadataSettings } from '../client-documents/client-id.policy.ts';
import type { AccessPolicy } from '../policies/access-policy.policy.ts';
import type { RegistrationSettings } from '../registration/registration.policy.ts';
import type { Scope } from '../scopes/scopes.resource.ts';
import type { RotationMode, SigningChoice } from './signing-keys.policy.ts';
import type { SigningKey } from './signing-keys.resource.ts';

export type ServerStatus = 'ACTIVE' | 'INACTIVE';

/** RFC 9068 section 2.1, and the value that older resource servers expect. */
type AccessTokenType = 'at+jwt' | 'JWT';

export interface AuthorizationServer extends SigningChoice {
  /** `built-in`, `default`, or a chosen ID; the last path segment of a custom server's issuer. */
  readonly id: string;
  /** Small number that protocol rows contain instead of the ID. */
  readonly key: number;
  readonly name: string;
  readonly description: string;
  /** The default `aud` of its access tokens. */
  readonly audience: string;
  /** Further audiences that a request can select by `resource` (RFC 8707). */
  readonly furtherAudiences: readonly string[];
  readonly profile: 'service' | 'openid' | 'fapi2';
  readonly accessTokenFormat: 'opaque' | 'jwt';
  /** The `typ` of its JWT access tokens. */
  readonly accessTokenType: AccessTokenType;
  readonly accessTokenSeconds: number;
  /** Maximum, since the sign-in. */
  readonly refreshTokenSeconds: number;
  /** Sliding, since the last use. */
  readonly refreshTokenWindowSeconds: number;
  /** Are its keys rotated automatically? */
  readonly rotationMode: RotationMode;
  readonly clientIdMetadata: ClientIdMetadataSettings;
  readonly registration: RegistrationSettings;
  readonly status: ServerStatus;
  /** Cannot be deleted. */
  readonly system: boolean;
  readonly created: Date;
  readonly lastUpdated: Date;
}

/** A server with everything that a Provider is built from. */
export interface AuthorizationServerParts {
  readonly server: AuthorizationServer;
  readonly scopes: readonly Scope[];
  readonly detailTypes: readonly DetailType[];
  readonly claims: readonly ServerClaim[];
  readonly keys: readonly SigningKey[];
  /** The active ones. */
  readonly policies: readonly AccessPolicy[];
}
