/** `apps`: applications, as Okta's Apps API shows OpenID Connect ones. Listing, changing, secrets, assignments and the life cycle are not here yet. */
import { z } from 'zod';
import { clientFields, clientId, clientSecret, credentialFields } from '../services/application-settings.ts';
import { createApplication, getApplication } from '../services/applications.ts';
import { text } from '../services/text.ts';
import type { Application } from '../store/applications.ts';
import { type Endpoint, endpoint } from './endpoint.ts';
import { idParams, links, time, writeTime } from './fields.ts';

const newApp = z.strictObject({
  name: z.literal('oidc_client').optional(),
  label: text({ least: 1 }),
  signOnMode: z.literal('OPENID_CONNECT').optional(),
  credentials: z
    .strictObject({
      oauthClient: z
        .strictObject({ client_id: clientId.optional(), client_secret: clientSecret.optional(), ...credentialFields })
        .optional(),
    })
    .optional(),
  settings: z.strictObject({ oauthClient: z.strictObject(clientFields).optional() }).optional(),
});

const app = z.object({
  id: z.string(),
  name: z.literal('oidc_client'),
  label: z.string(),
  status: z.enum(['ACTIVE', 'INACTIVE']),
  created: time,
  lastUpdated: time,
  signOnMode: z.literal('OPENID_CONNECT'),
  credentials: z.object({
    oauthClient: z.object({
      client_id: z.string(),
      client_secret: z.string().optional(),
      token_endpoint_auth_method: z.string(),
      pkce_required: z.boolean(),
    }),
  }),
  settings: z.object({
    oauthClient: z.object({
      application_type: z.string(),
      redirect_uris: z.array(z.string()),
      post_logout_redirect_uris: z.array(z.string()),
      response_types: z.array(z.string()),
      grant_types: z.array(z.string()),
      consent_method: z.string(),
      assignment: z.string(),
      client_uri: z.string().optional(),
      logo_uri: z.string().optional(),
      tos_uri: z.string().optional(),
      policy_uri: z.string().optional(),
      jwks: z.object({ keys: z.array(z.looseObject({})) }).optional(),
      jwks_uri: z.string().optional(),
      initiate_login_uri: z.string().optional(),
      backchannel_logout_uri: z.string().optional(),
      backchannel_logout_session_required: z.boolean(),
      allowed_origins: z.array(z.string()),
      id_token_claims: z.array(z.string()).optional(),
      id_token_signed_response_alg: z.string().optional(),
      introspect_any: z.boolean(),
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
    summary: 'Create an application; its secret is told this once',
    body: newApp,
    response: app,
    handler: async ({ services, body, request }) => {
      const { client_id: id, client_secret, ...credentials } = body.credentials?.oauthClient ?? {};
      const settings = { ...credentials, ...body.settings?.oauthClient };
      const { application, secret } = await createApplication(
        services,
        { id, label: body.label, secret: client_secret, settings },
        request,
      );
      return present(application, services.config.baseUrl, secret);
    },
  }),
  endpoint({
    method: 'GET',
    path: '/apps/:id',
    access: 'service',
    summary: 'Read an application',
    params: idParams,
    response: app,
    handler: async ({ services, params }) => present(await getApplication(services, params.id), services.config.baseUrl),
  }),
];

function present(application: Application, baseUrl: string, secret?: string): z.input<typeof app> {
  const { token_endpoint_auth_method, pkce_required, ...settings } = application.settings;
  return {
    id: application.id,
    name: 'oidc_client',
    label: application.label,
    status: application.status,
    created: writeTime(application.created),
    lastUpdated: writeTime(application.lastUpdated),
    signOnMode: 'OPENID_CONNECT',
    credentials: { oauthClient: { client_id: application.id, client_secret: secret, token_endpoint_auth_method, pkce_required } },
    settings: { oauthClient: settings },
    _links: { self: { href: `${baseUrl}/api/v1/apps/${application.id}` } },
  };
}
