/**
 * Rules across an application's OAuth settings: defaults and contradictions (OpenID Connect Dynamic Client Registration section 2; RFC 8252
 * sections 7 and 8; RFC 9700 section 2.1.1). Single fields are validated elsewhere.
 */

import type { ConsentMethod } from '../consents/consent.policy.ts';
import type { OrganizationSetting } from '../organizations/sign-in-organization.policy.ts';
import { CIBA_GRANT, DEVICE_GRANT, JWT_BEARER_GRANT, TOKEN_EXCHANGE_GRANT } from '../policies/access-policy.policy.ts';
import type { ApplicationRegistration } from '../sign-up/sign-up.policy.ts';
import { pairwiseProblems, type SubjectSettings } from '../subjects/pairwise.policy.ts';
import type { FederatedCredential } from './federated-credentials.policy.ts';
import { encryptionProblems, type RequestAlgSettings, type ResponseSettings, requestAlgProblems } from './settings/algorithms.policy.ts';

/** IDs of the service's own applications; others cannot have them. */
export const SYSTEM_APPLICATIONS = ['playground', 'console'] as const;
export type SystemApplicationId = (typeof SYSTEM_APPLICATIONS)[number];

/** In the order of the console. */
export const APPLICATION_TYPES = ['web', 'browser', 'native', 'service'] as const;
export type ApplicationType = (typeof APPLICATION_TYPES)[number];
export type TokenEndpointAuthMethod =
  | 'client_secret_basic'
  | 'client_secret_post'
  | 'client_secret_jwt'
  | 'private_key_jwt'
  | TlsMethod
  | 'none';
type TlsMethod = 'tls_client_auth' | 'self_signed_tls_client_auth';
/** The property that identifies its certificate (RFC 8705 section 2.1.2). */
export const TLS_SUBJECTS = [
  'tls_client_auth_subject_dn',
  'tls_client_auth_san_dns',
  'tls_client_auth_san_uri',
  'tls_client_auth_san_ip',
  'tls_client_auth_san_email',
] as const;

/** Grant types that an application can have and every server offers. */
export const APPLICATION_GRANT_TYPES = [
  'authorization_code',
  'implicit',
  'password',
  'client_credentials',
  'refresh_token',
  DEVICE_GRANT,
  CIBA_GRANT,
  TOKEN_EXCHANGE_GRANT,
  JWT_BEARER_GRANT,
] as const;
export type GrantType = (typeof APPLICATION_GRANT_TYPES)[number];

/**
 * The rules where the specifications differ: the service's specification (state required and of limited characters, nonce with every token of the
 * authorize endpoint, userinfo for profile, email, address or phone), OpenID Connect Core, or FAPI 2.0 Security Profile (fapi2.policy.ts).
 */
export type Profile = 'service' | 'openid' | 'fapi2';

