/** `apps`: OpenID Connect applications as in Okta's Apps API. Secrets and assignments have their own files. */

import { z } from 'zod';
import { lifecycleSteps } from '../../api/collection.ts';
import { type Endpoint, endpoint, LARGE_BODY, listing } from '../../api/endpoint.ts';
import { idParams, links, time, writeTime, writeTimeOrNull } from '../../api/fields.ts';
import { mapPage } from '../../platform/database/paging.ts';
import { validation } from '../../platform/errors/errors.ts';
import { oktaDefault } from '../../platform/validation/okta-default.ts';
import { text } from '../../platform/validation/text.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { ORGANIZATION_SETTING } from '../organizations/sign-in-organization.policy.ts';
import { APPLICATION_REGISTRATION } from '../sign-up/sign-up.policy.ts';
import { appAssignments } from './application-assignments.api.ts';
import { listApplications } from './application-lists.service.ts';
import { appSecrets } from './application-secrets.api.ts';
import { applicationLabel, clientFields, clientId, clientSecret, credentialFields } from './application-settings.service.ts';
import type { Application } from './applications.resource.ts';
import { createApplication, deleteApplication, getApplication, setApplicationStatus, updateApplication } from './applications.service.ts';
import { RESPONSE_SETTINGS } from './settings/algorithms.policy.ts';
import { applicationIdToken, OKTA_CLIENT, OKTA_CLIENT_DEFAULTS, withoutOktaDefaults } from './settings/okta-client.api.ts';

const noAddress = z.null().optional();

const appBody = z.strictObject({
  name: z.literal('oidc_client').optional(),
  label: applicationLabel,
  signOnMode: z.literal('OPENID_CONNECT').optional(),
  accessibility: z.strictObject({ selfService: oktaDefault(false), errorRedirectUrl: noAddress, loginRedirectUrl: noAddress }).optional(),
  visibility: z
    .strictObject({
      autoLaunch: oktaDefault(false),
      autoSubmitToolbar: oktaDefault(false),
      hide: z.strictObject({ iOS: oktaDefault(false), web: oktaDefault(false) }).optional(),
    })
    .optional(),
  credentials: z
    .strictObject({
      oauthClient: z
        .strictObject({
          client_id: clientId.optional(),
          client_secret: clientSecret.optional(),
          autoKeyRotation: oktaDefault(true),
          ...credentialFields,
        })
        .optional(),
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is Okta's own syntax
      userNameTemplate: z.strictObject({ template: oktaDefault('${source.login}'), type: oktaDefault('BUILT_IN') }).optional(),
    })
    .optional(),
  settings: z
    .strictObject({
      implicitAssignment: z
        .boolean()
        .optional()
        .meta({ description: "Okta's field for the assignment. Used only if oauthClient.assignment is absent" }),
      oauthClient: z.strictObject({ ...clientFields, ...OKTA_CLIENT_DEFAULTS }).optional(),
      notes: z.strictObject({}).optional(),
    })
    .optional(),
});

const responseFields = Object.fromEntries(RESPONSE_SETTINGS.map((name) => [name, z.string().optional()])) as Record<
  (typeof RESPONSE_SETTINGS)[number],
  z.ZodOptional<z.ZodString>
>;

