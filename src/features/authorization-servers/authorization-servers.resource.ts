import type { DetailType } from '../authorization-details/detail-types.resource.ts';
import type { ServerClaim } from '../claims/custom-claims.policy.ts';
import type { ClientIdMetadataSettings } from '../client-documents/client-id.policy.ts';
import type { AccessPolicy } from '../policies/access-policy.policy.ts';
import type { RegistrationSettings } from '../registration/registration.policy.ts';
import type { Scope } from '../scopes/scopes.resource.ts';
import type { RotationMode, SigningChoice } from './signing-keys.policy.ts';
import type { SigningKey } from './signing-keys.resource.ts';

export type ServerStatus = 'ACTIVE' | 'INACTIVE';

/** RFC 9068 section 2.1, and what resource servers know that are older. */
type AccessTokenType = 'at+jwt' | 'JWT';

export interface AuthorizationServer extends SigningChoice {
  /** `built-in`, `default`, or what its creator chose; the last path segment of a custom server's issuer. */
  readonly id: string;
  /** Small number that rows of the protocol carry in place of the id. */
  readonly key: number;
  readonly name: string;
  readonly description: string;
  /** The default `aud` of its access tokens. */
  readonly audience: string;
  /** Others that a request can ask for by `resource` (RFC 8707). */
  readonly furtherAudiences: readonly string[];
  readonly profile: 'service' | 'openid' | 'fapi2';
  readonly accessTokenFormat: 'opaque' | 'jwt';
  /** The `typ` of its JWT access tokens. */
  readonly accessTokenType: AccessTokenType;
  readonly accessTokenSeconds: number;
  /** Absolute, from the sign-in on. */
  readonly refreshTokenSeconds: number;
  /** Sliding, from the last use on. */
  readonly refreshTokenWindowSeconds: number;
  /** Are its keys rotated by themselves? */
  readonly rotationMode: RotationMode;
  readonly clientIdMetadata: ClientIdMetadataSettings;
  readonly registration: RegistrationSettings;
  readonly status: ServerStatus;
  /** May not be deleted. */
  readonly system: boolean;
  readonly created: Date;
  readonly lastUpdated: Date;
}

/** A server with everything a Provider is built from. */
export interface AuthorizationServerParts {
  readonly server: AuthorizationServer;
  readonly scopes: readonly Scope[];
  readonly detailTypes: readonly DetailType[];
  readonly claims: readonly ServerClaim[];
  readonly keys: readonly SigningKey[];
  /** Those in force. */
  readonly policies: readonly AccessPolicy[];
}