/** Names as in the API and in the database. */
export interface ApplicationSettings
  extends ResponseSettings,
    SubjectSettings,
    RequestAlgSettings,
    Readonly<Partial<Record<(typeof TLS_SUBJECTS)[number], string | undefined>>> {
  readonly token_endpoint_auth_method: TokenEndpointAuthMethod;
  readonly pkce_required: boolean;
  /** Its authorization requests must be pushed (RFC 9126 section 6); absent: false. */
  readonly require_pushed_authorization_requests?: boolean | undefined;
  readonly application_type: ApplicationType;
  readonly redirect_uris: string[];
  readonly post_logout_redirect_uris: string[];
  /** The words of each value are in alphabetical order, e.g. `code id_token token`. */
  readonly response_types: string[];
  readonly grant_types: GrantType[];
  readonly consent_method: 'TRUSTED' | 'REQUIRED';
  readonly assignment: 'EVERYONE' | 'ASSIGNED';
  readonly client_uri?: string | undefined;
  readonly logo_uri?: string | undefined;
  /** `#rrggbb`, for its pages; absent: the service's colour. An extension: Okta's brands are bound to domains. */
  readonly brand_color?: string | undefined;
  readonly tos_uri?: string | undefined;
  readonly policy_uri?: string | undefined;
  readonly jwks?: { readonly keys: Record<string, unknown>[] } | undefined;
  readonly jwks_uri?: string | undefined;
  /** Tokens of other issuers that authenticate it in addition to its method; absent: none. An extension: RFC 7591 has no name for it. */
  readonly federated?: FederatedCredential[] | undefined;
  readonly initiate_login_uri?: string | undefined;
  readonly backchannel_logout_uri?: string | undefined;
  readonly backchannel_logout_session_required: boolean;
  /** Delivery mode of backchannel authentication (CIBA section 4); absent: poll. */
  readonly backchannel_token_delivery_mode?: 'poll' | 'ping' | undefined;
  /** Notification endpoint for mode ping. */
  readonly backchannel_client_notification_endpoint?: string | undefined;
  readonly allowed_origins: string[];
  /** The only user claims of its ID tokens; absent: all that the scopes allow. */
  readonly id_token_claims?: string[] | undefined;
  /** Absent: the authorization server's. */
  readonly profile?: Profile | null | undefined;
  /** IDs of the external providers on its sign-in page; absent: all active ones. An extension: Okta has routing rules. */
  readonly identity_providers?: string[] | undefined;
  /** Audiences of the APIs that it represents: it may exchange access tokens for them in addition to its own. Absent: none. */
  readonly token_exchange_audiences?: string[] | undefined;
  /** Authorization servers that it gets ID-JAGs for; absent: none. */
  readonly id_jag_targets?: IdJagTarget[] | undefined;
  /** Types of authorization details that it may request (RFC 9396 section 10); absent: none. */
  readonly authorization_details_types?: string[] | undefined;
  /** Must its authorization requests be signed request objects (RFC 9101 section 10.5)? Absent: false. */
  readonly require_signed_request_object?: boolean | undefined;
  /** May it introspect other applications' tokens? */
  readonly introspect_any: boolean;
  /** May it manage its own signal streams (Shared Signals Framework)? Absent: false. */
  readonly manage_signal_streams?: boolean | undefined;
  /** Do all its users need a second factor? Absent: the sign-in policy decides. */
  readonly mfa_required?: boolean | undefined;
  /** Are its access tokens bound to a key that it proves on each use (RFC 9449 section 5.2)? Absent: only if the request has a proof. */
  readonly dpop_bound_access_tokens?: boolean | undefined;
  /** Are its access tokens bound to its client certificate (RFC 8705 section 3.4)? Absent: false. */
  readonly tls_client_certificate_bound_access_tokens?: boolean | undefined;
  /** Can users create accounts on its sign-in page? Absent: INHERIT. */
  readonly registration?: ApplicationRegistration | undefined;
  /** Must its users sign in for one of their organizations? Absent: OPTIONAL. */
  readonly organization?: OrganizationSetting | undefined;
  readonly refresh_token: RefreshTokenSettings;
}

/** Another authorization server that an application gets ID-JAGs for. */
export interface IdJagTarget {
  /** Its issuer. */
  readonly audience: string;
  /** Client ID at the other server; absent: same as here. */
  readonly client_id?: string | undefined;
  /** The application by which that server signs users in here: ID-JAGs have its subjects. Absent: user IDs. */
  readonly relying_party?: string | undefined;
}

interface RefreshTokenSettings {
  readonly rotation_type: 'ROTATE' | 'STATIC';
  /** Seconds in which a used token still yields a successor, 0 to 60. */
  readonly leeway: number;
}

/** Creator: an administrator, dynamic registration (RFC 7591), or a client ID metadata document. */
export type ApplicationOrigin = 'ADMIN' | 'REGISTERED' | 'INTRODUCED';

/** Consent method of an application. */
export const consentMethodOf = ({ origin, settings }: ConsentedApplication): ConsentMethod =>
  origin === 'ADMIN' ? settings.consent_method : 'ALWAYS';

interface ConsentedApplication {
  readonly origin: ApplicationOrigin;
  readonly settings: Pick<ApplicationSettings, 'consent_method'>;
}

type Given<T> = { readonly [K in keyof T]?: T[K] | undefined };

