/** Converts client metadata of RFC 7591 to the settings of an application, and back. The same rules apply as to an administrator's settings. */
import { z } from 'zod';
import { isLoopbackHost } from '../../platform/config/config.ts';
import type { GivenSettings } from '../applications/application-settings.policy.ts';
import { applicationLabel, clientFields, clientSecret, credentialFields } from '../applications/application-settings.service.ts';
import type { Application } from '../applications/applications.resource.ts';
import { responseFields } from '../applications/settings/encryption-keys.service.ts';
import { foreignRedirect, type RegistrationSettings } from './registration.policy.ts';

/** RFC 7591 section 3.2.2, and RFC 6750 section 3.1 for a wrong token. */
type RegistrationErrorCode =
  | 'invalid_redirect_uri'
  | 'invalid_client_metadata'
  | 'invalid_token'
  | 'invalid_request'
  | 'temporarily_unavailable';

export class RegistrationRefused extends Error {
  override readonly name = 'RegistrationRefused';

  constructor(
    readonly code: RegistrationErrorCode,
    message: string,
    readonly status = 400,
    /** Seconds. */
    readonly retryAfter?: number,
  ) {
    super(message);
  }
}

const GRANTS = ['authorization_code', 'refresh_token'] as const;

/** Settings of an application that a client can register unchanged. */
const settingFields = {
  redirect_uris: z.array(z.string()).min(1).pipe(clientFields.redirect_uris.unwrap()),
  token_endpoint_auth_method: credentialFields.token_endpoint_auth_method,
  token_endpoint_auth_signing_alg: credentialFields.token_endpoint_auth_signing_alg,
  grant_types: z.array(z.string()).max(20).optional(),
  response_types: z.array(z.literal('code', 'must be code')).max(20).optional(),
  application_type: z.enum(['web', 'native']).optional(),
  client_uri: clientFields.client_uri,
  tos_uri: clientFields.tos_uri,
  policy_uri: clientFields.policy_uri,
  jwks: clientFields.jwks,
  jwks_uri: clientFields.jwks_uri,
  post_logout_redirect_uris: clientFields.post_logout_redirect_uris,
  initiate_login_uri: clientFields.initiate_login_uri,
  backchannel_logout_uri: clientFields.backchannel_logout_uri,
  backchannel_logout_session_required: clientFields.backchannel_logout_session_required,
  ...responseFields,
  subject_type: clientFields.subject_type,
  sector_identifier_uri: clientFields.sector_identifier_uri,
  require_pushed_authorization_requests: clientFields.require_pushed_authorization_requests,
  require_signed_request_object: clientFields.require_signed_request_object,
  request_object_signing_alg: clientFields.request_object_signing_alg,
  authorization_details_types: clientFields.authorization_details_types,
  dpop_bound_access_tokens: clientFields.dpop_bound_access_tokens,
  tls_client_certificate_bound_access_tokens: clientFields.tls_client_certificate_bound_access_tokens,
  tls_client_auth_subject_dn: clientFields.tls_client_auth_subject_dn,
  tls_client_auth_san_dns: clientFields.tls_client_auth_san_dns,
  tls_client_auth_san_uri: clientFields.tls_client_auth_san_uri,
  tls_client_auth_san_ip: clientFields.tls_client_auth_san_ip,
  tls_client_auth_san_email: clientFields.tls_client_auth_san_email,
};

/** Other fields are ignored and missing in the response (RFC 7591 section 2). */
const metadataFields = z.object({
  ...settingFields,
  client_name: applicationLabel.optional(),
  /** Updates only: both must match the client (RFC 7592 section 2.2). */
  client_id: z.string().optional(),
  client_secret: clientSecret.optional(),
});

export interface ReadMetadata {
  readonly label: string | undefined;
  readonly settings: GivenSettings;
  readonly clientId: string | undefined;
  readonly secret: string | undefined;
}

/** @throws {RegistrationRefused} naming the field */
export function readClientMetadata(rules: RegistrationSettings, body: unknown): ReadMetadata {
  const result = metadataFields.safeParse(body);
  if (!result.success) {
    const { path = [], message = '' } = result.error.issues[0] ?? {};
    const isRedirect = path[0] === 'redirect_uris';
    throw new RegistrationRefused(
      isRedirect ? 'invalid_redirect_uri' : 'invalid_client_metadata',
      `${path.join('.') || 'the body'} ${message}`,
    );
  }
  const { client_name, client_id, client_secret, grant_types = ['authorization_code'], response_types: _, ...given } = result.data;
  const foreign = foreignRedirect(rules, given.redirect_uris);
  if (foreign !== undefined)
    throw new RegistrationRefused('invalid_redirect_uri', 'redirect_uris names a host that the authorization server does not allow');
  const refused = grant_types.find((type) => ['implicit', 'password', 'client_credentials'].includes(type));
  if (refused !== undefined) throw new RegistrationRefused('invalid_client_metadata', `grant_types must not contain ${refused}`);
  if (!grant_types.includes('authorization_code'))
    throw new RegistrationRefused('invalid_client_metadata', 'grant_types must contain authorization_code');
  const isNative = given.redirect_uris.every((uri) => isLoopback(uri) || !/^https?:/i.test(uri));
  const settings: GivenSettings = {
    ...given,
    // Command-line clients often omit it; only a native application may use any port (RFC 8252 section 7.3).
    application_type: given.application_type ?? (isNative ? 'native' : 'web'),
    token_endpoint_auth_method: given.token_endpoint_auth_method ?? 'client_secret_basic',
    // Grants that the service does not have are left out, as section 2 allows.
    grant_types: GRANTS.filter((type) => grant_types.includes(type)),
    response_types: ['code'],
    pkce_required: true,
    consent_method: 'REQUIRED',
    introspect_any: false,
    profile: 'openid',
    allowed_origins: [...new Set(given.redirect_uris.filter((uri) => /^https:/i.test(uri)).map((uri) => new URL(uri).origin))],
  };
  return { label: client_name, settings, clientId: client_id, secret: client_secret };
}

const isLoopback = (uri: string): boolean => isLoopbackHost(new URL(uri).hostname);

const SHOWN = Object.keys(settingFields) as (keyof typeof settingFields)[];

/** @param scopes that the client can request @returns the client information response (RFC 7591 section 3.2.1) without credentials */
export function presentClientMetadata({ id, label, settings, created }: Application, scopes: readonly string[]): Record<string, unknown> {
  const shown = SHOWN.map((name) => [name, settings[name]] as const).filter(([, value]) => value !== undefined);
  return {
    client_id: id,
    client_id_issued_at: Math.floor(created.getTime() / 1000),
    client_name: label,
    scope: scopes.join(' '),
    ...Object.fromEntries(shown),
  };
}
