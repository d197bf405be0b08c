/**
 * Schemas of an application's OAuth settings: client metadata of OpenID Connect Dynamic Client Registration section 2 and extensions of this service.
 * application-settings.policy.ts has defaults and rules across fields. Settings that pass both must also pass oidc-provider's client schema.
 */
import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { z } from 'zod';
import { isLoopbackHost } from '../../platform/config/config.ts';
import { shownText, text } from '../../platform/validation/text.ts';
import { ORGANIZATION_SETTING } from '../organizations/sign-in-organization.policy.ts';
import { brandColour } from '../settings/settings-fields.service.ts';
import { APPLICATION_REGISTRATION } from '../sign-up/sign-up.policy.ts';
import { isUserId } from '../users/user-profile.service.ts';
import { APPLICATION_GRANT_TYPES, type SettingProblem } from './application-settings.policy.ts';
import { subjectProblem } from './federated-credentials.policy.ts';
import { requestFields, responseFields } from './settings/encryption-keys.service.ts';

const MOST_URIS = 100;

/** Only characters of RFC 3986. An http URI has an authority: browsers treat `https:host` as a relative reference. */
const ABSOLUTE_URI = /^(https?:\/\/|(?!https?:)[a-z][a-z0-9+.-]*:)[\w\-.~:/?#[\]@!$&'()*+,;=%]+$/i;

/** Is the host allowed in a content security policy (CSP level 3 section 2.3.1)? `;` and `,` would end a directive. */
const hasOrdinaryHost = (value: string): boolean => {
  const { protocol, hostname } = new URL(value);
  return !/^https?:$/.test(protocol) || /^([a-z0-9_.-]+|\[[0-9a-f:.]+\])$/i.test(hostname);
};
const ORDINARY_HOST = 'must have a host name of letters, digits, hyphens and periods';

/** An absolute URI (RFC 6749 section 3.1.2): without fragment, and without user information, which only obscures the host. */
const absoluteUri = z
  .string()
  .trim()
  .max(2048)
  .refine((value) => ABSOLUTE_URI.test(value) && URL.canParse(value), { error: 'must be an absolute URI', abort: true })
  .refine(hasOrdinaryHost, ORDINARY_HOST)
  .refine((value) => !value.includes('#'), 'must not have a fragment')
  .refine((value) => new URL(value).username === '' && new URL(value).password === '', 'must not contain a user name or password');

/** Metadata for the OpenAPI document. */
const AS_URI = { format: 'uri' } as const;

const isWeb = (value: string) => /^https?:$/.test(new URL(value).protocol);
const isHttps = (value: string) => new URL(value).protocol === 'https:';
const isLoopback = (value: string) => isLoopbackHost(new URL(value).hostname);

/** A page that is linked on pages for users. */
const webUri = absoluteUri.refine(isWeb, 'must begin with https:// or http://').meta(AS_URI).optional();

/** A URI that the service calls or sends secrets to. */
export const calledUri = absoluteUri
  .refine((value) => isHttps(value) || (isWeb(value) && isLoopback(value)), 'must use https, or http on a loopback address')
  .meta(AS_URI);
const guardedUri = calledUri.optional();

/** Schemes by which browsers execute code or read files. */
const DANGEROUS_SCHEMES = new Set(['javascript:', 'vbscript:', 'data:', 'blob:', 'file:', 'about:']);

const redirectUris = z
  .array(
    absoluteUri
      .refine((value) => !DANGEROUS_SCHEMES.has(new URL(value).protocol), 'must not use a script, data or file scheme')
      .refine((value) => !/^http:/i.test(value) || isLoopback(value), 'must use https, or http on a loopback address')
      .meta(AS_URI),
  )
  .max(MOST_URIS);

/** Name that users see. */
export const applicationLabel = shownText({ least: 1 });

const origin = text({ most: 255 })
  .refine((value) => URL.canParse(value) && new URL(value).origin === value, {
    error: 'must be an origin: scheme, host and port',
    abort: true,
  })
  .refine(hasOrdinaryHost, ORDINARY_HOST);

/** The seven of OAuth 2.0 Multiple Response Type Encoding Practices section 3 (without `none`), words in alphabetical order. */
const RESPONSE_TYPES = ['code', 'token', 'id_token', 'code token', 'code id_token', 'id_token token', 'code id_token token'];

const responseType = text()
  .transform((value) => value.split(/ +/).sort().join(' '))
  .refine((value) => RESPONSE_TYPES.includes(value), `must be a combination of code, token and id_token`);

function isCertificate(der: string): boolean {
  try {
    return new X509Certificate(Buffer.from(der, 'base64')).raw.length > 0;
  } catch {
    return false;
  }
}

/** A public key (RFC 7517 section 4; RFC 7518 section 6). Unknown members are dropped, as section 4 requires. */
const base64url = z
  .string()
  .regex(/^[A-Za-z0-9_-]+$/, 'must be base64url')
  .max(2048);
/** A certificate of the key (RFC 7517 section 4.7): only the first one has the key. */
const certificates = z.array(z.base64().max(8192).refine(isCertificate, 'must be a DER certificate in base64')).min(1).max(5);
const keyInfo = {
  kid: text().optional(),
  use: z.enum(['sig', 'enc']).optional(),
  alg: text({ most: 20 }).optional(),
  x5c: certificates.optional(),
};
const publicJwk = z
  .looseObject({})
  .refine((jwk) => !['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'].some((member) => member in jwk), {
    error: 'must be a public key',
    abort: true,
  })
  .pipe(
    z.discriminatedUnion('kty', [
      z.object({
        kty: z.literal('RSA'),
        // RFC 7518 sections 3.3 and 4.2: at least 2048 bits.
        n: base64url.refine((value) => Buffer.from(value, 'base64url').length >= 256, 'must have at least 2048 bits'),
        e: base64url,
        ...keyInfo,
      }),
      z.object({ kty: z.literal('EC'), crv: z.enum(['P-256', 'P-384', 'P-521']), x: base64url, y: base64url, ...keyInfo }),
      z
        .object({ kty: z.literal('OKP'), crv: z.enum(['Ed25519', 'X25519']), x: base64url, ...keyInfo })
        .refine(
          ({ crv, use }) => use === undefined || use === (crv === 'X25519' ? 'enc' : 'sig'),
          'must be X25519 with use enc, or Ed25519 with use sig',
        ),
    ]),
  );

const jsonWebKeySet = z.strictObject({ keys: z.array(publicJwk).min(1).max(20) });

/** A token of another issuer that authenticates the application. */
export const federatedCredential = z
  .strictObject({
    issuer: calledUri.meta({ description: 'iss of the token, character by character' }),
    subject: text({ least: 1, most: 1000 })
      .refine((value) => subjectProblem(value) === undefined, { error: ({ input }) => subjectProblem(String(input)) ?? '' })
      .meta({ description: 'sub of the token; a * at its end, after : or /, stands for any rest' }),
    audience: text({ least: 1, most: 1000 }).meta({
      description: 'The only aud of the token, best the issuer of the authorization server',
    }),
    jwks_uri: guardedUri.meta({ description: 'Where the keys of the issuer are; absent: as its discovery document says' }),
    jwks: jsonWebKeySet.optional().meta({ description: 'The keys of an issuer that cannot be reached' }),
  })
  .refine(({ jwks, jwks_uri: address }) => jwks === undefined || address === undefined, {
    path: ['jwks_uri'],
    error: 'cannot be combined with jwks. Remove one of them',
  });
const MOST_FEDERATED = 20;

/** The settings in `credentials.oauthClient` of the API. */
export const credentialFields = {
  token_endpoint_auth_method: z
    .enum([
      'client_secret_basic',
      'client_secret_post',
      'client_secret_jwt',
      'private_key_jwt',
      'tls_client_auth',
      'self_signed_tls_client_auth',
      'none',
    ])
    .optional(),
  token_endpoint_auth_signing_alg: requestFields.token_endpoint_auth_signing_alg,
  pkce_required: z.boolean().optional(),
  federated: z.array(federatedCredential).max(MOST_FEDERATED).optional().meta({
    description:
      'Tokens of other issuers that authenticate the application in client_assertion, without a secret (workload identity): Kubernetes service accounts, GitHub Actions, SPIFFE',
  }),
};

const idJagTarget = z.strictObject({
  audience: calledUri.meta({ description: 'The issuer of the other authorization server, as its discovery document says' }),
  client_id: text({ least: 1, most: 1000 })
    .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII characters without spaces')
    .optional()
    .meta({ description: 'What the application is called there; absent: as here' }),
  relying_party: text({ least: 1, most: 512 }).optional().meta({
    description: 'The application by which that server signs users in here: sub is what it knows the user by. Absent: the ID of the user',
  }),
});

/** @param most maximum characters of each */
const listOfTexts = (most: number) => z.optional(z.array(text({ least: 1, most })).max(100));

/** The settings in `settings.oauthClient` of the API. */
export const clientFields = {
  application_type: z.enum(['web', 'native', 'browser', 'service']).optional(),
  redirect_uris: redirectUris.optional(),
  post_logout_redirect_uris: redirectUris.optional(),
  response_types: z.array(responseType).max(20).optional(),
  grant_types: z.array(z.enum(APPLICATION_GRANT_TYPES)).max(20).optional(),
  consent_method: z.enum(['TRUSTED', 'REQUIRED']).optional(),
  assignment: z.enum(['EVERYONE', 'ASSIGNED']).optional(),
  client_uri: webUri,
  logo_uri: webUri,
  brand_color: brandColour('light').optional(),
  tos_uri: webUri,
  policy_uri: webUri,
  jwks: jsonWebKeySet.optional(),
  jwks_uri: guardedUri,
  initiate_login_uri: absoluteUri.refine(isHttps, 'must begin with https://').optional(),
  backchannel_logout_uri: guardedUri,
  backchannel_logout_session_required: z.boolean().optional(),
  backchannel_token_delivery_mode: z.enum(['poll', 'ping']).optional().meta({
    description: 'How it learns that a user has answered its sign-in request (CIBA): it polls, or is notified and then asks once',
  }),
  backchannel_client_notification_endpoint: guardedUri,
  allowed_origins: z.array(origin).max(MOST_URIS).optional(),
  id_token_claims: z
    .array(text({ least: 1, most: 100 }))
    .max(100)
    .optional(),
  ...responseFields,
  subject_type: z.enum(['public', 'pairwise']).optional().meta({
    description:
      'The sub by which it knows users: their ID (public), or one of its own (pairwise, OpenID Connect Core section 8). A change makes every user a new one to it.',
  }),
  sector_identifier_uri: absoluteUri.refine(isHttps, 'must begin with https://').meta(AS_URI).optional().meta({
    description:
      'A JSON list of all its redirect URIs, fetched when it is saved: applications that name the same host share pairwise subjects. Required where its redirect URIs have several hosts.',
  }),
  profile: z.enum(['service', 'openid', 'fapi2']).nullable().optional().meta({
    description:
      "The rules for this application's requests. service: state is required. openid (OpenID Connect Core): required by Spring Security, Auth.js, oauth2-proxy, Grafana and passport-openidconnect. fapi2: FAPI 2.0 Security Profile. null: the profile of the authorization server",
  }),
  identity_providers: z
    .array(text({ least: 1 }))
    .max(50)
    .optional(),
  require_pushed_authorization_requests: z.boolean().optional().meta({
    description: 'Must it push its authorization requests to {issuer}/par (RFC 9126)? Requests that are not pushed are refused.',
  }),
  dpop_bound_access_tokens: z.boolean().optional().meta({
    description: 'Are its access tokens bound to a key (DPoP, RFC 9449)? Token requests without a proof are then refused.',
  }),
  tls_client_certificate_bound_access_tokens: z.boolean().optional().meta({
    description: 'Are its access tokens bound to its certificate (RFC 8705)? Token requests without a certificate are then refused.',
  }),
  tls_client_auth_subject_dn: text({ least: 1, most: 1024 })
    .refine(
      (value) => /^([^=,\\]+=([^,\\]|\\.)*)(,[^=,\\]+=([^,\\]|\\.)*)*$/.test(value),
      'must be a distinguished name of RFC 4514, such as CN=client,O=Bank,C=DE',
    )
    .optional(),
  tls_client_auth_san_dns: text({ least: 1, most: 253 }).optional(),
  tls_client_auth_san_uri: absoluteUri.optional(),
  tls_client_auth_san_ip: text({ most: 45 })
    .refine((value) => isIP(value) !== 0, 'must be an IP address')
    .optional(),
  tls_client_auth_san_email: text({ least: 3, most: 320 }).optional(),
  require_signed_request_object: z.boolean().optional().meta({
    description: 'Must its authorization requests be request objects that it has signed (RFC 9101)? Others are refused.',
  }),
  request_object_signing_alg: requestFields.request_object_signing_alg,
  token_exchange_audiences: listOfTexts(1000).meta({
    description: 'Audiences of access tokens that it may exchange beside its own: the APIs that it is (RFC 8693)',
  }),
  id_jag_targets: z.array(idJagTarget).max(100).optional().meta({
    description: 'Other authorization servers that it gets ID-JAGs for by token exchange, and its client ID there',
  }),
  authorization_details_types: listOfTexts(100).meta({
    description: 'Types of authorization details that it may ask for, by the names that the authorization servers give them (RFC 9396)',
  }),
  introspect_any: z.boolean().optional(),
  manage_signal_streams: z.boolean().optional().meta({
    description: 'May it manage its own signal streams at /ssf/v1? It then learns of the sessions and accounts of all users',
  }),
  mfa_required: z.boolean().optional(),
  registration: z.enum(APPLICATION_REGISTRATION).optional().meta({
    description: 'May people create accounts on its sign-in page? INHERIT, the default: as settings/registration says',
  }),
  organization: z.enum(ORGANIZATION_SETTING).optional().meta({ description: 'REQUIRED: users sign in for one of their organizations' }),
  refresh_token: z
    .strictObject({ rotation_type: z.enum(['ROTATE', 'STATIC']).optional(), leeway: z.int().min(0).max(60).optional() })
    .optional(),
};

/** A chosen `client_id`: RFC 3986 unreserved characters, which need no encoding in URLs. */
export const clientId = z
  .string()
  .regex(/^[A-Za-z0-9._~-]{1,100}$/, 'must be 1 to 100 letters, digits, dots, underscores, tildes and hyphens')
  .refine((value) => !/^\.{1,2}$/.test(value), 'must not be . or ..')
  // It is the subject of its own tokens, which a resource server must not mistake for a user (RFC 9700 section 4.15).
  .refine((value) => !isUserId(value), 'must not have the form of a user ID');

/** A chosen secret (RFC 6749 appendix A.2). */
export const clientSecret = z
  .string()
  .min(32)
  .max(255)
  .regex(/^[\x20-\x7e]+$/, 'must be printable ASCII');

/** Path of a setting in the API body. */
export function settingField(setting: SettingProblem['setting'] | 'client_id'): string {
  const isCredential = setting === 'client_id' || setting === 'client_secret' || setting in credentialFields;
  return `${isCredential ? 'credentials' : 'settings'}.oauthClient.${setting}`;
}