/** Settings as given by the creator; all are optional. */
export type GivenSettings = Given<Omit<ApplicationSettings, 'refresh_token'>> & {
  readonly refresh_token?: Given<RefreshTokenSettings> | undefined;
};

export interface SettingProblem {
  readonly setting: keyof ApplicationSettings | 'client_secret';
  readonly message: string;
}

/** Seconds in which a used refresh token is still accepted (RFC 9700 section 4.14.2): enough for a lost response. */
const DEFAULT_LEEWAY = 10;

/** Adds the defaults, and the grant types that the response types require. */
export function completeSettings(given: GivenSettings): ApplicationSettings {
  const application_type = given.application_type ?? 'web';
  const isPublic = application_type === 'browser' || application_type === 'native';
  const token_endpoint_auth_method = given.token_endpoint_auth_method ?? (isPublic ? 'none' : 'client_secret_basic');
  const { grant_types, response_types } = completeFlows(given, application_type);
  return {
    ...given,
    application_type,
    token_endpoint_auth_method,
    pkce_required: given.pkce_required ?? token_endpoint_auth_method === 'none',
    grant_types,
    response_types,
    redirect_uris: unique(given.redirect_uris ?? []),
    post_logout_redirect_uris: unique(given.post_logout_redirect_uris ?? []),
    consent_method: given.consent_method ?? 'TRUSTED',
    assignment: given.assignment ?? 'EVERYONE',
    backchannel_logout_session_required: given.backchannel_logout_session_required ?? false,
    // The pages of a single-page application's redirect URIs call the token endpoint.
    allowed_origins: unique(given.allowed_origins ?? (application_type === 'browser' ? originsOf(given.redirect_uris ?? []) : [])),
    introspect_any: given.introspect_any ?? true,
    refresh_token: { rotation_type: given.refresh_token?.rotation_type ?? 'ROTATE', leeway: given.refresh_token?.leeway ?? DEFAULT_LEEWAY },
  };
}

function completeFlows(given: GivenSettings, type: ApplicationType): Pick<ApplicationSettings, 'grant_types' | 'response_types'> {
  const defaultGrants: readonly GrantType[] = type === 'service' ? ['client_credentials'] : ['authorization_code'];
  const wanted = given.grant_types ?? (given.response_types === undefined ? defaultGrants : []);
  const response_types = unique(given.response_types ?? (wanted.includes('authorization_code') ? ['code'] : []));
  const needed = response_types.flatMap((responseType) =>
    responseType.split(' ').map((word): GrantType => (word === 'code' ? 'authorization_code' : 'implicit')),
  );
  return { grant_types: unique([...wanted, ...needed]), response_types };
}

