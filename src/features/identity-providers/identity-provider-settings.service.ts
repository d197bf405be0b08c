/**
 * Schemas of identity provider settings, nested as in Okta's IdentityProvider. Defaults and rules across fields are in
 * features/identity-providers/identity-provider.policy.ts.
 */
import { z } from 'zod';
import { domainName } from '../../platform/dns/domain-name.ts';
import { oktaDefault } from '../../platform/validation/okta-default.ts';
import { text } from '../../platform/validation/text.ts';
import { clientFields } from '../applications/application-settings.service.ts';
import { IDENTITY_PROVIDER_TYPES } from './identity-provider.policy.ts';

/** The service calls the URI, or redirects users to it; the same rules apply as for an application's key set. */
const outboundUri = clientFields.jwks_uri.unwrap();

const endpoint = z.strictObject({ url: outboundUri }).optional();

/** OpenID Connect Core 1.0 section 2: without query. */
const issuer = outboundUri.refine((value) => !value.includes('?'), 'must not have a query');

/** RFC 6749 section 3.3. */
const scope = text({ most: 255 }).regex(
  /^[\x21\x23-\x5b\x5d-\x7e]+$/,
  'must be a scope: printable ASCII without spaces, quotes and backslashes',
);

/** Security parameters of the authorization request; they cannot be configured. */
const OWN_PARAMETERS: ReadonlySet<string> = new Set([
  ...['client_id', 'client_secret', 'redirect_uri', 'response_type', 'response_mode', 'scope', 'state', 'nonce'],
  ...['code_challenge', 'code_challenge_method', 'request', 'request_uri', 'dpop_jkt'],
]);

const MOST = 50;

const PARAMETER_NAME = /^[A-Za-z0-9._-]{1,100}$/;

const authorizationParameters = z.record(z.string(), text({ least: 1, most: 1024 })).superRefine((parameters, ctx) => {
  const names = Object.keys(parameters);
  if (names.length > MOST) ctx.addIssue({ code: 'custom', message: `must have at most ${MOST} members` });
  for (const name of names) {
    if (!PARAMETER_NAME.test(name))
      ctx.addIssue({
        code: 'custom',
        path: [name],
        message: 'must have a name of 1 to 100 letters, digits, dots, underscores and hyphens',
      });
    if (OWN_PARAMETERS.has(name)) ctx.addIssue({ code: 'custom', path: [name], message: 'is set by the service. Remove it' });
  }
});

const oktaSignature = z
  .strictObject({ signature: z.strictObject({ algorithm: oktaDefault('HS256'), scope: oktaDefault('REQUEST') }).optional() })
  .optional();
const nothing = z.strictObject({ action: oktaDefault('NONE') }).optional();

const protocol = z.strictObject({
  type: z.enum(['OIDC', 'OAUTH2']).optional(),
  issuer: z.strictObject({ url: issuer }).optional(),
  endpoints: z.strictObject({ authorization: endpoint, token: endpoint, userInfo: endpoint, jwks: endpoint }).optional(),
  scopes: z.array(scope).min(1).max(MOST).optional(),
  credentials: z.strictObject({
    client: z.strictObject({
      client_id: text({ least: 1 }),
      /** RFC 6749 appendix A.2. */
      client_secret: z
        .string()
        .min(1)
        .max(1024)
        .regex(/^[\x20-\x7e]+$/, 'must be printable ASCII')
        .optional(),
      token_endpoint_auth_method: z.enum(['client_secret_basic', 'client_secret_post', 'none']).optional(),
      /** Always used; null, as Okta's Terraform provider sends it, is ignored. */
      pkce_required: z.literal(true).nullish(),
    }),
  }),
  settings: z.strictObject({ authorizationParameters: authorizationParameters.optional() }).optional(),
  algorithms: z.strictObject({ request: oktaSignature, response: oktaSignature }).optional(),
});