export const app = z.object({
  id: z.string(),
  name: z.literal('oidc_client'),
  label: z.string(),
  status: z.enum(['ACTIVE', 'INACTIVE']),
  /** ADMIN: created by an administrator; REGISTERED: by dynamic registration; INTRODUCED: by its client ID metadata document. */
  origin: z.enum(['ADMIN', 'REGISTERED', 'INTRODUCED']),
  /** When it is deleted unless a user signs in before. */
  expiresAt: time.optional(),
  created: time,
  lastUpdated: time,
  lastUsed: time.nullable().meta({ description: 'The last sign-in or accepted request, accurate to two minutes' }),
  signOnMode: z.literal('OPENID_CONNECT'),
  credentials: z.object({
    oauthClient: z.object({
      client_id: z.string(),
      client_secret: z.string().optional(),
      token_endpoint_auth_method: z.string(),
      token_endpoint_auth_signing_alg: z.string().optional(),
      pkce_required: z.boolean(),
      autoKeyRotation: z.literal(true).optional().meta({ description: 'Shown only to Okta clients' }),
      federated: z
        .array(
          z.object({
            issuer: z.string(),
            subject: z.string(),
            audience: z.string(),
            jwks_uri: z.string().optional(),
            jwks: z.object({ keys: z.array(z.looseObject({})) }).optional(),
          }),
        )
        .optional(),
    }),
  }),
  settings: z.object({
    implicitAssignment: z.boolean().meta({ description: 'Is it assigned to everyone?' }),
    oauthClient: z.object({
      issuer_mode: z.literal('ORG_URL').optional(),
      wildcard_redirect: z.literal('DISABLED').optional(),
      application_type: z.string(),
      redirect_uris: z.array(z.string()),
      post_logout_redirect_uris: z.array(z.string()),
      response_types: z.array(z.string()),
      grant_types: z.array(z.string()),
      consent_method: z.string(),
      assignment: z.string(),
      client_uri: z.string().optional(),
      logo_uri: z.string().optional(),
      brand_color: z.string().optional(),
      tos_uri: z.string().optional(),
      policy_uri: z.string().optional(),
      jwks: z.object({ keys: z.array(z.looseObject({})) }).optional(),
      jwks_uri: z.string().optional(),
      initiate_login_uri: z.string().optional(),
      backchannel_logout_uri: z.string().optional(),
      backchannel_logout_session_required: z.boolean(),
      backchannel_token_delivery_mode: z.enum(['poll', 'ping']).optional(),
      backchannel_client_notification_endpoint: z.string().optional(),
      allowed_origins: z.array(z.string()),
      id_token_claims: z.array(z.string()).optional(),
      ...responseFields,
      subject_type: z.enum(['public', 'pairwise']),
      sector_identifier_uri: z.string().optional(),
      profile: z.enum(['service', 'openid', 'fapi2']).nullable(),
      require_signed_request_object: z.boolean(),
      request_object_signing_alg: z.string().optional(),
      identity_providers: z.array(z.string()).optional(),
      require_pushed_authorization_requests: z.boolean(),
      dpop_bound_access_tokens: z.boolean(),
      tls_client_certificate_bound_access_tokens: z.boolean(),
      tls_client_auth_subject_dn: z.string().optional(),
      tls_client_auth_san_dns: z.string().optional(),
      tls_client_auth_san_uri: z.string().optional(),
      tls_client_auth_san_ip: z.string().optional(),
      tls_client_auth_san_email: z.string().optional(),
      token_exchange_audiences: z.array(z.string()).optional(),
      id_jag_targets: z
        .array(z.object({ audience: z.string(), client_id: z.string().optional(), relying_party: z.string().optional() }))
        .optional(),
      authorization_details_types: z.array(z.string()).optional(),
      introspect_any: z.boolean(),
      manage_signal_streams: z.boolean().optional(),
      mfa_required: z.boolean().optional(),
      registration: z.enum(APPLICATION_REGISTRATION).optional(),
      organization: z.enum(ORGANIZATION_SETTING).optional(),
      refresh_token: z.object({ rotation_type: z.string(), leeway: z.number() }),
    }),
  }),
  _links: links,
});