/** @param hasSecret was a client secret given? @returns all contradictions; none: the settings are valid */
export function settingProblems(settings: ApplicationSettings, hasSecret: boolean): SettingProblem[] {
  const { token_endpoint_auth_method: method, application_type: type } = settings;
  const isFederated = (settings.federated ?? []).length > 0;
  const problems: SettingProblem[] = [];
  const unless = (right: boolean, setting: SettingProblem['setting'], message: string) => {
    if (!right) problems.push({ setting, message });
  };
  unless(!hasSecret || clientUsesSecret(settings), 'client_secret', `cannot be used with token_endpoint_auth_method ${method}`);
  unless(method !== 'none' || settings.pkce_required, 'pkce_required', 'must be true with token_endpoint_auth_method none');
  unless(
    method !== 'none' || !settings.grant_types.includes('client_credentials'),
    'token_endpoint_auth_method',
    'must not be none with grant type client_credentials',
  );
  // CIBA section 7.1: only a confidential client may send requests to users.
  unless(
    method !== 'none' || !settings.grant_types.includes(CIBA_GRANT),
    'token_endpoint_auth_method',
    `must not be none with grant type ${CIBA_GRANT}`,
  );
  const isPinged = settings.backchannel_token_delivery_mode === 'ping';
  unless(
    isPinged === (settings.backchannel_client_notification_endpoint !== undefined),
    'backchannel_client_notification_endpoint',
    isPinged ? 'is required with backchannel_token_delivery_mode ping' : 'requires backchannel_token_delivery_mode ping',
  );
  unless(
    method !== 'none' || !settings.grant_types.some((grant) => grant === TOKEN_EXCHANGE_GRANT || grant === JWT_BEARER_GRANT),
    'token_endpoint_auth_method',
    'must not be none with token exchange or JWT bearer',
  );
  // RFC 9700 section 2.2.2: theft of a public client's refresh token is detected only by rotation.
  unless(
    method !== 'none' || settings.refresh_token.rotation_type === 'ROTATE',
    'refresh_token',
    'must have rotation_type ROTATE with token_endpoint_auth_method none',
  );
  unless(settings.redirect_uris.length > 0 || settings.response_types.length === 0, 'redirect_uris', 'is required with a response type');
  unless(settings.jwks === undefined || settings.jwks_uri === undefined, 'jwks_uri', 'cannot be combined with jwks. Remove one of them');
  unless(
    method !== 'private_key_jwt' || settings.jwks !== undefined || settings.jwks_uri !== undefined || isFederated,
    'jwks',
    'is required with token_endpoint_auth_method private_key_jwt, unless jwks_uri or federated is set',
  );
  unless(method !== 'none' || !isFederated, 'federated', 'cannot be used with token_endpoint_auth_method none');
  // Tokens of the authorize endpoint cannot be bound, because it receives no proof.
  const bindings = (['dpop_bound_access_tokens', 'tls_client_certificate_bound_access_tokens'] as const).filter((name) => settings[name]);
  for (const binding of bindings) {
    const right = settings.response_types.every((responseType) => !responseType.split(' ').includes('token'));
    unless(right, binding, 'must be false with a response type that contains token');
  }
  unless(bindings.length < 2, 'tls_client_certificate_bound_access_tokens', 'must not be true together with dpop_bound_access_tokens');
  const subjects = TLS_SUBJECTS.filter((name) => settings[name] !== undefined);
  unless(
    subjects.length === (method === 'tls_client_auth' ? 1 : 0),
    subjects[0] ?? 'tls_client_auth_subject_dn',
    'exactly one of tls_client_auth_subject_dn, _san_dns, _san_uri, _san_ip and _san_email is required with token_endpoint_auth_method tls_client_auth. Other methods allow none of them',
  );
  unless(
    method !== 'self_signed_tls_client_auth' ||
      settings.jwks_uri !== undefined ||
      settings.jwks?.keys.some(({ x5c }) => x5c !== undefined) === true,
    'jwks',
    'must contain a certificate (x5c) with token_endpoint_auth_method self_signed_tls_client_auth, unless jwks_uri is set',
  );
  problems.push(...(encryptionProblems(settings) as SettingProblem[]), ...pairwiseProblems(settings), ...requestAlgProblems(settings));
  for (const setting of ['redirect_uris', 'post_logout_redirect_uris'] as const) {
    const right = settings[setting].every((uri) => (type === 'native' ? isNativeUri(uri) : /^https?:/i.test(uri)));
    unless(right, setting, type === 'native' ? NATIVE_URIS : 'must begin with https:// or http://, unless the application is native');
  }
  return problems;
}

const NATIVE_URIS = 'must use http on localhost, 127.0.0.1 or [::1], https on other hosts, or a custom scheme';

/** RFC 8252 section 7: a custom scheme, a claimed https URI, or a loopback address by http. */
function isNativeUri(uri: string): boolean {
  const { protocol, hostname } = new URL(uri);
  const isLoopback = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  return protocol === 'http:' ? isLoopback : protocol !== 'https:' || !isLoopback;
}

/** Does the application authenticate by a secret? */
export const clientUsesSecret = (settings: ApplicationSettings): boolean =>
  settings.token_endpoint_auth_method.startsWith('client_secret_');

const originsOf = (uris: readonly string[]): string[] => uris.map((uri) => new URL(uri).origin).filter((origin) => origin !== 'null');

const unique = <T>(values: readonly T[]): T[] => [...new Set(values)];