const action = z.enum(['AUTO', 'DISABLED']);
const ids = z.array(text({ least: 1 })).max(MOST);
const claim = text({ least: 1, most: 100 });

/** Maximum mapped attributes: 36 of the service, at most 200 of the operator, and some reserve. */
const MOST_MAPPED = 240;
const ATTRIBUTE_NAME = /^[A-Za-z]\w{0,58}$/;

/** The database checks that the attributes exist. */
const attributeMap = z
  .record(z.string(), claim)
  .superRefine((map, ctx) => {
    const names = Object.keys(map);
    if (names.length > MOST_MAPPED) ctx.addIssue({ code: 'custom', message: `must have at most ${MOST_MAPPED} members` });
    for (const name of names)
      if (!ATTRIBUTE_NAME.test(name)) ctx.addIssue({ code: 'custom', path: [name], message: 'must be the name of an attribute' });
  })
  .meta({
    description:
      'Attribute of the profile → claim of the provider; also attributes of meta/schemas/user/default. The login has a template of its own',
  });

const policy = z.strictObject({
  provisioning: z
    .strictObject({
      action: action.optional(),
      orgId: text({ least: 1 }).optional(),
      groups: z.strictObject({ action: z.enum(['NONE', 'ASSIGN']).optional(), assignments: ids.optional() }).optional(),
      profileMaster: z.boolean().optional(),
      conditions: z.strictObject({ deprovisioned: nothing, suspended: nothing }).optional(),
    })
    .optional(),
  accountLink: z
    .strictObject({
      action: action.optional(),
      /** null, sent by Okta's SDKs, means none. */
      filter: z
        .strictObject({ groups: z.strictObject({ include: ids.min(1) }) })
        .nullish()
        .transform((filter) => filter ?? undefined),
    })
    .optional(),
  subject: z
    .strictObject({
      userNameTemplate: z
        .strictObject({
          template: text({ most: 110 }).regex(/^idpuser\.[A-Za-z_]\w*$/, 'must be idpuser. and a claim name, such as idpuser.email'),
        })
        .optional(),
      matchType: z.enum(['USERNAME', 'EMAIL', 'USERNAME_OR_EMAIL']).optional(),
      emailDomains: z.array(domainName).min(1).max(MOST).optional(),
    })
    .optional(),
  attributeMap: attributeMap.optional(),
  /** Are its JWTs about linked users accepted at the token endpoint: as subject tokens of token exchange, and as assertions? Type OIDC only. */
  trust: z.strictObject({ assertions: z.boolean().optional() }).optional(),
  /** Milliseconds, at most five minutes. */
  maxClockSkew: z.int().min(0).max(300_000).optional(),
});

export const identityProviderBody = z.strictObject({
  name: text({ least: 1 }),
  type: z.enum(IDENTITY_PROVIDER_TYPES),
  protocol,
  policy: policy.optional(),
  issuerMode: oktaDefault('ORG_URL'),
});

/** Given at creation if the redirect URI, which contains it, must be registered first. */
export const identityProviderId = z
  .string()
  .regex(/^idp_[0-9A-Za-z]{20}$/, 'must be idp_ and 20 letters and digits')
  .meta({
    description: 'Chosen by you, so that you know the redirect URI beforehand: {base URL}/interaction/upstream/{id}/callback; absent: made',
  });

/** Converts an API body to service input: the API has the secret among the settings. */
export function identityProviderInput({ protocol, policy, issuerMode: _, ...body }: z.output<typeof identityProviderBody>) {
  const { algorithms: __, ...stored } = protocol;
  const { client_secret: secret, pkce_required: ___, ...client } = protocol.credentials.client;
  const { conditions: ____, ...provisioning } = policy?.provisioning ?? {};
  const kept = policy && { ...policy, ...(policy.provisioning !== undefined && { provisioning }) };
  return { ...body, secret, ...(kept !== undefined && { policy: kept }), protocol: { ...stored, credentials: { client } } };
}