export const apps: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/apps',
    access: 'service',
    summary: 'Create an application; its secret is returned only once',
    query: z.object({ activate: z.enum(['true', 'false']).default('true') }),
    bodyLimit: LARGE_BODY,
    body: appBody,
    response: app,
    handler: async ({ services, query, body, request }) => {
      const input = { ...inputOf(body), activate: query.activate === 'true' };
      const { application, secret } = await createApplication(services, input, request);
      return presentApp(application, services.config.baseUrl, { ...request, secret });
    },
  }),
  listing({
    path: '/apps',
    access: 'service',
    summary:
      'List the applications, oldest first; each word of q begins a word of the label, or q is the client ID; filter an expression of RFC 7644 on id, label, status, origin, settings.oauthClient.application_type',
    query: { q: text().optional(), filter: z.string().optional() },
    item: app,
    handler: async ({ services, query: { limit, after, ...search }, request }) =>
      mapPage(await listApplications(services, search, { limit, after }), (found) => presentApp(found, services.config.baseUrl, request)),
  }),
  endpoint({
    method: 'GET',
    path: '/apps/:id',
    access: 'service',
    summary: 'Read an application',
    params: idParams,
    response: app,
    handler: async ({ services, params, request }) =>
      presentApp(await getApplication(services, params.id), services.config.baseUrl, request),
  }),
  endpoint({
    method: 'PUT',
    path: '/apps/:id',
    access: 'service',
    summary: 'Replace the label and the settings of an application; if this creates a secret, it is returned only once',
    params: idParams,
    bodyLimit: LARGE_BODY,
    body: appBody,
    response: app,
    handler: async ({ services, params, body, request }) => {
      const { id, ...input } = inputOf(body);
      if (id !== undefined && id !== params.id) {
        throw validation([{ field: 'credentials.oauthClient.client_id', message: 'cannot be changed' }]);
      }
      const { application, secret } = await updateApplication(services, params.id, input, request);
      return presentApp(application, services.config.baseUrl, { ...request, secret });
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/apps/:id',
    access: 'service',
    summary: 'Delete an application, active or not, with its secrets, assignments, consents and tokens',
    params: idParams,
    handler: ({ services, params, request }) => deleteApplication(services, params.id, request),
  }),
  ...lifecycleSteps({
    path: '/apps/:id',
    noun: 'an application',
    access: 'service',
    params: idParams,
    set: ({ services, params, request }, status) => setApplicationStatus(services, params.id, status, request),
  }),
  ...appSecrets,
  ...appAssignments,
  applicationIdToken,
];

/** The API has some of the settings in the credentials. */
function inputOf({ label, credentials, settings }: z.output<typeof appBody>) {
  const { client_id: id, client_secret: secret, autoKeyRotation: _, ...authentication } = credentials?.oauthClient ?? {};
  const { implicitAssignment, oauthClient: sent = {} } = settings ?? {};
  const oauthClient = withoutOktaDefaults(sent);
  const implied = implicitAssignment === undefined ? undefined : implicitAssignment ? ('EVERYONE' as const) : ('ASSIGNED' as const);
  return { id, label, secret, settings: { ...authentication, ...oauthClient, assignment: oauthClient.assignment ?? implied } };
}

/** Okta's SDKs would reject a whole list of applications because of one combination. */
const responseTypesFor = ({ knowsOktaValuesOnly = false }: Caller, types: readonly string[]): string[] =>
  knowsOktaValuesOnly ? [...new Set(types.flatMap((type) => type.split(' ')))] : [...types];

type Caller = Pick<RequestContext, 'knowsOktaValuesOnly'>;

/** @param caller recipient, and whether the secret is included */
export function presentApp(
  application: Application,
  baseUrl: string,
  { secret, ...caller }: Caller & { readonly secret?: string | undefined } = {},
): z.input<typeof app> {
  const { token_endpoint_auth_method, token_endpoint_auth_signing_alg, pkce_required, federated, ...stored } = application.settings;
  const authentication = { token_endpoint_auth_method, token_endpoint_auth_signing_alg, pkce_required, federated };
  const settings = {
    ...stored,
    require_pushed_authorization_requests: stored.require_pushed_authorization_requests ?? false,
    require_signed_request_object: stored.require_signed_request_object ?? false,
    dpop_bound_access_tokens: stored.dpop_bound_access_tokens ?? false,
    tls_client_certificate_bound_access_tokens: stored.tls_client_certificate_bound_access_tokens ?? false,
    profile: stored.profile ?? null,
    subject_type: stored.subject_type ?? 'public',
    response_types: responseTypesFor(caller, stored.response_types),
  };
  const [rotation, oktaClient] = caller.knowsOktaValuesOnly === true ? [{ autoKeyRotation: true as const }, OKTA_CLIENT] : [];
  return {
    id: application.id,
    name: 'oidc_client',
    label: application.label,
    status: application.status,
    origin: application.origin,
    ...(application.expiresAt !== null && { expiresAt: writeTime(application.expiresAt) }),
    created: writeTime(application.created),
    lastUpdated: writeTime(application.lastUpdated),
    lastUsed: writeTimeOrNull(application.lastUsed),
    signOnMode: 'OPENID_CONNECT',
    credentials: {
      oauthClient: { client_id: application.id, client_secret: secret, ...authentication, ...rotation },
    },
    settings: { implicitAssignment: settings.assignment === 'EVERYONE', oauthClient: { ...settings, ...oktaClient } },
    _links: { self: { href: `${baseUrl}/api/v1/apps/${encodeURIComponent(application.id)}` } },
  };
}
